package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// envUpstreamSecret may hold the client secret at the upstream provider instead
// of a file. It is no setting: it is never shown.
const envUpstreamSecret = "MINTMARK_UPSTREAM_CLIENT_SECRET"

// maxUpstreamSecret is far more than any provider gives, in bytes.
const maxUpstreamSecret = 4096

// secret is the client secret at the provider; "" for a client that has none.
// An error does not hold what was read.
func (o *upstreamOptions) secret(getenv func(string) string) (string, error) {
	if o.SecretFile == "" {
		return getenv(envUpstreamSecret), nil
	}
	f, err := os.Open(o.SecretFile)
	if err != nil {
		return "", fmt.Errorf("open the client secret at the provider: %w", err)
	}
	defer func() { _ = f.Close() }()
	if err := requirePrivate(f, "client secret at the provider", getenv("CREDENTIALS_DIRECTORY")); err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxUpstreamSecret+1))
	if err != nil {
		return "", fmt.Errorf("read the client secret at the provider: %w", err)
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 || len(text) > maxUpstreamSecret {
		return "", fmt.Errorf("%s is empty, or too long for a client secret", o.SecretFile)
	}
	return string(text), nil
}

var errNotPrivate = errors.New("others can read")

// requirePrivate refuses a file of secrets that others can read. A service manager's
// credential is its group's too.
func requirePrivate(f *os.File, what, credentials string) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at the %s: %w", what, err)
	}
	exposed := fs.FileMode(0o077)
	if credentials != "" && filepath.Dir(f.Name()) == filepath.Clean(credentials) {
		exposed = 0o037
	}
	switch {
	case !info.Mode().IsRegular():
		return errors.New(f.Name() + " is no file of a " + what)
	case info.Mode().Perm()&exposed != 0:
		return fmt.Errorf("%w %s, which holds a secret: chmod 600 %s", errNotPrivate, f.Name(), f.Name())
	}
	return nil
}
