package store_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/store"
)

// TestDamagedEntryStopsTheNode: a flipped bit anywhere in an entry is found when the
// entry is read, also in a sealed segment.
func TestDamagedEntryStopsTheNode(t *testing.T) {
	var fatal error
	dir := t.TempDir()
	reopen := func() (*wal.WAL, raft.LogStore) {
		w, err := wal.Open(dir, wal.WithSegmentSize(4<<10))
		require.NoError(t, err)
		return w, store.NewChecksumStore(w, func(err error) { fatal = err })
	}
	w, log := reopen()
	entry := func(i uint64) raft.Log {
		l := raft.Log{Index: i, Term: 3, Type: raft.LogCommand, Data: bytes.Repeat([]byte{byte(i)}, 200)}
		if i%2 == 0 {
			l.Extensions = []byte("of somebody else")
		}
		return l
	}
	for i := uint64(1); i <= 100; i++ {
		l := entry(i)
		require.NoError(t, log.StoreLogs([]*raft.Log{&l}))
		require.Equal(t, entry(i), l, "the entry for other nodes is unchanged")
	}
	require.NoError(t, w.Close())

	segments, err := filepath.Glob(filepath.Join(dir, "*.wal"))
	require.NoError(t, err)
	require.Greater(t, len(segments), 2)
	text, err := os.ReadFile(segments[0])
	require.NoError(t, err)
	data := bytes.Index(text, entry(5).Data)
	mark := data + bytes.Index(text[data:], []byte("mmsummed"))
	for what, at := range map[string][]int{
		"nothing":               nil,
		"data":                  {data + 7},
		"extensions":            {bytes.Index(text, []byte("of somebody else"))},
		"the sum":               {mark + 8},
		"the mark":              {mark},
		"the mark and the data": {mark, data + 7},
		"a length":              {data - 1},
		"the length":            {data - 4},
	} {
		t.Run(what, func(t *testing.T) {
			damaged := bytes.Clone(text)
			for _, i := range at {
				damaged[i] ^= 1
			}
			require.NoError(t, os.WriteFile(segments[0], damaged, 0o600))
			fatal = nil
			w, log := reopen()
			wrong := 0
			for i := uint64(1); i <= 100; i++ {
				var l raft.Log
				if err := log.GetLog(i, &l); err != nil {
					require.ErrorIs(t, err, store.ErrDamaged)
					require.ErrorIs(t, fatal, store.ErrDamaged)
					wrong++
					continue
				}
				want := entry(i)
				require.Equal(t, want.Data, l.Data)
				require.Equal(t, want.Extensions, l.Extensions)
			}
			require.Equal(t, len(at) > 0, wrong == 1)
			require.NoError(t, w.Close())
		})
	}
}

// TestEntryWithoutSum: an entry whose magic number is damaged, or that was written by
// something else, counts as damaged.
func TestEntryWithoutSum(t *testing.T) {
	w, err := wal.Open(t.TempDir())
	require.NoError(t, err)
	defer w.Close()
	var fatal error
	log := store.NewChecksumStore(w, func(err error) { fatal = err })
	require.NoError(t, log.StoreLogs([]*raft.Log{{Index: 1, Term: 1, Data: []byte("new")}}))
	require.NoError(t, w.StoreLogs([]*raft.Log{{Index: 2, Term: 1, Data: []byte("bare")}}))
	var l raft.Log
	require.NoError(t, log.GetLog(1, &l))
	require.NoError(t, fatal)
	require.ErrorIs(t, log.GetLog(2, &l), store.ErrDamaged)
	require.ErrorIs(t, fatal, store.ErrDamaged)
}
