package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
)

// WalMetaFile has raft-wal's list of the segments of a log, and the stable store.
const WalMetaFile = "wal-meta.db"

// openWAL calls open, which is wal.Open, for a log in dir whose files may be missing or
// damaged. The error is then ErrDataLost.
//
// raft-wal treats a log without its list as new, and removes files that are not in the
// list. It reads the list through bbolt, which maps the file into memory and does not
// verify it: a damaged file causes a panic, and a truncated one a fault.
func openWAL(dir string, open func() (*wal.WAL, error)) (w *wal.WAL, err error) {
	meta := filepath.Join(dir, WalMetaFile)
	if err := checkWALMeta(meta); err != nil {
		return nil, err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			w, err = nil, fmt.Errorf("read %s (%v): %w", meta, r, ErrDataLost)
		}
	}()
	w, err = open()
	if err != nil {
		return nil, classifyWALError(dir, err)
	}
	if err := checkStable(w); err != nil {
		return nil, classifyWALError(dir, err)
	}
	return w, nil
}

// checkStable reads all values of the stable store, since bbolt reads only the pages that
// are requested. If the log has an entry, the term must not be lower than that of the
// entry.
func checkStable(w *wal.WAL) error {
	for _, key := range []string{KeyInstanceID, KeyNodeID, KeyCommitMarker, keyVote} {
		if _, err := w.Get([]byte(key)); err != nil {
			return err
		}
	}
	term, err := w.GetUint64([]byte(KeyTerm))
	if err != nil {
		return fmt.Errorf("read %s in %s: %w", KeyTerm, WalMetaFile, err)
	}
	last, err := w.LastIndex()
	if err != nil || last == 0 {
		return err
	}
	var l raft.Log
	if err := w.GetLog(last, &l); err != nil {
		return err
	}
	if term < l.Term {
		return fmt.Errorf("%s in %s is %d, and that of the last entry is %d", KeyTerm, WalMetaFile, term, l.Term)
	}
	return nil
}

// checkWALMeta returns an error if there are segments without a list, before raft-wal
// removes them.
func checkWALMeta(meta string) error {
	info, err := os.Stat(meta)
	switch {
	case err == nil && info.Size() > 0:
		return nil
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	}
	segments, err := filepath.Glob(filepath.Join(filepath.Dir(meta), "*.wal"))
	if err == nil && len(segments) > 0 {
		err = fmt.Errorf("%s is missing or empty: %w", meta, ErrDataLost)
	}
	return err
}

// classifyWALError returns ErrDataLost for damaged files, and errors of the operating
// system unchanged.
func classifyWALError(dir string, err error) error {
	var path *fs.PathError
	var number syscall.Errno
	// If the list names wrong files, some are missing and some exist unexpectedly.
	if misnamed := errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrExist); !misnamed && (errors.As(err, &path) || errors.As(err, &number)) {
		return err
	}
	return fmt.Errorf("%s is damaged (%w): %w", dir, err, ErrDataLost)
}
