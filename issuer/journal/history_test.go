package journal_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mintmark-auth/mintmark/issuer/journal"
)

type exporter interface{ Export(io.Writer) error }

func export(t require.TestingT, e exporter) []byte {
	var out bytes.Buffer
	require.NoError(t, e.Export(&out))
	return out.Bytes()
}

func read(t require.TestingT, b []byte) *journal.History {
	h, err := journal.Read(bytes.NewReader(b))
	require.NoError(t, err)
	return h
}

func TestExportAndRead(t *testing.T) {
	j := open(t, configIn(t.TempDir()))
	empty := read(t, export(t, j))
	assert.Empty(t, empty.Spans())
	assert.Empty(t, slices.Collect(empty.Records(0)))

	j.Covered(0, at(0))
	replay(j, 0)
	j.Skipped(13, 19, at(19))
	appendRecords(j, 22, 2)
	j.Covered(25, at(25))
	j.Skipped(26, 30, at(30)) // nothing follows
	waiting := export(t, j)
	require.NoError(t, j.Flush())
	written := export(t, j)
	assert.Equal(t, written, waiting, "the export depends on what is on disk")

	h := read(t, written)
	assert.Equal(t, []journal.Span{span(1, 12), span(20, 25)}, h.Spans())
	assert.Equal(t, j.Spans(), h.Spans())
	assert.Equal(t, records(t, j, 0), slices.Collect(h.Records(0)))
	assert.Equal(t, records(t, j, 7), slices.Collect(h.Records(7)))
	assert.Empty(t, slices.Collect(h.Records(22)))
	again := read(t, export(t, h))
	assert.Equal(t, h, again)
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"halves": iotest.HalfReader, "with error": iotest.DataErrReader,
	} {
		got, err := journal.Read(wrap(bytes.NewReader(written)))
		require.NoError(t, err, name)
		assert.Equal(t, h, got)
	}
}

