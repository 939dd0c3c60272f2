package journal_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/journal"
)

// lossy is a disk that loses what was not synced when the power goes.
type lossy struct {
	journal.Disk
	mu      sync.Mutex
	off     bool
	folders int // how often one was synced
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

// lossyFile keeps what is done to it until it is synced.
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

// TestPowerCut: what a Flush has answered for is there after a power cut, and
// the log that is kept since then makes the journal whole.
func TestPowerCut(t *testing.T) {
	for flushed := range len(recordCounts) {
		for cut := flushed; cut <= len(recordCounts); cut++ {
			dir := t.TempDir()
			for _, again := range []bool{false, true} { // the second starts on what the first left
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
				_ = j.Close() // its files are gone from under it

				j = open(t, configIn(dir))
				require.Zero(t, j.Recovered())
				require.GreaterOrEqual(t, j.Last(), uint64(flushed))
				requireConsistent(t, j)
				require.NoError(t, j.Close())
			}
			j := open(t, configIn(dir))
			j.Skipped(0, uint64(flushed), at(uint64(flushed))) // the snapshot that the Flush was for
			replay(j, uint64(flushed))
			requireConsistent(t, j)
			require.Equal(t, wholeSpans, j.Spans(), "flushed at %d, cut at %d", flushed, cut)
			require.NoError(t, j.Close())
		}
	}
}

// TestLabelSurvivesAPowerCut: SetLabel has returned, so the text is there, whole,
// and so is its name.
func TestLabelSurvivesAPowerCut(t *testing.T) {
	dir := t.TempDir()
	d := &lossy{Disk: journal.RealDisk}
	j, err := journal.Open(journal.OnDisk(journal.Config{Dir: dir}, d))
	require.NoError(t, err)
	require.NoError(t, j.SetLabel([]byte("whose it is")))
	synced := d.synced()
	require.NoError(t, j.SetLabel([]byte("another's")))
	require.Equal(t, synced+1, d.synced(), "the folder, too")
	d.powerOff()
	label, err := j.Label()
	require.NoError(t, err)
	require.Equal(t, "another's", string(label))
	_ = j.Close()
}
