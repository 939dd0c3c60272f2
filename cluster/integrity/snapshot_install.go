package integrity

import (
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/raft"
)

// Raft installs a snapshot in three steps: it stores the snapshot, restores it, and
// then drops the log that the snapshot replaces. A node that was killed before the
// third step has a log that doesn't continue its snapshot.
//
//   - If the log ends before the snapshot, raft reports the snapshot's last entry as
//     its last one and receives the next one. The log refuses the gap, which ends the
//     process, at this start and at every later one.
//   - If the log has another entry at the index of the snapshot's last one, the leader
//     would have this node truncate entries that count as committed.

// DropReplacedLog drops such a log before raft runs. It compares the log with the
// newest snapshot that can be restored, since raft begins with that one. A snapshot
// that can't be restored, such as one of a newer version of the program, is skipped.
func (f *Folder) DropReplacedLog(canRead func(io.Reader) error) error {
	first, last, err := f.logRange()
	if err != nil || last == 0 {
		return err
	}
	taken, err := f.Snapshots.List() // the newest first
	if err != nil {
		return fmt.Errorf("list snapshots: %w", err)
	}
	for _, s := range taken {
		switch goesOn, err := f.logContinuesFrom(s, last); {
		case err != nil || goesOn:
			return err
		case !f.canRestore(s.ID, canRead):
			continue
		}
		f.log.Warn("log found older than the installed snapshot, dropping it", "snapshot", s.Index, "log", last)
		if err := f.Store.Logs.DeleteRange(first, last); err != nil {
			return fmt.Errorf("drop the log that a snapshot replaces: %w", err)
		}
		return nil
	}
	return nil
}

func (f *Folder) logRange() (first, last uint64, err error) {
	if first, err = f.Store.Logs.FirstIndex(); err == nil {
		last, err = f.Store.Logs.LastIndex()
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read log: %w", err)
	}
	return first, last, nil
}

// logContinuesFrom reports whether the log has the last entry of a snapshot, or had it
// before it was compacted.
func (f *Folder) logContinuesFrom(s *raft.SnapshotMeta, last uint64) (bool, error) {
	if s.Index > last {
		return false, nil
	}
	var l raft.Log
	switch err := f.Store.Logs.GetLog(s.Index, &l); {
	case errors.Is(err, raft.ErrLogNotFound):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("read log: %w", err)
	}
	return l.Term == s.Term, nil
}

// canRestore reports whether a snapshot can be restored. Raft logs why not.
func (f *Folder) canRestore(id string, canRead func(io.Reader) error) bool {
	_, r, err := f.Snapshots.Open(id)
	if err != nil {
		return false
	}
	defer func() { _ = r.Close() }()
	return canRead(r) == nil
}
