package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hashicorp/raft-wal/metadb"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// walMetaStore is what raft-wal knows of its files, with the rotation finished
// that a crash or a full disk interrupted.
//
// The append that fills a file seals it; that a file is sealed and which comes
// next is noted after that. raft-wal v0.4.2 doesn't look for a process that
// ended in between: it opens the log, then refuses each append for ever
// ("segment is sealed"), and the node never comes back.
type walMetaStore struct {
	*metadb.BoltMetaDB
	filer *segment.Filer
}

// Load implements types.MetaStore. The list is written again as it is: bbolt looks
// at all that is on a page only when it writes it anew, so what is damaged there is
// found now, and not while the node runs.
func (m *walMetaStore) Load(dir string) (types.PersistentState, error) {
	state, err := m.BoltMetaDB.Load(dir)
	if err != nil || len(state.Segments) == 0 {
		return state, err
	}
	if err := m.CommitState(state); err != nil {
		return state, fmt.Errorf("write the list of the log's files: %w", err)
	}
	return m.finishRotation(dir, state)
}

// finishRotation is the list with an interrupted rotation at its end finished, or undone.
func (m *walMetaStore) finishRotation(dir string, state types.PersistentState) (types.PersistentState, error) {
	tail := &state.Segments[len(state.Segments)-1]
	if !tail.SealTime.IsZero() {
		return state, nil
	}
	sealed, err := m.sealedInfo(*tail)
	switch {
	case errors.Is(err, fs.ErrNotExist): // noted, not yet made: raft-wal makes it
		return state, nil
	case err != nil:
		return state, fmt.Errorf("look for an interrupted rotation of the log: %w", err)
	case sealed.IndexStart == 0:
		return state, nil
	}
	path := filepath.Join(dir, segment.FileName(*tail))
	if sealed.MaxIndex == 0 || !m.indexIntact(sealed) {
		if err := unseal(path, sealed); err != nil {
			return state, fmt.Errorf("undo an interrupted rotation of the log: %w", err)
		}
		return state, nil
	}
	if err := syncFile(path); err != nil {
		return state, fmt.Errorf("finish an interrupted rotation of the log: %w", err)
	}
	next := types.SegmentInfo{
		ID: state.NextSegmentID, BaseIndex: sealed.MaxIndex + 1, MinIndex: sealed.MaxIndex + 1,
		Codec: sealed.Codec, CreateTime: sealed.SealTime, SizeLimit: sealed.SizeLimit,
	}
	state.NextSegmentID++
	*tail = sealed
	state.Segments = append(slices.Clone(state.Segments), next)
	if err := m.CommitState(state); err != nil {
		return state, fmt.Errorf("finish an interrupted rotation of the log: %w", err)
	}
	return state, nil
}

// sealedInfo is the note that the rotation of a file would have left; its IndexStart
// is 0 if the file isn't sealed.
func (m *walMetaStore) sealedInfo(tail types.SegmentInfo) (types.SegmentInfo, error) {
	w, err := m.filer.RecoverTail(tail)
	if err != nil {
		return tail, err
	}
	_, start, err := w.Sealed()
	tail.IndexStart, tail.MaxIndex, tail.SealTime = start, w.LastIndex(), time.Now()
	return tail, errors.Join(err, w.Close())
}

// indexIntact tells whether each entry can be found by the index that a sealed file
// ends with: of the last write, not all may have reached the disk.
func (m *walMetaStore) indexIntact(sealed types.SegmentInfo) bool {
	unsealed := sealed
	unsealed.IndexStart, unsealed.MaxIndex, unsealed.SealTime = 0, 0, time.Time{}
	scanned, err := m.filer.RecoverTail(unsealed)
	if err != nil {
		return false
	}
	defer scanned.Close()
	read, err := m.filer.Open(sealed)
	if err != nil {
		return false
	}
	defer read.Close()
	for i := sealed.MinIndex; i <= sealed.MaxIndex; i++ {
		if !sameEntry(scanned, read, i) {
			return false
		}
	}
	return true
}

func sameEntry(a, b types.SegmentReader, index uint64) bool {
	one, err := a.GetLog(index)
	if err != nil {
		return false
	}
	defer one.Close()
	other, err := b.GetLog(index)
	if err != nil {
		return false
	}
	defer other.Close()
	return bytes.Equal(one.Bs, other.Bs)
}

// unseal takes the index of a torn write away, which raft-wal would take for a
// whole one. The entries of that write it drops by itself: without all of it,
// none was acknowledged.
func unseal(path string, sealed types.SegmentInfo) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	stat, err := f.Stat()
	if err == nil {
		const header = 8 // of the frame that the index is in
		start := int64(sealed.IndexStart) - header
		_, err = f.WriteAt(make([]byte, max(0, stat.Size()-start)), start)
	}
	return errors.Join(err, durable.Sync(f), f.Close())
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(durable.Sync(f), f.Close())
}
