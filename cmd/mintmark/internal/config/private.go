package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrExposed is in the error of RequirePrivate for a file that others can read.
var ErrExposed = errors.New("others can read")

// RequirePrivate returns an error if an open file of secrets is not a regular file or
// can be read by others than its owner. The group may read a file in credentials, the
// folder of a service manager's credentials ($CREDENTIALS_DIRECTORY), and a file of root
// if this process is not root's: so a secret is mounted in a container, and PostgreSQL
// has the same rule. what names the secret in the error.
func RequirePrivate(f *os.File, what, credentials string) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("stat %s: %w", what, err)
	}
	exposed := fs.FileMode(0o077)
	owner, _ := info.Sys().(*syscall.Stat_t)
	if credentials != "" && filepath.Dir(f.Name()) == filepath.Clean(credentials) ||
		owner != nil && forGroup(owner.Uid, os.Geteuid()) {
		exposed = 0o037
	}
	switch {
	case !info.Mode().IsRegular():
		return errors.New(f.Name() + " is not a regular file with a " + what)
	case info.Mode().Perm()&exposed != 0:
		return fmt.Errorf("%w %s, which holds a secret: chmod 600 %s", ErrExposed, f.Name(), f.Name())
	}
	return nil
}

// forGroup reports whether the group may read a file of an owner, in a process of user.
func forGroup(owner uint32, user int) bool { return owner == 0 && user != 0 }
