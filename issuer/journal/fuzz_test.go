package journal_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/journal"
)

// FuzzOpen opens a folder with arbitrary contents. Open must not fail, spans must be in
// order, and records added afterwards must be present after a restart.
func FuzzOpen(f *testing.F) {
	dir := writtenDir(f)
	segment, err := os.ReadFile(segments(f, dir)[0])
	require.NoError(f, err)
	slots, err := os.ReadFile(filepath.Join(dir, journal.CoveredName))
	require.NoError(f, err)
	// The bytes between the slots are omitted, since they only slow down fuzzing.
	covered := slices.Concat(slots[:journal.SlotSize], slots[4096:])
	f.Add(segment, []byte{}, covered)
	f.Add(segment, segment, []byte{})
	f.Add(segment[:len(segment)-3], segment, covered)
	f.Add(slices.Concat(segment[:200], segment[201:]), []byte("mmjrnl\x00\x01"), covered[journal.SlotSize:])
	f.Add([]byte("mmjrnl\x00\x02"), []byte("mmj\x00\x00\x00\x00\x00\x00"), []byte("mmjc"))
	f.Fuzz(func(t *testing.T, first, second, covered []byte) {
		dir := t.TempDir()
		if len(covered) > journal.SlotSize {
			covered = slices.Concat(covered[:journal.SlotSize], make([]byte, 4096-journal.SlotSize), covered[journal.SlotSize:])
		}
		names := []string{"0000000000000001.journal", "0000000000000007.journal", journal.CoveredName}
		for i, b := range [][]byte{first, second, covered} {
			if len(b) > 0 {
				require.NoError(t, os.WriteFile(filepath.Join(dir, names[i]), b, 0o600))
			}
		}
		j, err := journal.OpenWithoutWriter(noSyncConfig(dir))
		require.NoError(t, err)
		ordered(t, j.Spans())
		var have []journal.Record
		for r, err := range j.Records(0) {
			if err == nil {
				have = append(have, r)
			}
		}
		next := j.Last()
		if next == math.MaxUint64 {
			require.NoError(t, j.FlushAndClose())
			return
		}
		next++
		appendRecords(j, next, 2)
		require.NoError(t, j.FlushAndClose())

		j, err = journal.OpenWithoutWriter(noSyncConfig(dir))
		require.NoError(t, err)
		require.Zero(t, j.Recovered().TruncatedBytes, "the first Open must have repaired the end")
		ordered(t, j.Spans())
		require.Equal(t, next, j.Last())
		var now []journal.Record
		for r, err := range j.Records(0) {
			if err == nil {
				now = append(now, r)
			}
		}
		require.NoError(t, j.FlushAndClose())
		want := append(have, journal.Record{Seq: next, At: at(next), Data: data(next, 0)},
			journal.Record{Seq: next, At: at(next), Data: data(next, 1)})
		require.Equal(t, want, now)
	})
}

func ordered(t *testing.T, list []journal.Span) {
	t.Helper()
	for i, s := range list {
		require.LessOrEqual(t, s.From, s.To)
		if i > 0 {
			require.Greater(t, s.From, list[i-1].To)
		}
	}
}

// FuzzRead verifies that what is read is in order, and that exporting it again changes nothing.
func FuzzRead(f *testing.F) {
	dir := writtenDir(f)
	j := open(f, configIn(dir))
	whole := export(f, j)
	j.Skipped(0, 40, at(40))
	appendRecords(j, 44, 1)
	f.Add(whole)
	f.Add(export(f, j))
	f.Add([]byte("mintmark journal 1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := journal.Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		ordered(t, h.Spans())
		require.True(t, slices.IsSortedFunc(slices.Collect(h.Records(0)), func(a, b journal.Record) int {
			if a.Seq < b.Seq {
				return -1
			}
			return int(min(1, a.Seq-b.Seq))
		}))
		require.Equal(t, h, read(t, export(t, h)))
		m, err := journal.Merge(h, h)
		require.NoError(t, err)
		require.Equal(t, h.Spans(), m.Spans())
	})
}
