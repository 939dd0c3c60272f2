package main

import (
	"errors"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// Exit codes that programs may rely on.
const (
	exitOK          = 0
	exitLocal       = 1 // or a local fault: a file that can't be read
	exitRefused     = 2
	exitNotFound    = 3
	exitUnreachable = 4
	exitUnhealthy   = 5
)

// exitCode is the code that a command's error stands for.
func exitCode(err error) int {
	var unreachable *admin.UnreachableError
	var found *foundError
	var p *admin.Problem
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &unreachable):
		return exitUnreachable
	case errors.As(err, &found):
		return exitRefused
	case !errors.As(err, &p):
		return exitLocal
	}
	switch p.Class {
	case admin.Refused:
		return exitRefused
	case admin.NotFound:
		return exitNotFound
	case admin.Unavailable, admin.Internal:
		return exitUnhealthy
	}
	return exitLocal
}
