package journal_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/journal"
)

func open(t testing.TB, c journal.Config) *journal.Journal {
	t.Helper()
	j, err := journal.Open(c)
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func configIn(dir string) journal.Config { return journal.Config{Dir: dir} }

// at returns the state time of a command in these tests.
func at(seq uint64) int64 { return 1_000_000 + 10*int64(seq) }

func data(seq uint64, n int) []byte { return fmt.Appendf(nil, "record %d of %d", n, seq) }

// appendRecords appends a command with n records.
func appendRecords(j *journal.Journal, seq uint64, n int) {
	var list [][]byte
	for i := range n {
		list = append(list, data(seq, i))
	}
	j.Append(seq, at(seq), list...)
}

func records(t testing.TB, j *journal.Journal, after uint64) []journal.Record {
	t.Helper()
	var list []journal.Record
	for r, err := range j.Records(after) {
		require.NoError(t, err)
		list = append(list, r)
	}
	return list
}

// numbers returns the Seq of each record.
func numbers(list []journal.Record) []uint64 {
	var out []uint64
	for _, r := range list {
		out = append(out, r.Seq)
	}
	return out
}

func span(from, to uint64) journal.Span {
	return journal.Span{From: from, To: to, FromAt: at(from - 1), ToAt: at(to)}
}

func segments(t testing.TB, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*.journal"))
	require.NoError(t, err)
	return list
}

func TestRecordsAreThereAfterARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "journal")
	j := open(t, configIn(dir))
	assert.Zero(t, j.Last())
	assert.Empty(t, j.Spans())
	assert.Empty(t, records(t, j, 0))
	j.Covered(0, at(0)) // a new cluster
	appendRecords(j, 3, 1)
	appendRecords(j, 4, 3)
	j.Covered(9, at(9))
	appendRecords(j, 10, 1)
	j.Covered(12, at(12))
	want := []uint64{3, 4, 4, 4, 10}
	check := func(j *journal.Journal) {
		t.Helper()
		list := records(t, j, 0)
		assert.Equal(t, want, numbers(list))
		assert.Equal(t, journal.Record{Seq: 4, At: at(4), Data: data(4, 2)}, list[3])
		assert.Equal(t, []uint64{10}, numbers(records(t, j, 4)))
		assert.Equal(t, []uint64{4, 4, 4, 10}, numbers(records(t, j, 3)))
		assert.Empty(t, records(t, j, 10))
		assert.Equal(t, []journal.Span{span(1, 12)}, j.Spans())
		assert.Equal(t, uint64(12), j.Last())
	}
	check(j) // before anything is on disk
	require.NoError(t, j.Flush())
	check(j)
	require.NoError(t, j.Close())

	j = open(t, configIn(dir))
	assert.Zero(t, j.Recovered())
	check(j)
	// The log is replayed: known commands are not written again.
	before, err := os.ReadFile(segments(t, dir)[0])
	require.NoError(t, err)
	j.Skipped(0, 2, at(2)) // the snapshot from which the log is replayed
	appendRecords(j, 3, 1)
	appendRecords(j, 4, 3)
	j.Covered(9, at(9))
	appendRecords(j, 10, 1)
	j.Covered(12, at(12))
	require.NoError(t, j.Flush())
	check(j)
	after, err := os.ReadFile(segments(t, dir)[0])
	require.NoError(t, err)
	assert.Equal(t, before, after)
	// New commands follow.
	appendRecords(j, 13, 1)
	want = append(want, 13)
	require.NoError(t, j.Flush())
	assert.Equal(t, want, numbers(records(t, j, 0)))
	assert.Equal(t, []journal.Span{span(1, 13)}, j.Spans())
}

func TestFilesAreTheOwnersOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	require.NoError(t, os.Mkdir(dir, 0o755))
	j := open(t, configIn(dir))
	appendRecords(j, 1, 1)
	j.Covered(2, at(2))
	require.NoError(t, j.Flush())
	info, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o700), info.Mode().Perm())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode(), e.Name())
	}
}

