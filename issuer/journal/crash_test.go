package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/journal"
)

// recordCounts is the history of a small cluster: the number of records of each command.
var recordCounts = []int{1, 0, 2, 0, 0, 1, 3, 1, 0, 0, 1, 0}

// replay passes the commands after a Seq to the journal, as a node does after a restart.
func replay(j *journal.Journal, after uint64) {
	for i, n := range recordCounts[after:] {
		if seq := after + uint64(i) + 1; n > 0 {
			appendRecords(j, seq, n)
		} else {
			j.Covered(seq, at(seq))
		}
	}
}

// noSyncDisk doesn't sync, so that a test can open thousands of small journals.
type noSyncDisk struct{ journal.Disk }

func (d noSyncDisk) Create(path string) (journal.File, error) {
	f, err := d.Disk.Create(path)
	return noSyncFile{f}, err
}

func (d noSyncDisk) Open(path string) (journal.File, error) {
	f, err := d.Disk.Open(path)
	return noSyncFile{f}, err
}

func (noSyncDisk) SyncDir(string) error { return nil }

type noSyncFile struct{ journal.File }

func (noSyncFile) Sync() error { return nil }

func noSyncConfig(dir string) journal.Config {
	return journal.OnDisk(configIn(dir), noSyncDisk{journal.RealDisk})
}

var wholeSpans = []journal.Span{span(1, 12)}

// writtenDir returns a folder with the journal of that history, flushed after each command.
func writtenDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	j := open(t, configIn(dir))
	j.Covered(0, at(0))
	for i := range recordCounts {
		if seq := uint64(i) + 1; recordCounts[i] > 0 {
			appendRecords(j, seq, recordCounts[i])
		} else {
			j.Covered(seq, at(seq))
		}
		require.NoError(t, j.Flush())
	}
	require.NoError(t, j.Close())
	return dir
}

// copyOf copies a folder, with the given files replaced.
func copyOf(t testing.TB, dir string, changed map[string][]byte) string {
	t.Helper()
	to := t.TempDir()
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range list {
		b, ok := changed[e.Name()]
		if !ok {
			b, err = os.ReadFile(filepath.Join(dir, e.Name()))
			require.NoError(t, err)
		}
		require.NoError(t, os.WriteFile(filepath.Join(to, e.Name()), b, 0o600))
	}
	return to
}

// requireConsistent verifies that a journal of that history has all records, unchanged, of every
// command that it covers, and no others.
func requireConsistent(t testing.TB, j *journal.Journal) {
	t.Helper()
	have := map[uint64]int{}
	last := uint64(0)
	for r, err := range j.Records(0) {
		if err != nil {
			require.ErrorIs(t, err, journal.ErrDamaged)
			continue
		}
		require.GreaterOrEqual(t, r.Seq, last)
		last = r.Seq
		require.Equal(t, string(data(r.Seq, have[r.Seq])), string(r.Data))
		require.Equal(t, at(r.Seq), r.At)
		have[r.Seq]++
	}
	for seq, n := range have {
		require.Equal(t, recordCounts[seq-1], n, "command %d has some of its records only", seq)
	}
	end := uint64(0)
	for _, s := range j.Spans() {
		require.Greater(t, s.From, end)
		require.GreaterOrEqual(t, s.To, s.From)
		end = s.To
		for seq := s.From; seq <= s.To; seq++ {
			require.Equal(t, recordCounts[seq-1], have[seq], "command %d is covered but its records are missing", seq)
		}
	}
	require.LessOrEqual(t, end, uint64(len(recordCounts)))
	require.LessOrEqual(t, end, j.Last())
}

