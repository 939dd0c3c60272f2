// Package durable writes files and folders that are on disk when a call returns.
// It does not know what is in them.
package durable

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
)

// Observer, where it is set, sees each file and folder before it is synced. It is
// for tests: only a loss of power would show that something was not.
var Observer atomic.Pointer[func(*os.File)]

// Sync returns when what a file or a folder holds is on disk.
func Sync(f *os.File) error {
	if see := Observer.Load(); see != nil {
		(*see)(f)
	}
	return f.Sync()
}

// SyncDir is Sync of a folder: of which names it has.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(Sync(d), d.Close())
}

// Create makes a file of mode 0600 where there is none. It leaves none on an error.
func Create(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return finish(f, data, func() error { return nil })
}

// Replace puts a file of mode 0600 in the place of what is there, as a whole.
func Replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	return finish(f, data, func() error { return os.Rename(f.Name(), path) })
}

// finish has the content on disk before the name, and nothing there on an error.
func finish(f *os.File, data []byte, name func() error) error {
	_, err := f.Write(data)
	if err = errors.Join(err, Sync(f), f.Close()); err == nil {
		err = name()
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncDir(filepath.Dir(f.Name()))
}
