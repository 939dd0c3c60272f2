package journal_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/journal"
)

var errDisk = errors.New("disk on fire")

// A faulty is a disk on which operations fail, by name, or block.
type faulty struct {
	journal.Disk
	mu    sync.Mutex
	fails map[string]bool // "create", "write", "sync", "dir", "truncate", "remove"
	half  bool            // a failing write writes half of its data
	hang  chan struct{}   // blocks Sync until it is closed
	syncs int
}

func newFaulty() *faulty { return &faulty{Disk: journal.RealDisk, fails: map[string]bool{}} }

func (d *faulty) set(half bool, operations ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.fails)
	d.half = half
	for _, o := range operations {
		d.fails[o] = true
	}
}

func (d *faulty) fail(operation string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fails[operation] {
		return errDisk
	}
	return nil
}

func (d *faulty) Create(path string) (journal.File, error) {
	if err := d.fail("create"); err != nil {
		return nil, err
	}
	f, err := d.Disk.Create(path)
	return &faultyFile{f, d}, err
}

func (d *faulty) Open(path string) (journal.File, error) {
	f, err := d.Disk.Open(path)
	return &faultyFile{f, d}, err
}

func (d *faulty) Remove(path string) error {
	return errors.Join(d.fail("remove"), d.Disk.Remove(path))
}

func (d *faulty) SyncDir(path string) error {
	return errors.Join(d.fail("dir"), d.Disk.SyncDir(path))
}

type faultyFile struct {
	journal.File
	d *faulty
}

func (f *faultyFile) WriteAt(b []byte, at int64) (int, error) {
	if err := f.d.fail("write"); err != nil {
		if f.d.half {
			_, _ = f.File.WriteAt(b[:len(b)/2], at)
		}
		return 0, err
	}
	return f.File.WriteAt(b, at)
}

func (f *faultyFile) Sync() error {
	f.d.mu.Lock()
	f.d.syncs++
	hang := f.d.hang
	f.d.mu.Unlock()
	if hang != nil {
		<-hang
	}
	if err := f.d.fail("sync"); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultyFile) Truncate(size int64) error {
	if err := f.d.fail("truncate"); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

// errorLog collects the errors passed to OnError.
type errorLog struct {
	mu   sync.Mutex
	list []error
}

func (l *errorLog) on(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, err)
}

func (l *errorLog) errors() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]error(nil), l.list...)
}

// TestDiskFailsAndRecovers verifies that data that could not be written is written
// exactly once when the disk works again, whatever part of it had reached the disk.
func TestDiskFailsAndRecovers(t *testing.T) {
	for name, tc := range map[string]struct {
		half       bool
		operations []string
	}{
		"no new file":                   {false, []string{"create"}},
		"write":                         {false, []string{"write"}},
		"half a write":                  {true, []string{"write"}},
		"half a write, not cut":         {true, []string{"write", "truncate"}},
		"sync":                          {false, []string{"sync"}},
		"sync, not cut":                 {false, []string{"sync", "truncate"}},
		"sync, neither cut nor removed": {false, []string{"sync", "truncate", "remove"}},
		"folder":                        {false, []string{"dir"}},
		"folder, not removed":           {false, []string{"dir", "remove"}},
		"all":                           {true, []string{"create", "write", "sync", "truncate", "dir", "remove"}},
	} {
		for _, when := range []string{"on the first file", "later"} {
			t.Run(name+" "+when, func(t *testing.T) {
				d, l := newFaulty(), &errorLog{}
				c := journal.OnDisk(journal.Config{Dir: t.TempDir(), OnError: l.on, Delay: time.Hour}, d)
				j := open(t, c)
				j.Covered(0, at(0))
				first := uint64(0)
				if when == "later" {
					first = 6
					for i, n := range recordCounts[:first] {
						appendRecords(j, uint64(i)+1, n)
					}
					require.NoError(t, j.Flush())
				}
				d.set(tc.half, tc.operations...)
				replay(j, first)
				fails := when == "on the first file" || tc.operations[0] != "create" && tc.operations[0] != "dir"
				if fails {
					require.ErrorIs(t, j.Flush(), errDisk)
					require.ErrorIs(t, j.Flush(), errDisk)
					require.ErrorIs(t, j.Err(), errDisk)
					require.Len(t, l.errors(), 1, "a persistent error is reported once")
				}
				requireConsistent(t, j)
				require.Equal(t, wholeSpans, j.Spans(), "unwritten frames stay in memory")

				d.set(false)
				require.NoError(t, j.Flush())
				require.NoError(t, j.Err())
				requireConsistent(t, j)
				require.NoError(t, j.Close())
				j = open(t, configIn(c.Dir))
				requireConsistent(t, j)
				require.Equal(t, wholeSpans, j.Spans())
			})
		}
	}
}

// TestCrashWhileTheDiskFails verifies that a restart handles what a failing disk left
// behind, together with the replayed log.
func TestCrashWhileTheDiskFails(t *testing.T) {
	for _, half := range []bool{true, false} {
		d := newFaulty()
		c := journal.OnDisk(journal.Config{Dir: t.TempDir(), Delay: time.Hour}, d)
		j := open(t, c)
		j.Covered(0, at(0))
		for i, n := range recordCounts[:6] {
			appendRecords(j, uint64(i)+1, n)
		}
		require.NoError(t, j.Flush())
		operations := []string{"sync", "truncate", "remove"}
		if half {
			operations[0] = "write"
		}
		d.set(half, operations...)
		replay(j, 6)
		require.Error(t, j.Flush())
		require.Error(t, j.Flush())
		require.Error(t, j.Close())
		j = open(t, configIn(c.Dir))
		requireConsistent(t, j)
		replay(j, 3)
		requireConsistent(t, j)
		require.Equal(t, wholeSpans, j.Spans())
		require.NoError(t, j.Close())
		j = open(t, configIn(c.Dir))
		requireConsistent(t, j)
		require.Equal(t, wholeSpans, j.Spans())
	}
}

