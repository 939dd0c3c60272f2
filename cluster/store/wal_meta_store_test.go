package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/fs"
	"github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/durable/durabletest"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// A crash, or a full disk, between the write that seals a segment and the update of the
// metadata loses nothing: the next start completes the rotation, or undoes it if the
// write is incomplete.
func TestInterruptedRotation(t *testing.T) {
	none := func([]byte, int) {}
	for _, c := range []struct {
		name     string
		truncate bool
		harm     func(file []byte, index int) // index is the offset of the segment's index
		lost     uint64                       // entries of the last, incomplete write
	}{
		{"filled", false, none, 0},
		{"truncated", true, none, 0},
		{"filled, nothing of the index written", false, func(f []byte, i int) { clear(f[i:]) }, 1},
		{"filled, a part of the index written", false, func(f []byte, i int) { clear(f[i+12 : i+20]) }, 1},
		{"truncated, nothing of the index written", true, func(f []byte, i int) { clear(f[i:]) }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := openInterruptedLog(t)
			last := l.fill(c.truncate)
			l.close()
			require.ErrorIs(t, l.appendError(last), wal.ErrSealed, "raft-wal completes the rotation itself now")

			file, index := l.tail()
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			c.harm(text, index)
			require.NoError(t, os.WriteFile(file, text, 0o600))

			synced := durabletest.Syncs(t)
			l.open()
			l.close()
			text, err = os.ReadFile(file)
			require.NoError(t, err)
			require.True(t, slices.Contains(*synced, string(text)), "otherwise a power cut undoes it")
			for range 2 { // the second start finds nothing to complete or undo
				l.open()
				got, err := l.LastIndex()
				require.NoError(t, err)
				require.Equal(t, last-c.lost, got)
				for i := uint64(1); i <= got; i++ {
					var e raft.Log
					require.NoError(t, l.GetLog(i, &e), i)
					require.Equal(t, testEntry(i).Data, e.Data, i)
				}
				require.NoError(t, l.StoreLog(testEntry(got+1)))
				last, c.lost = got+1, 0
				l.close()
			}
		})
	}
}

// An interruptedLog is a log whose metadata updates can be made to fail.
type interruptedLog struct {
	*wal.WAL
	t     *testing.T
	dir   string
	files *segment.Filer
	meta  *interruptedMeta
}

type interruptedMeta struct {
	types.MetaStore
	interrupted bool
}

func (m *interruptedMeta) CommitState(s types.PersistentState) error {
	if m.interrupted {
		return errors.New("the process ended")
	}
	return m.MetaStore.CommitState(s)
}

func openInterruptedLog(t *testing.T) *interruptedLog {
	l := &interruptedLog{t: t, dir: t.TempDir()}
	l.files = segment.NewFiler(l.dir, fs.New())
	l.open()
	return l
}

func (l *interruptedLog) open() {
	l.meta = &interruptedMeta{MetaStore: store.NewWALMetaStore(l.files)}
	var err error
	l.WAL, err = wal.Open(l.dir, wal.WithMetaStore(l.meta), wal.WithSegmentFiler(l.files), wal.WithSegmentSize(4<<10))
	require.NoError(l.t, err)
}

func (l *interruptedLog) close() { require.NoError(l.t, l.Close()) }

// fill writes more than a segment, and interrupts the second rotation, or a truncation.
// It returns the last index that was acknowledged.
func (l *interruptedLog) fill(truncate bool) (last uint64) {
	for last = range uint64(30) {
		require.NoError(l.t, l.StoreLog(testEntry(last+1)))
	}
	last++
	l.meta.interrupted = true
	if truncate {
		require.Error(l.t, l.DeleteRange(last-2, last))
		return last
	}
	for {
		if err := l.StoreLog(testEntry(last + 1)); err != nil {
			require.ErrorIs(l.t, err, wal.ErrSealed)
			return last
		}
		last++
	}
}

// appendError returns the error of an append if the rotation is not completed.
func (l *interruptedLog) appendError(last uint64) error {
	w, err := wal.Open(l.dir, wal.WithSegmentSize(4<<10))
	require.NoError(l.t, err)
	defer w.Close()
	return w.StoreLog(testEntry(last + 1))
}

// tail returns the segment that was sealed last, and the offset of its index.
func (l *interruptedLog) tail() (string, int) {
	files, err := filepath.Glob(filepath.Join(l.dir, "*.wal"))
	require.NoError(l.t, err)
	last := files[len(files)-1]
	var info types.SegmentInfo
	_, err = fmt.Sscanf(filepath.Base(last), "%d-%x.wal", &info.BaseIndex, &info.ID)
	require.NoError(l.t, err)
	info.MinIndex, info.Codec = info.BaseIndex, wal.CodecBinaryV1
	w, err := l.files.RecoverTail(info)
	require.NoError(l.t, err)
	defer w.Close()
	sealed, index, err := w.Sealed()
	require.NoError(l.t, err)
	require.True(l.t, sealed)
	return last, int(index)
}

func testEntry(i uint64) *raft.Log {
	return &raft.Log{Index: i, Term: 1, Data: bytes.Repeat([]byte{byte(i), byte(i >> 8)}, 100)}
}