func TestReadFindsEveryDamage(t *testing.T) {
	good := export(t, open(t, configIn(writtenDir(t))))
	refused := func(b []byte, what string, i int) {
		t.Helper()
		_, err := journal.Read(bytes.NewReader(b))
		require.Error(t, err, "%s at %d", what, i)
		require.True(t, errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrFormat), "%v", err)
	}
	for i := range good {
		refused(good[:i], "cut", i)
		bad := bytes.Clone(good)
		bad[i] ^= 0x04
		refused(bad, "flipped", i)
	}
	refused(append(bytes.Clone(good), 0), "longer", len(good))
	refused(append(bytes.Clone(good), good...), "twice", len(good))
	refused([]byte("mintmark journal 2\n"), "later version", 0)

	broken := errors.New("disk on fire")
	for i := range good {
		_, err := journal.Read(io.MultiReader(bytes.NewReader(good[:i]), iotest.ErrReader(broken)))
		require.ErrorIs(t, err, broken, "%d", i)
		require.ErrorIs(t, open(t, configIn(t.TempDir())).Export(failing{broken}), broken)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// part returns the history of a node that saw some of the commands only.
func part(t require.TestingT, j *journal.Journal, seen []bool, commands []int) *journal.History {
	for i, n := range commands {
		switch seq := uint64(i) + 1; {
		case !seen[i]:
			j.Skipped(seq, seq, at(seq))
		case n > 0:
			appendRecords(j, seq, n)
		default:
			j.Covered(seq, at(seq))
		}
	}
	return read(t, export(t, j))
}

func TestMerge(t *testing.T) {
	node := func(seen ...bool) *journal.History {
		j := open(t, configIn(t.TempDir()))
		j.Covered(0, at(0))
		return part(t, j, seen, recordCounts[:len(seen)])
	}
	a := node(true, true, true, false, false, false, true, true)
	b := node(false, false, true, true, true, false)
	m, err := journal.Merge(a, b)
	require.NoError(t, err)
	assert.Equal(t, []journal.Span{span(1, 5), span(7, 8)}, m.Spans())
	assert.Equal(t, []uint64{1, 3, 3, 7, 7, 7, 8}, numbers(slices.Collect(m.Records(0))))
	other, err := journal.Merge(b, a)
	require.NoError(t, err)
	assert.Equal(t, m, other)
	assert.Equal(t, m, read(t, export(t, m)))

	none, err := journal.Merge()
	require.NoError(t, err)
	assert.Empty(t, none.Spans())
	same, err := journal.Merge(a, a, none)
	require.NoError(t, err)
	assert.Equal(t, a.Spans(), same.Spans())
	assert.Equal(t, slices.Collect(a.Records(0)), slices.Collect(same.Records(0)))
}

func TestMergeRefusesContradictions(t *testing.T) {
	node := func(do func(*journal.Journal)) *journal.History {
		j := open(t, configIn(t.TempDir()))
		j.Covered(0, at(0))
		appendRecords(j, 1, 1)
		do(j)
		j.Covered(9, at(9))
		return read(t, export(t, j))
	}
	a := node(func(j *journal.Journal) { appendRecords(j, 5, 2) })
	for name, do := range map[string]func(*journal.Journal){
		"other bytes":   func(j *journal.Journal) { j.Append(5, at(5), data(5, 0), data(5, 0)) },
		"other time":    func(j *journal.Journal) { j.Append(5, at(6), data(5, 0), data(5, 1)) },
		"other order":   func(j *journal.Journal) { j.Append(5, at(5), data(5, 1), data(5, 0)) },
		"fewer":         func(j *journal.Journal) { appendRecords(j, 5, 1) },
		"more":          func(j *journal.Journal) { appendRecords(j, 5, 3) },
		"none":          func(*journal.Journal) {},
		"another one":   func(j *journal.Journal) { appendRecords(j, 4, 1); appendRecords(j, 5, 2) },
		"a later one":   func(j *journal.Journal) { appendRecords(j, 5, 2); appendRecords(j, 6, 1) },
		"one too early": func(j *journal.Journal) { appendRecords(j, 4, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			b := node(do)
			_, err := journal.Merge(a, b)
			require.ErrorIs(t, err, journal.ErrConflict)
			_, err = journal.Merge(b, a)
			require.ErrorIs(t, err, journal.ErrConflict)
		})
	}
	b := node(func(j *journal.Journal) { j.Skipped(2, 8, at(8)) })
	_, err := journal.Merge(a, b)
	require.NoError(t, err, "a history that doesn't cover the command contradicts nothing")
}

// TestMergeOfAnyParts verifies that merged histories have what any of them has, in every
// order of merging.
func TestMergeOfAnyParts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		commands := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 20).Draw(r, "records")
		var parts []*journal.History
		seenByAny := make([]bool, len(commands))
		for range rapid.IntRange(1, 4).Draw(r, "nodes") {
			seen := rapid.SliceOfN(rapid.Bool(), len(commands), len(commands)).Draw(r, "seen")
			j, err := journal.Open(noSyncConfig(t.TempDir()))
			require.NoError(r, err)
			j.Covered(0, at(0))
			parts = append(parts, part(r, j, seen, commands))
			require.NoError(r, j.Close())
			for i, s := range seen {
				seenByAny[i] = seenByAny[i] || s
			}
		}
		m, err := journal.Merge(parts...)
		require.NoError(r, err)
		slices.Reverse(parts)
		reversed, err := journal.Merge(parts...)
		require.NoError(r, err)
		require.Equal(r, m, reversed)
		covered, have := make([]bool, len(commands)), make([]int, len(commands))
		for _, s := range m.Spans() {
			for seq := s.From; seq <= s.To; seq++ {
				covered[seq-1] = true
			}
		}
		require.Equal(r, seenByAny, covered)
		for rec := range m.Records(0) {
			require.Equal(r, data(rec.Seq, have[rec.Seq-1]), rec.Data)
			have[rec.Seq-1]++
		}
		for i, n := range commands {
			if covered[i] {
				require.Equal(r, n, have[i])
			}
		}
	})
}
