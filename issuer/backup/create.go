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

// Create creates a file with what write wrote, readable by its owner only. It returns once
// the file and its folder entry are on disk.
//
// It never overwrites: if the name exists, before or after write ran, the error is
// fs.ErrExist. The name refers to a complete file or doesn't exist; a crash can leave
// another file that begins with a dot and ends in ".tmp".
func Create(path string, write func(io.Writer) error) error {
	if _, err := os.Lstat(path); err == nil {
		// This avoids an hour of work in vain; publish decides.
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	dir, name := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	return create(dir, "."+name+".*.tmp", write, func(*os.File) (string, error) { return path, nil })
}

// create writes a file under a temporary name made of pattern, and gives it the name that
// finish returns. finish may read the file, which is on disk.
func create(dir, pattern string, write func(io.Writer) error, finish func(*os.File) (path string, err error)) error {
	f, err := os.CreateTemp(dir, pattern) // mode 0600
	if err != nil {
		return fmt.Errorf("create file in %s: %w", dir, err)
	}
	defer func() { // also after a panic
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	path := f.Name()
	err = write(f)
	if err == nil {
		err = durable.Sync(f)
	}
	if err == nil {
		path, err = finish(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	return publish(f.Name(), path, dir)
}

// publish gives a complete file its name. Unlike a rename, a link fails if the name
// exists. File systems without links are not supported: none of their operations avoids
// both overwriting and partial files.
func publish(from, path, dir string) error {
	if err := os.Link(from, path); err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	err := os.Remove(from)
	if err == nil {
		err = durable.SyncDir(dir)
	}
	if err != nil {
		_ = os.Remove(path) // the link above created it
		return fmt.Errorf("create %s: %w", path, err)
	}
	return nil
}
