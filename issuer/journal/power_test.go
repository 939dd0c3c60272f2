package journal_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/journal"
)

// A lossy is a disk that loses everything that was not synced when the power fails.
type lossy struct {
	journal.Disk
	mu      sync.Mutex
	off     bool
	folders int // number of syncs of a folder
}

func (d *lossy) powerOff() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.off = true
}

func (d *lossy) SyncDir(path string) error {
	return d.on(func() error { d.folders++; return d.Disk.SyncDir(path) })
}

func (d *lossy) synced() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.folders
}

func (d *lossy) on(do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.off {
		return errDisk
	}
	return do()
}

func (d *lossy) Create(path string) (f journal.File, err error) {
	err = d.on(func() error { f, err = d.Disk.Create(path); return err })
	return &lossyFile{File: f, d: d}, err
}

func (d *lossy) Open(path string) (f journal.File, err error) {
	err = d.on(func() error { f, err = d.Disk.Open(path); return err })
	return &lossyFile{File: f, d: d}, err
}

// A lossyFile defers operations until it is synced.
type lossyFile struct {
	journal.File
	d     *lossy
	queue []func() error
}

func (f *lossyFile) WriteAt(b []byte, at int64) (int, error) {
	b = append([]byte(nil), b...)
	f.queue = append(f.queue, func() error { _, err := f.File.WriteAt(b, at); return err })
	return len(b), f.d.on(func() error { return nil })
}

func (f *lossyFile) Truncate(size int64) error {
	f.queue = append(f.queue, func() error { return f.File.Truncate(size) })
	return f.d.on(func() error { return nil })
}

func (f *lossyFile) Sync() error {
	return f.d.on(func() error {
		for _, do := range f.queue {
			if err := do(); err != nil {
				return err
			}
		}
		f.queue = nil
		return nil
	})
}

// TestPowerCut verifies that what Flush confirmed is present after a power failure, and
// that replaying the log since then completes the journal.
func TestPowerCut(t *testing.T) {
	for flushed := range len(recordCounts) {
		for cut := flushed; cut <= len(recordCounts); cut++ {
			dir := t.TempDir()
			for _, again := range []bool{false, true} { // the second run continues after the first
				d := &lossy{Disk: journal.RealDisk}
				j := open(t, journal.OnDisk(journal.Config{Dir: dir, Delay: time.Hour}, d))
				if !again {
					j.Skipped(0, 0, at(0))
				}
				for i, n := range recordCounts[:cut] {
					if i == flushed {
						require.NoError(t, j.Flush())
					}
					if seq := uint64(i) + 1; n > 0 {
						appendRecords(j, seq, n)
					} else {
						j.Covered(seq, at(seq))
					}
				}
				if cut == flushed {
					require.NoError(t, j.Flush())
				}
				d.powerOff()
				_ = j.Close() // fails, since its files are gone

				j = open(t, configIn(dir))
				require.Zero(t, j.Recovered())
				require.GreaterOrEqual(t, j.Last(), uint64(flushed))
				requireConsistent(t, j)
				require.NoError(t, j.Close())
			}
			j := open(t, configIn(dir))
			j.Skipped(0, uint64(flushed), at(uint64(flushed))) // the snapshot for which Flush was called
			replay(j, uint64(flushed))
			requireConsistent(t, j)
			require.Equal(t, wholeSpans, j.Spans(), "flushed at %d, cut at %d", flushed, cut)
			require.NoError(t, j.Close())
		}
	}
}

// TestLabelSurvivesAPowerCut verifies that the complete file and its folder entry are on
// disk once SetLabel has returned.
func TestLabelSurvivesAPowerCut(t *testing.T) {
	dir := t.TempDir()
	d := &lossy{Disk: journal.RealDisk}
	j, err := journal.Open(journal.OnDisk(journal.Config{Dir: dir}, d))
	require.NoError(t, err)
	require.NoError(t, j.SetLabel([]byte("whose it is")))
	synced := d.synced()
	require.NoError(t, j.SetLabel([]byte("another's")))
	require.Equal(t, synced+1, d.synced(), "the folder was not synced")
	d.powerOff()
	label, err := j.Label()
	require.NoError(t, err)
	require.Equal(t, "another's", string(label))
	_ = j.Close()
}
