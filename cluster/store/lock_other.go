//go:build !unix

package store

import (
	"fmt"
	"os"
	"path/filepath"
)

// LockDir opens the lock file. On this system it does not stop a second process, which
// blocks in the log's own lock instead.
func LockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	return f, nil
}