func TestWhereAnEmptyJournalBegins(t *testing.T) {
	for name, tc := range map[string]struct {
		first func(*journal.Journal)
		want  []journal.Span
	}{
		"nothing":            {func(*journal.Journal) {}, nil},
		"a record":           {func(j *journal.Journal) { appendRecords(j, 7, 1) }, []journal.Span{{From: 7, To: 7, FromAt: at(7), ToAt: at(7)}}},
		"covered":            {func(j *journal.Journal) { j.Covered(7, at(7)) }, nil},
		"covered, and on":    {func(j *journal.Journal) { j.Covered(7, at(7)); j.Covered(9, at(9)) }, []journal.Span{span(8, 9)}},
		"a new cluster":      {func(j *journal.Journal) { j.Skipped(0, 0, at(0)); appendRecords(j, 5, 1) }, []journal.Span{span(1, 5)}},
		"from a snapshot":    {func(j *journal.Journal) { j.Skipped(0, 7, at(7)); appendRecords(j, 9, 1) }, []journal.Span{span(8, 9)}},
		"no number":          {func(j *journal.Journal) { appendRecords(j, 0, 1) }, nil},
		"append of no bytes": {func(j *journal.Journal) { j.Covered(0, at(0)); appendRecords(j, 3, 0) }, []journal.Span{span(1, 3)}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			j := open(t, configIn(dir))
			tc.first(j)
			assert.Equal(t, tc.want, j.Spans())
			last := j.Last()
			require.NoError(t, j.Close())
			j = open(t, configIn(dir))
			assert.Equal(t, tc.want, j.Spans())
			assert.Equal(t, last, j.Last())
		})
	}
}

func TestSkipped(t *testing.T) {
	for name, tc := range map[string]struct {
		from, to uint64
		want     []journal.Span // after commands 1 to 5 had records and 6 to 9 none
	}{
		"all known":             {3, 5, []journal.Span{span(1, 21)}},
		"up to what is known":   {0, 9, []journal.Span{span(1, 21)}},
		"next":                  {10, 19, []journal.Span{span(1, 9), span(20, 21)}},
		"from anywhere":         {0, 19, []journal.Span{span(1, 9), span(20, 21)}},
		"seen before, unsaid":   {15, 19, []journal.Span{{From: 1, To: 14, FromAt: at(0), ToAt: at(9)}, span(20, 21)}},
		"nothing, and all seen": {20, 19, []journal.Span{span(1, 21)}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			j := open(t, configIn(dir))
			j.Covered(0, at(0))
			for seq := range uint64(5) {
				appendRecords(j, seq+1, 1)
			}
			j.Covered(9, at(9))
			j.Skipped(tc.from, tc.to, at(tc.to))
			appendRecords(j, 20, 1)
			j.Covered(21, at(21))
			assert.Equal(t, tc.want, j.Spans())
			require.NoError(t, j.Close())
			assert.Equal(t, tc.want, open(t, configIn(dir)).Spans())
		})
	}
}

// TestGapIsKeptBeforeAnythingFollows covers a node that stops right after it installed a
// snapshot.
func TestGapIsKeptBeforeAnythingFollows(t *testing.T) {
	dir := t.TempDir()
	j := open(t, configIn(dir))
	appendRecords(j, 1, 1)
	j.Covered(5, at(5))
	j.Skipped(6, 100, at(100))
	require.NoError(t, j.Close())
	j = open(t, configIn(dir))
	assert.Equal(t, uint64(100), j.Last())
	appendRecords(j, 50, 1) // replayed: the command was in the snapshot and is not seen now either
	j.Covered(101, at(101))
	want := []journal.Span{{From: 1, To: 5, FromAt: at(1), ToAt: at(5)}, span(101, 101)}
	assert.Equal(t, want, j.Spans())
	assert.Equal(t, []journal.Span{{From: 6, To: 100, FromAt: at(5), ToAt: at(100)}}, journal.Gaps(j.Spans(), 0))
}

