package backup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// Create makes a file for its owner only that holds what write wrote, and
// returns when file and folder entry are on disk.
//
// It never overwrites: where the name is taken, before or by the time write is
// done, the error is fs.ErrExist. Under the name there is a whole file or none;
// a crash can leave one that begins with a dot and ends in ".tmp" beside it.
func Create(path string, write func(io.Writer) error) error {
	if _, err := os.Lstat(path); err == nil {
		// Known before an hour of work, but decided by link below.
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	f, err := os.CreateTemp(dir, "."+name+".*.tmp") // with mode 0600
	if err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	defer func() { // after a panic, too
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	err = write(f)
	if err == nil {
		err = durable.Sync(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	return publish(f.Name(), path, dir)
}

// publish gives a complete file its name. A link, unlike a renaming, fails
// where the name is taken. File systems without links are refused: nothing else
// that they offer both never overwrites and never shows a half file.
func publish(from, path, dir string) error {
	if err := os.Link(from, path); err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	err := os.Remove(from)
	if err == nil {
		err = durable.SyncDir(dir)
	}
	if err != nil {
		_ = os.Remove(path) // ours: the link made it
		return fmt.Errorf("create %s: %w", path, err)
	}
	return nil
}
