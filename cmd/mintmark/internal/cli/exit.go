package cli

import (
	"errors"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/apply"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// Exit codes that programs may rely on.
const (
	ExitOK          = 0
	ExitLocal       = 1 // wrong usage, or a local fault: a file that can't be read
	ExitRefused     = 2
	ExitNotFound    = 3
	ExitUnreachable = 4
	ExitUnhealthy   = 5
	ExitChanges     = 6 // of a dry run
)

// exitCode returns the exit code of a command's error.
func exitCode(err error) int {
	var unreachable *admin.UnreachableError
	var found *foundError
	var refused *apply.RefusedError
	var checked *checkupError
	var p *admin.Problem
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &unreachable):
		return ExitUnreachable
	case errors.As(err, &found), errors.As(err, &refused):
		return ExitRefused
	case errors.Is(err, admin.ErrLocalOnly):
		return ExitRefused
	case errors.Is(err, admin.ErrEventKind), errors.Is(err, admin.ErrClientState):
		return ExitLocal // the value of a flag
	case errors.Is(err, errPlanned):
		return ExitChanges
	case errors.As(err, &checked):
		return checked.exitCode()
	case !errors.As(err, &p):
		return ExitLocal
	}
	switch p.Class {
	case admin.Refused, admin.Unauthenticated, admin.Forbidden:
		return ExitRefused
	case admin.NotFound:
		return ExitNotFound
	case admin.Unavailable, admin.Internal:
		return ExitUnhealthy
	}
	return ExitLocal
}