// TestCrashAtEveryByte verifies that the journal is complete after the log was replayed,
// whatever part of the last file reached the disk.
func TestCrashAtEveryByte(t *testing.T) {
	dir := writtenDir(t)
	name := filepath.Base(segments(t, dir)[0])
	good, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	slots, err := os.ReadFile(filepath.Join(dir, journal.CoveredName))
	require.NoError(t, err)
	cutBytes := int64(0)
	for i := range len(good) + 1 {
		for what, changed := range map[string]map[string][]byte{
			"cut":                    {name: good[:i], journal.CoveredName: nil},
			"cut, coverage as it is": {name: good[:i]},
			"zeros at the end":       {name: append(bytes.Clone(good[:i]), make([]byte, len(good)-i)...), journal.CoveredName: slots},
		} {
			j := open(t, noSyncConfig(copyOf(t, dir, changed)))
			cut := j.Recovered().TruncatedBytes
			cutBytes += cut
			require.Less(t, cut, int64(len(good)+1))
			require.Zero(t, j.Recovered().Damaged, "%s at %d", what, i)
			requireConsistent(t, j)
			j.Skipped(0, 0, at(0)) // the log is replayed from its beginning
			replay(j, 0)
			requireConsistent(t, j)
			require.Equal(t, wholeSpans, j.Spans(), "%s at %d", what, i)
			require.NoError(t, j.Close())
			j = open(t, noSyncConfig(j.Dir()))
			require.Zero(t, j.Recovered(), "%s at %d", what, i)
			requireConsistent(t, j)
			require.Equal(t, wholeSpans, j.Spans(), "%s at %d", what, i)
			require.NoError(t, j.Close())
		}
	}
	require.NotZero(t, cutBytes)
}

// TestEveryFlippedByte verifies that damage causes a gap or a shorter journal, but never a wrong
// record, wrong coverage, or a journal that can't be opened.
func TestEveryFlippedByte(t *testing.T) {
	dir := writtenDir(t)
	gaps := 0
	for _, name := range []string{filepath.Base(segments(t, dir)[0]), journal.CoveredName} {
		good, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		for i := range good {
			if name == journal.CoveredName && i > 64 && i < 4096 {
				continue // between the slots
			}
			bad := bytes.Clone(good)
			bad[i] ^= 0x10
			j := open(t, noSyncConfig(copyOf(t, dir, map[string][]byte{name: bad})))
			requireConsistent(t, j)
			gaps += len(journal.Gaps(j.Spans(), 0))
			replay(j, 0)
			requireConsistent(t, j)
			j.Covered(12, at(12))
			require.NoError(t, j.Flush())
			require.Equal(t, uint64(12), j.Last())
			require.NoError(t, j.Close())
			j = open(t, noSyncConfig(j.Dir()))
			requireConsistent(t, j)
			require.Equal(t, uint64(12), j.Last())
			require.NoError(t, j.Close())
		}
	}
	require.NotZero(t, gaps, "no flip hit a frame in the middle")
}

// TestDamageInTheMiddle verifies that only the records of a damaged frame are missing,
// and that the damage is reported.
func TestDamageInTheMiddle(t *testing.T) {
	dir := writtenDir(t)
	name := filepath.Base(segments(t, dir)[0])
	b, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	i := bytes.Index(b, data(7, 1))
	require.Positive(t, i)
	b[i]++
	j := open(t, noSyncConfig(copyOf(t, dir, map[string][]byte{name: b})))
	assert.Equal(t, journal.Recovery{Damaged: 1}, j.Recovered())
	assert.Equal(t, []journal.Span{span(1, 6), span(8, 12)}, j.Spans())
	var seen []uint64
	damage := 0
	for r, err := range j.Records(0) {
		if err != nil {
			require.ErrorIs(t, err, journal.ErrDamaged)
			damage++
			continue
		}
		seen = append(seen, r.Seq)
	}
	assert.Equal(t, 1, damage)
	assert.Equal(t, []uint64{1, 3, 3, 6, 8, 11}, seen)

	var out bytes.Buffer
	require.NoError(t, j.Export(&out))
	h, err := journal.Read(&out)
	require.NoError(t, err)
	assert.Equal(t, j.Spans(), h.Spans())
}

// TestForeignFilesAreLeftAlone covers files of a later version and files that are no segments.
func TestForeignFilesAreLeftAlone(t *testing.T) {
	dir := writtenDir(t)
	later := filepath.Join(dir, "0000000000000002.journal")
	require.NoError(t, os.WriteFile(later, []byte("mmjrnl\x00\x02later"), 0o600))
	other := filepath.Join(dir, "2.journal")
	require.NoError(t, os.WriteFile(other, []byte("notes"), 0o600))
	j := open(t, configIn(dir))
	assert.Equal(t, journal.Recovery{Damaged: 1}, j.Recovered())
	assert.Equal(t, wholeSpans, j.Spans())
	appendRecords(j, 13, 1)
	require.NoError(t, j.Close())
	b, err := os.ReadFile(later)
	require.NoError(t, err)
	assert.Equal(t, "mmjrnl\x00\x02later", string(b))
	assert.FileExists(t, other)
	j = open(t, configIn(dir))
	assert.Equal(t, []journal.Span{span(1, 13)}, j.Spans())
}
