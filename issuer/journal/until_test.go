package journal_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/journal"
)

// twoSpans returns a journal that covers 1 to 12 and 20 to 25.
func twoSpans(t *testing.T) *journal.History {
	t.Helper()
	j := open(t, configIn(t.TempDir()))
	j.Covered(0, at(0))
	appendRecords(j, 3, 1)
	appendRecords(j, 7, 2)
	j.Covered(12, at(12))
	j.Skipped(13, 19, at(19))
	appendRecords(j, 22, 1)
	j.Covered(25, at(25))
	return read(t, export(t, j))
}

// TestUntil verifies that what is cut off is neither covered nor present.
func TestUntil(t *testing.T) {
	h := twoSpans(t)
	whole := h.Spans()
	require.Equal(t, []journal.Span{span(1, 12), span(20, 25)}, whole)
	for seq := uint64(0); seq < 30; seq++ {
		cut := h.Until(seq)
		got := slices.Collect(cut.Records(0))
		want := slices.DeleteFunc(slices.Collect(h.Records(0)), func(r journal.Record) bool { return r.Seq > seq })
		assert.ElementsMatch(t, want, got)
		for _, s := range cut.Spans() {
			assert.LessOrEqual(t, s.To, seq)
			assert.LessOrEqual(t, s.FromAt, s.ToAt)
			assert.LessOrEqual(t, s.ToAt, at(s.To), "a span ends later than any command that was seen")
		}
		for _, s := range whole {
			for n := s.From; n <= min(s.To, seq); n++ {
				assert.True(t, slices.ContainsFunc(cut.Spans(), func(s journal.Span) bool { return s.From <= n && n <= s.To }), "%d until %d", n, seq)
			}
		}
		assert.Equal(t, cut, read(t, export(t, cut)), "an export changed the history")
	}
	assert.Equal(t, h, h.Until(25))
}

// TestAfter verifies that the rest is covered as before, and can be exported and merged.
func TestAfter(t *testing.T) {
	h := twoSpans(t)
	for seq := uint64(0); seq < 30; seq++ {
		cut := h.After(seq)
		assert.Equal(t, slices.Collect(h.Records(seq)), slices.Collect(cut.Records(0)))
		var want []journal.Span
		for _, s := range h.Spans() {
			if s.From = max(s.From, seq+1); s.From <= s.To {
				want = append(want, s)
			}
		}
		assert.Equal(t, want, cut.Spans(), "after %d", seq)
		assert.Equal(t, cut.Spans(), read(t, export(t, cut)).Spans(), "an export changed the history")
		merged, err := journal.Merge(cut, h)
		require.NoError(t, err)
		assert.Equal(t, h.Spans(), merged.Spans())
	}
}

// TestLabel verifies that a label stays with the folder and is no record.
func TestLabel(t *testing.T) {
	dir := t.TempDir()
	j := open(t, configIn(dir))
	label, err := j.Label()
	require.NoError(t, err)
	require.Nil(t, label)
	require.NoError(t, j.SetLabel([]byte("one")))
	require.NoError(t, j.SetLabel([]byte("another")))
	appendRecords(j, 1, 1)
	require.NoError(t, j.Close())
	j = open(t, configIn(dir))
	label, err = j.Label()
	require.NoError(t, err)
	require.Equal(t, "another", string(label))
	require.Len(t, records(t, j, 0), 1)
	all, err := filepath.Glob(filepath.Join(dir, "*.part"))
	require.NoError(t, err)
	require.Empty(t, all)
	info, err := os.Stat(filepath.Join(dir, "label"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
