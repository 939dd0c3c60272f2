package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/mintmark-auth/mintmark/issuer/admin"
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

// MaxSecretFile is the longest accepted file of a secret or password, in bytes.
const MaxSecretFile = 4096

// OpenRegular opens a regular file, or a link to one, for reading. It refuses a named pipe
// instead of waiting for a writer: a node that waits reloads nothing and does not stop.
func OpenRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New(path + " is not a regular file")
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// ReadSecretFile reads a secret or a password from a file that nobody else can read:
// credentials is as in RequirePrivate.
func ReadSecretFile(path, credentials string) (admin.Plain, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	if err := RequirePrivate(f, "password or secret", credentials); err != nil {
		return "", err
	}
	return ReadSecret(f, path)
}

// ReadSecret reads a secret or a password, which is one line. A line ending at the end is
// not part of it. name is for errors.
func ReadSecret(in io.Reader, name string) (admin.Plain, error) {
	b, err := io.ReadAll(io.LimitReader(in, MaxSecretFile+1))
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	text := strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
	switch {
	case len(b) > MaxSecretFile:
		return "", fmt.Errorf("%s is longer than %d bytes", name, MaxSecretFile)
	case text == "":
		return "", fmt.Errorf("%s is empty", name)
	case strings.ContainsAny(text, "\r\n\x00"):
		return "", fmt.Errorf("%s must hold one line of text", name)
	}
	return admin.Plain(text), nil
}
