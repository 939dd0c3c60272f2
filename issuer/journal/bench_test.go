package journal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/journal"
)

// discardDisk is a disk that discards all writes.
type discardDisk struct{ journal.Disk }

func (discardDisk) Create(string) (journal.File, error) { return discardFile{}, nil }
func (discardDisk) SyncDir(string) error                { return nil }
func (discardDisk) Remove(string) error                 { return nil }

type discardFile struct{ journal.File }

func (discardFile) WriteAt(b []byte, _ int64) (int, error) { return len(b), nil }
func (discardFile) Sync() error                            { return nil }
func (discardFile) Close() error                           { return nil }

// BenchmarkAppend measures what the state machine waits for.
func BenchmarkAppend(b *testing.B) {
	j := open(b, journal.OnDisk(journal.Config{Dir: b.TempDir(), Delay: time.Millisecond}, discardDisk{journal.RealDisk}))
	record := make([]byte, 120)
	b.ReportAllocs()
	seq := uint64(0)
	for b.Loop() {
		seq++
		j.Append(seq, int64(seq), record)
	}
	require.NoError(b, j.Err())
}

// BenchmarkCovered measures what the state machine waits for if a command has no record.
func BenchmarkCovered(b *testing.B) {
	j := open(b, configIn(b.TempDir()))
	b.ReportAllocs()
	seq := uint64(0)
	for b.Loop() {
		seq++
		j.Covered(seq, int64(seq))
	}
}

// TestAppendAllocatesNothing verifies that Append allocates only to grow its buffer.
func TestAppendAllocatesNothing(t *testing.T) {
	j := open(t, journal.OnDisk(journal.Config{Dir: t.TempDir(), Delay: time.Hour}, discardDisk{journal.RealDisk}))
	record := make([]byte, 100)
	seq := uint64(0)
	one := func() {
		seq++
		j.Append(seq, int64(seq), record, record)
	}
	for range 4000 { // the buffers reach their size after two flushes
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
