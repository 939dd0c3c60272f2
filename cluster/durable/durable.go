// Package durable writes files that survive a loss of power: when a call returns
// without an error, the content and the name are on disk.
package durable

import (
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
)

// Observer, if set, is called with each file and folder before it is synced. It is for
// tests (see durabletest): without a loss of power, nothing else shows a missing sync.
var Observer atomic.Pointer[func(*os.File)]

// Sync returns when the content of a file, or the names in a folder, are on disk.
func Sync(f *os.File) error {
	if see := Observer.Load(); see != nil {
		(*see)(f)
	}
	return f.Sync()
}

// SyncDir opens the folder at path and syncs it: then the names in it are on disk.
// The content of the files is not synced.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(Sync(d), d.Close())
}

// Create writes a new file of mode 0600. The error wraps os.ErrExist if the path
// exists. If the content can't be written, it leaves no file.
func Create(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return finish(f, data, func() error { return nil })
}

// Replace writes a file of mode 0600 in place of the one at path, if any. The change
// is atomic: the path has either the old content or all of the new.
func Replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	return finish(f, data, func() error { return os.Rename(f.Name(), path) })
}

// finish writes and syncs the content before name gives the file its name, so that
// the name never leads to incomplete content. If that fails, it removes the file.
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
