package journal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/journal"
)

// nowhere is a disk that takes everything.
type nowhere struct{ journal.Disk }

func (nowhere) Create(string) (journal.File, error) { return nowhereFile{}, nil }
func (nowhere) SyncDir(string) error                { return nil }
func (nowhere) Remove(string) error                 { return nil }

type nowhereFile struct{ journal.File }

func (nowhereFile) WriteAt(b []byte, _ int64) (int, error) { return len(b), nil }
func (nowhereFile) Sync() error                            { return nil }
func (nowhereFile) Close() error                           { return nil }

// BenchmarkAppend is what the state machine waits for.
func BenchmarkAppend(b *testing.B) {
	j := open(b, journal.OnDisk(journal.Config{Dir: b.TempDir(), Delay: time.Millisecond}, nowhere{journal.RealDisk}))
	record := make([]byte, 120)
	b.ReportAllocs()
	seq := uint64(0)
	for b.Loop() {
		seq++
		j.Append(seq, int64(seq), record)
	}
	require.NoError(b, j.Err())
}

// BenchmarkCovered is what it waits for where a command leaves no record.
func BenchmarkCovered(b *testing.B) {
	j := open(b, in(b.TempDir()))
	b.ReportAllocs()
	seq := uint64(0)
	for b.Loop() {
		seq++
		j.Covered(seq, int64(seq))
	}
}

// TestAppendAllocatesNothing but what the buffer needs to grow.
func TestAppendAllocatesNothing(t *testing.T) {
	j := open(t, journal.OnDisk(journal.Config{Dir: t.TempDir(), Delay: time.Hour}, nowhere{journal.RealDisk}))
	record := make([]byte, 100)
	seq := uint64(0)
	one := func() {
		seq++
		j.Append(seq, int64(seq), record, record)
	}
	for range 4000 { // the buffers have their size after two flushes
		one()
	}
	require.NoError(t, j.Flush())
	for range 4000 {
		one()
	}
	require.NoError(t, j.Flush())
	one()
	require.Zero(t, testing.AllocsPerRun(1000, one))
}
