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

// walMetaStore is raft-wal's metadata store. It completes a rotation that a crash or a
// full disk interrupted.
//
// The append that fills a segment seals it; the metadata records the seal and the next
// segment only afterwards. raft-wal v0.4.2 does not handle a process that ended in
// between: it opens the log, then refuses every append ("segment is sealed"), and the
// node never recovers.
type walMetaStore struct {
	*metadb.BoltMetaDB
	filer *segment.Filer
}

// Load implements types.MetaStore. It writes the list again unchanged: bbolt verifies a
// page only when it rewrites it, so damage there is found now, and not while the node
// runs.
func (m *walMetaStore) Load(dir string) (types.PersistentState, error) {
	state, err := m.BoltMetaDB.Load(dir)
	if err != nil || len(state.Segments) == 0 {
		return state, err
	}
	if err := m.CommitState(state); err != nil {
		return state, fmt.Errorf("write list of log segments: %w", err)
	}
	return m.finishRotation(dir, state)
}

// finishRotation returns the list with an interrupted rotation at its end completed, or
// undone.
func (m *walMetaStore) finishRotation(dir string, state types.PersistentState) (types.PersistentState, error) {
	tail := &state.Segments[len(state.Segments)-1]
	if !tail.SealTime.IsZero() {
		return state, nil
	}
	sealed, err := m.sealedInfo(*tail)
	switch {
	case errors.Is(err, fs.ErrNotExist): // recorded, not yet created: raft-wal creates it
		return state, nil
	case err != nil:
		return state, fmt.Errorf("check for interrupted log rotation: %w", err)
	case sealed.IndexStart == 0:
		return state, nil
	}
	path := filepath.Join(dir, segment.FileName(*tail))
	if sealed.MaxIndex == 0 || !m.indexIntact(sealed) {
		if err := unseal(path, sealed); err != nil {
			return state, fmt.Errorf("undo interrupted log rotation: %w", err)
		}
		return state, nil
	}
	if err := syncFile(path); err != nil {
		return state, fmt.Errorf("complete interrupted log rotation: %w", err)
	}
	next := types.SegmentInfo{
		ID: state.NextSegmentID, BaseIndex: sealed.MaxIndex + 1, MinIndex: sealed.MaxIndex + 1,
		Codec: sealed.Codec, CreateTime: sealed.SealTime, SizeLimit: sealed.SizeLimit,
	}
	state.NextSegmentID++
	*tail = sealed
	state.Segments = append(slices.Clone(state.Segments), next)
	if err := m.CommitState(state); err != nil {
		return state, fmt.Errorf("complete interrupted log rotation: %w", err)
	}
	return state, nil
}

// sealedInfo returns the metadata that the rotation of a segment would have written; its
// IndexStart is 0 if the segment isn't sealed.
func (m *walMetaStore) sealedInfo(tail types.SegmentInfo) (types.SegmentInfo, error) {
	w, err := m.filer.RecoverTail(tail)
	if err != nil {
		return tail, err
	}
	_, start, err := w.Sealed()
	tail.IndexStart, tail.MaxIndex, tail.SealTime = start, w.LastIndex(), time.Now()
	return tail, errors.Join(err, w.Close())
}

// indexIntact reports whether each entry can be found by the index at the end of a sealed
// segment: the last write may have reached the disk only in part.
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

// unseal removes the index of a torn write, which raft-wal would treat as complete.
// raft-wal then drops the entries of that write by itself; none of them was acknowledged.
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
