// Package durable writes files that survive a loss of power: when a call returns
// without an error, the content and the name are on disk.
package durable

import (
	"errors"
	"io/fs"
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
// exists. If the content can't be written, it leaves no file. The path has all of the content
// from the beginning, unless the file system has no hard links.
func Create(path string, data []byte) error {
	return write(path, data, func(from, to string) error {
		defer func() { _ = os.Remove(from) }()
		err := os.Link(from, to) // os.Rename would replace a file
		switch {
		case err == nil:
			return nil
		case errors.Is(err, fs.ErrExist):
			return &fs.PathError{Op: "create", Path: to, Err: fs.ErrExist}
		}
		return createHere(to, data)
	})
}

// createHere is Create for a file system without hard links.
func createHere(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := fill(f, data); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// fill writes and syncs the content of a file, and closes it.
func fill(f *os.File, data []byte) error {
	_, err := f.Write(data)
	return errors.Join(err, Sync(f), f.Close())
}

// Replace writes a file of mode 0600 in place of the one at path, if any. The change
// is atomic: the path has either the old content or all of the new.
func Replace(path string, data []byte) error { return write(path, data, os.Rename) }

// write writes and syncs the content before name gives the file its name, so that
// the name never leads to incomplete content. If that fails, it leaves no file.
func write(path string, data []byte, name func(from, to string) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	if err = fill(f, data); err == nil {
		err = name(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it may be gone
		return err
	}
	return SyncDir(filepath.Dir(path))
}