func TestGaps(t *testing.T) {
	list := []journal.Span{span(5, 9), span(12, 12), span(20, 30)}
	gap := func(from, to uint64) journal.Span {
		return journal.Span{From: from, To: to, FromAt: at(from - 1), ToAt: at(to)}
	}
	for name, tc := range map[string]struct {
		after uint64
		want  []journal.Span
	}{
		"from inside":       {7, []journal.Span{gap(10, 11), gap(13, 19)}},
		"from a span's end": {9, []journal.Span{gap(10, 11), gap(13, 19)}},
		"from a gap":        {11, []journal.Span{gap(13, 19)}},
		"from the start":    {4, []journal.Span{gap(10, 11), gap(13, 19)}},
		"from before":       {2, []journal.Span{{From: 3, To: 4, ToAt: at(4)}, gap(10, 11), gap(13, 19)}},
		"from the last":     {25, nil},
		"from the end":      {30, nil},
		"from later":        {99, nil},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, journal.Gaps(list, tc.after)) })
	}
}

// TestWrittenSoon verifies that without a Flush, a record is on disk after the delay, and
// coverage without records after a minute.
func TestWrittenSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		j := open(t, configIn(dir))
		last := func() uint64 { // of the journal after a crash
			list, err := os.ReadDir(dir)
			require.NoError(t, err)
			crashed := t.TempDir()
			for _, e := range list {
				b, err := os.ReadFile(filepath.Join(dir, e.Name()))
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(crashed, e.Name()), b, 0o600))
			}
			c := open(t, configIn(crashed))
			defer func() { require.NoError(t, c.Close()) }()
			return c.Last()
		}
		for seq := range uint64(3) {
			appendRecords(j, seq+1, 1)
			time.Sleep(200 * time.Millisecond)
			synctest.Wait()
			require.Equal(t, seq+1, last())
		}
		j.Covered(9, at(9))
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, uint64(3), last(), "coverage was written before a minute had passed")
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, uint64(9), last())
		require.NoError(t, j.Close())
	})
}

// TestQuietJournalDoesNotGrow verifies that flushes without records write in place.
func TestQuietJournalDoesNotGrow(t *testing.T) {
	dir := t.TempDir()
	j := open(t, configIn(dir))
	appendRecords(j, 1, 1)
	for seq := uint64(2); seq < 50; seq++ {
		j.Covered(seq, at(seq))
		require.NoError(t, j.Flush())
	}
	require.NoError(t, j.Close())
	var size int64
	for _, name := range append(segments(t, dir), filepath.Join(dir, journal.CoveredName)) {
		info, err := os.Stat(name)
		require.NoError(t, err)
		size += info.Size()
	}
	assert.Less(t, size, int64(8192))
	j = open(t, configIn(dir))
	assert.Equal(t, []journal.Span{{From: 1, To: 49, FromAt: at(1), ToAt: at(49)}}, j.Spans())
}

func TestClosed(t *testing.T) {
	dir := t.TempDir()
	j := open(t, configIn(dir))
	appendRecords(j, 1, 1)
	require.NoError(t, j.Close())
	require.NoError(t, j.Close())
	require.ErrorIs(t, j.Flush(), os.ErrClosed)
	appendRecords(j, 2, 1)
	j.Covered(3, at(3))
	j.Skipped(4, 5, at(5))
	assert.Equal(t, uint64(1), j.Last())
	assert.Equal(t, []uint64{1}, numbers(records(t, j, 0)))
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]journal.Config{
		"age":   {Dir: t.TempDir(), MaxAge: -1},
		"bytes": {Dir: t.TempDir(), MaxBytes: -1},
		"delay": {Dir: t.TempDir(), Delay: -1},
	} {
		_, err := journal.Open(c)
		require.Error(t, err, name)
	}
	taken := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(taken, nil, 0o600))
	_, err := journal.Open(configIn(taken))
	require.Error(t, err)
}
