package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const labelName = "label"

// SetLabel stores a text about the journal's timeline beside it. The text belongs to the
// caller and identifies the journal when nothing else is left of the node.
func (j *Journal) SetLabel(text []byte) error {
	old, err := j.Label()
	if err == nil && !bytes.Equal(old, text) {
		err = replaceFile(j.config.disk, j.config.Dir, labelName, text)
	}
	if err != nil {
		return fmt.Errorf("label journal: %w", err)
	}
	return nil
}

// Label returns the label, or nil if none was set.
func (j *Journal) Label() ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(j.config.Dir, labelName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// replaceFile returns once the complete file is on disk. A crash leaves either version.
func replaceFile(d disk, dir, name string, text []byte) error {
	part := filepath.Join(dir, name+".part")
	f, err := d.Open(part)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(text, 0)
	err = errors.Join(err, f.Truncate(int64(len(text))))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(part, filepath.Join(dir, name)); err != nil {
		return err
	}
	return d.SyncDir(dir)
}