// TestRetried verifies that writing is retried without a Flush.
func TestRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, l := newFaulty(), &errorLog{}
		j := open(t, journal.OnDisk(journal.Config{Dir: t.TempDir(), OnError: l.on}, d))
		d.set(false, "write")
		appendRecords(j, 1, 1)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.ErrorIs(t, j.Err(), errDisk)
		require.Len(t, l.errors(), 1)
		d.set(false)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.NoError(t, j.Err())
		require.Len(t, segments(t, j.Dir()), 1, "failed attempts left files")
		// The same for coverage without records.
		j.Covered(5, at(5))
		d.set(false, "write")
		require.ErrorIs(t, j.Flush(), errDisk)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		require.ErrorIs(t, j.Err(), errDisk)
		require.Len(t, l.errors(), 2)
		d.set(false)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.NoError(t, j.Err())
		require.NoError(t, j.Close())
		j = open(t, configIn(j.Dir()))
		require.Equal(t, uint64(5), j.Last())
		require.NoError(t, j.Close())
	})
}

// TestNothingWaitsForTheDisk verifies that Append doesn't block while Sync hangs.
func TestNothingWaitsForTheDisk(t *testing.T) {
	d := newFaulty()
	j := open(t, journal.OnDisk(journal.Config{Dir: t.TempDir(), Delay: time.Nanosecond}, d))
	j.Covered(0, at(0))
	require.NoError(t, j.Flush())
	d.mu.Lock()
	d.hang = make(chan struct{})
	began := d.syncs
	d.mu.Unlock()
	flushed := make(chan error)
	appendRecords(j, 1, 1)
	go func() { flushed <- j.Flush() }()
	require.Eventually(t, func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.syncs > began
	}, 5*time.Second, time.Millisecond)
	replay(j, 1)
	requireConsistent(t, j)
	assert.Equal(t, wholeSpans, j.Spans())
	assert.Equal(t, uint64(12), j.Last())
	select {
	case <-flushed:
		assert.Fail(t, "Flush returned before Sync")
	default:
	}
	d.mu.Lock()
	close(d.hang)
	d.hang = nil
	d.mu.Unlock()
	require.NoError(t, <-flushed)
	require.NoError(t, j.Close())
	requireConsistent(t, open(t, configIn(j.Dir())))
}

// TestMemoryIsBounded verifies that frames beyond the memory limit are dropped, reported,
// and become a gap.
func TestMemoryIsBounded(t *testing.T) {
	d, l := newFaulty(), &errorLog{}
	j := open(t, journal.OnDisk(journal.Config{Dir: t.TempDir(), OnError: l.on, Delay: time.Hour}, d))
	j.Covered(0, at(0))
	appendRecords(j, 1, 1)
	require.NoError(t, j.Flush())
	d.set(false, "write")
	big := []byte(strings.Repeat("x", 1<<20))
	for seq := uint64(2); seq <= 11; seq++ {
		j.Append(seq, at(seq), big)
	}
	d.set(false)
	j.Append(12, at(12), []byte("small"))
	require.NoError(t, j.Flush())
	spans := j.Spans()
	require.Len(t, spans, 2)
	assert.Equal(t, span(1, 1), spans[0])
	assert.Equal(t, uint64(12), spans[1].To)
	require.NotEmpty(t, l.errors())
	var have []uint64
	for r, err := range j.Records(0) {
		require.NoError(t, err)
		have = append(have, r.Seq)
	}
	for _, s := range spans {
		for seq := s.From; seq <= s.To; seq++ {
			assert.Contains(t, have, seq)
		}
	}
	assert.Contains(t, have, uint64(12))
	require.NoError(t, j.Close())
	assert.Equal(t, spans, open(t, configIn(j.Dir())).Spans())
}

// TestOversizedCommand verifies that an oversized command is dropped, reported, and
// becomes a gap.
func TestOversizedCommand(t *testing.T) {
	l := &errorLog{}
	j := open(t, journal.Config{Dir: t.TempDir(), OnError: l.on})
	j.Covered(0, at(0))
	appendRecords(j, 1, 1)
	j.Append(2, at(2), make([]byte, journal.MaxFrame))
	appendRecords(j, 3, 1)
	require.NoError(t, j.Flush())
	assert.Equal(t, []journal.Span{span(1, 1), span(3, 3)}, j.Spans())
	assert.Len(t, l.errors(), 1)
	assert.Equal(t, []uint64{1, 3}, numbers(records(t, j, 0)))
}

// TestReadErrors verifies that a missing or truncated segment is reported.
func TestReadErrors(t *testing.T) {
	j := open(t, configIn(writtenDir(t)))
	path := segments(t, j.Dir())[0]
	require.NoError(t, os.Truncate(path, 100))
	damaged := false
	for _, err := range j.Records(0) {
		damaged = damaged || errors.Is(err, journal.ErrDamaged)
	}
	assert.True(t, damaged)
	require.NoError(t, os.Rename(path, filepath.Join(j.Dir(), "away")))
	for _, err := range j.Records(0) {
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	require.ErrorIs(t, j.Export(new(strings.Builder)), fs.ErrNotExist)
}
