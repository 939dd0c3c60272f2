package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"

	wal "github.com/hashicorp/raft-wal"
)

// metaFile is raft-wal's list of the files of a log, and the stable store.
const metaFile = "wal-meta.db"

// openWAL calls open, which is wal.Open, for a log in dir of which files may be
// gone or damaged. The error is ErrDataLost then.
//
// raft-wal takes a log without its list for a new one, and removes the files that
// are not in the list. It reads that through bbolt, which maps the file into
// memory and believes what it finds there: a damaged one ends in a panic, one
// that was cut short in a fault.
func openWAL(dir string, open func() (*wal.WAL, error)) (w *wal.WAL, err error) {
	meta := filepath.Join(dir, metaFile)
	if err := checkMeta(meta); err != nil {
		return nil, err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			w, err = nil, fmt.Errorf("%s can't be read (%v): %w", meta, r, ErrDataLost)
		}
	}()
	w, err = open()
	if err != nil {
		return nil, damagedLog(dir, err)
	}
	for _, key := range []string{keyBirth, keyNodeID, keyNoted} { // bbolt reads no more of the file than it is asked for
		if _, err := w.Get([]byte(key)); err != nil {
			return nil, damagedLog(dir, err)
		}
	}
	return w, nil
}

// checkMeta finds files without their list, before they are removed.
func checkMeta(meta string) error {
	info, err := os.Stat(meta)
	switch {
	case err == nil && info.Size() > 0:
		return nil
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	}
	segments, err := filepath.Glob(filepath.Join(filepath.Dir(meta), "*.wal"))
	if err == nil && len(segments) > 0 {
		err = fmt.Errorf("%s is gone or empty: %w", meta, ErrDataLost)
	}
	return err
}

// damagedLog tells what is wrong with the files from what the system refuses.
func damagedLog(dir string, err error) error {
	var path *fs.PathError
	var number syscall.Errno
	if missing := errors.Is(err, os.ErrNotExist); !missing && (errors.As(err, &path) || errors.As(err, &number)) {
		return err
	}
	return fmt.Errorf("%s is damaged (%w): %w", dir, err, ErrDataLost)
}
