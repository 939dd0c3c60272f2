package watchdog

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/store"
)

// fakeDisk hangs, fails and fills up on demand.
type fakeDisk struct {
	mu        sync.Mutex
	hang      chan struct{} // if not nil, a write waits until it is closed
	err       error
	spaceErr  error
	free      uint64
	total     uint64
	writeTime time.Duration // of each write

	count diskCount
}

type diskCount struct {
	writes, inFlight, maxInFlight int // writes so far, under way, at once
	closed                        int
}

func newFakeDisk() *fakeDisk {
	return &fakeDisk{free: 8000, total: 10_000, writeTime: time.Millisecond}
}

func (d *fakeDisk) Probe() error {
	d.mu.Lock()
	d.count.writes++
	d.count.inFlight++
	d.count.maxInFlight = max(d.count.maxInFlight, d.count.inFlight)
	hang, takes := d.hang, d.writeTime
	d.mu.Unlock()
	time.Sleep(takes)
	if hang != nil {
		<-hang
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count.inFlight--
	return d.err
}

func (d *fakeDisk) Space() (uint64, uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.free, d.total, d.spaceErr
}

func (d *fakeDisk) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count.closed++
}

func (d *fakeDisk) counts() diskCount {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

func (d *fakeDisk) set(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

func (d *fakeDisk) watch() *Disk { return NewDisk(DiskConfig{Prober: d, low: 400}) }

func isClosedChan(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

func TestDiskIsFine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFakeDisk()
		w := d.watch()
		state, over := w.Get()
		require.Equal(t, DiskState{Free: 8000}, state, "known when NewDisk returns")
		d.set(func() { d.free = 7000 })
		time.Sleep(time.Minute)
		require.Equal(t, DiskState{Free: 7000}, w.State())
		require.False(t, isClosedChan(over), "a change of Free alone does not close the channel")
		w.Close()
		require.InDelta(t, 120, d.counts().writes, 2)
		require.Equal(t, 1, d.counts().maxInFlight)
		require.Equal(t, 1, d.counts().closed)
	})
}

// A write that never returns is noticed within the limit. No further writes are made
// until it returns, and then the state is good again.
func TestDiskHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFakeDisk()
		w := d.watch()
		_, over := w.Get()
		hang := make(chan struct{})
		d.set(func() { d.hang = hang })
		from := time.Now()
		<-over
		state, over := w.Get()
		require.True(t, state.Hung)
		require.True(t, state.Bad())
		require.NoError(t, state.Err)
		require.WithinDuration(t, from, state.Since, diskInterval)
		require.Equal(t, diskLimit, time.Since(state.Since))
		require.Equal(t, uint64(8000), state.Free, "what was known")

		writes := d.counts().writes
		time.Sleep(time.Hour)
		require.Equal(t, writes, d.counts().writes)
		require.Equal(t, state, w.State())
		require.False(t, isClosedChan(over))

		d.set(func() { d.hang = nil })
		close(hang)
		<-over
		require.Equal(t, DiskState{Free: 8000}, w.State())
		time.Sleep(time.Minute)
		require.Greater(t, d.counts().writes, writes+100, "further writes are made")
		require.Equal(t, 1, d.counts().maxInFlight)
		w.Close()
		require.Equal(t, 1, d.counts().closed)
	})
}

// A slow disk does not count as hung, up to the limit.
func TestDiskIsSlow(t *testing.T) {
	for takes, hung := range map[time.Duration]bool{
		diskLimit - 10*time.Millisecond: false,
		diskLimit + 10*time.Millisecond: true,
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newFakeDisk()
			w := d.watch()
			_, over := w.Get()
			d.set(func() { d.writeTime = takes })
			time.Sleep(time.Minute)
			require.Equal(t, hung, isClosedChan(over), "%s", takes)
			w.Close()
			<-w.writeDone
		})
	}
}

// A disk that hangs at the start delays NewDisk no longer than the limit.
func TestDiskHangsFromTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFakeDisk()
		d.hang = make(chan struct{})
		start := time.Now()
		w := d.watch()
		require.Equal(t, diskLimit, time.Since(start))
		require.True(t, w.State().Hung)
		w.Close()
		close(d.hang)
	})
}

// A write that fails after it hung is a failure since it began to hang.
func TestDiskHangsThenFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFakeDisk()
		d.hang = make(chan struct{})
		start := time.Now()
		w := d.watch()
		time.Sleep(time.Minute)
		d.set(func() { d.err = syscall.EIO })
		_, over := w.Get()
		close(d.hang)
		<-over
		state := w.State()
		require.False(t, state.Hung)
		require.ErrorIs(t, state.Err, syscall.EIO)
		require.Equal(t, start, state.Since)
		w.Close()
	})
}

// A disk that fails and then hangs is bad since it first failed.
func TestDiskFailsThenHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFakeDisk()
		d.err = syscall.EIO
		start := time.Now()
		w := d.watch()
		time.Sleep(time.Minute)
		hang := make(chan struct{})
		d.set(func() { d.hang = hang })
		time.Sleep(time.Minute)
		state := w.State()
		require.True(t, state.Hung)
		require.ErrorIs(t, state.Err, syscall.EIO)
		require.Equal(t, start, state.Since)
		w.Close()
		close(hang)
	})
}

func TestDiskFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFakeDisk()
		w := d.watch()
		_, over := w.Get()
		d.set(func() { d.err = syscall.EIO })
		<-over
		state, over := w.Get()
		require.ErrorIs(t, state.Err, syscall.EIO)
		require.True(t, state.Bad())
		require.False(t, state.Hung)
		require.WithinDuration(t, time.Now(), state.Since, diskInterval)
		d.set(func() { d.err = syscall.EROFS })
		time.Sleep(time.Minute)
		require.False(t, isClosedChan(over), "the disk still fails")
		require.ErrorIs(t, w.State().Err, syscall.EROFS)
		require.Equal(t, state.Since, w.State().Since)
		d.set(func() { d.err = nil; d.spaceErr = syscall.EIO })
		time.Sleep(time.Minute)
		require.ErrorIs(t, w.State().Err, syscall.EIO, "reading the free space fails too")
		require.Equal(t, uint64(8000), w.State().Free, "what was known")
		d.set(func() { d.spaceErr = nil })
		<-over
		require.Equal(t, DiskState{Free: 8000}, w.State())
		w.Close()
	})
}

// A full disk fails a write, and the state reports the space.
func TestDiskFillsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFakeDisk()
		w := d.watch()
		for _, step := range []struct {
			free  uint64
			err   error
			level SpaceLevel
		}{
			{399, nil, SpaceLow},
			{99, nil, SpaceOut},
			{0, syscall.ENOSPC, SpaceOut},
			{105, nil, SpaceOut}, // writes succeed, the level is still out
			{120, nil, SpaceLow},
			{420, nil, SpaceLow},
			{441, nil, spaceOK},
		} {
			_, over := w.Get()
			d.set(func() { d.free, d.err = step.free, step.err })
			if step.free != 420 {
				<-over
			}
			time.Sleep(2 * diskInterval)
			state := w.State()
			require.Equal(t, step.level, state.Space, "%d free", step.free)
			require.Equal(t, step.free, state.Free)
			require.ErrorIs(t, state.Err, step.err)
		}
		w.Close()
	})
}

// A file system that reports no size has level spaceOK.
func TestDiskOfUnknownSize(t *testing.T) {
	for name, tell := range map[string]func(*fakeDisk){
		"not on this system": func(d *fakeDisk) { d.spaceErr = errors.ErrUnsupported },
		"not counted":        func(d *fakeDisk) { d.free, d.total = 0, 0 },
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newFakeDisk()
			tell(d)
			d.free = 0
			w := d.watch()
			require.Equal(t, DiskState{}, w.State(), name)
			w.Close()
		})
	}
}

// Close waits for a write that is within the limit, and then for its file.
func TestDiskCloseWaitsForTheWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFakeDisk()
		w := d.watch()
		d.set(func() { d.writeTime = diskLimit / 2 })
		time.Sleep(diskInterval + time.Millisecond) // a write is under way
		require.Equal(t, 1, d.counts().inFlight)
		w.Close()
		require.Zero(t, d.counts().inFlight)
		require.Equal(t, 1, d.counts().closed)
	})
}

// Close does not wait for a write that hangs, and no longer than the limit for one that
// is about to. The write's goroutine ends with the write; otherwise synctest would fail
// this test.
func TestDiskCloseLeavesAHungWrite(t *testing.T) {
	for name, after := range map[string]time.Duration{"known to hang": time.Hour, "about to": diskInterval + time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			d := newFakeDisk()
			w := d.watch()
			hang := make(chan struct{})
			d.set(func() { d.hang = hang })
			time.Sleep(after)
			require.Equal(t, 1, d.counts().inFlight, name)
			start := time.Now()
			w.Close()
			require.Equal(t, w.State().Since.Add(diskLimit).After(start), time.Since(start) > 0, name)
			require.LessOrEqual(t, time.Since(start), diskLimit, name)
			require.Zero(t, d.counts().closed)
			close(hang)
			synctest.Wait()
			require.Equal(t, 1, d.counts().closed, "closed when the write returned")
		})
	}
}

// State and Get may be called from any goroutine.
func TestDiskReadersSeeEveryChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newFakeDisk()
		w := d.watch()
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for want := range 20 {
					state, over := w.Get()
					for (state.Err != nil) != (want%2 == 1) {
						<-over
						state, over = w.Get()
					}
				}
			})
		}
		for i := range 20 {
			time.Sleep(2 * diskInterval)
			d.set(func() {
				d.err = nil
				if i%2 == 0 {
					d.err = syscall.EIO
				}
			})
		}
		readers.Wait()
		w.Close()
	})
}

// TestDiskFolder probes a real folder.
func TestDiskFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	w := NewDisk(DiskConfig{Prober: &DiskFolder{Dir: dir}, interval: time.Millisecond})
	state, over := w.Get()
	require.ErrorIs(t, state.Err, os.ErrNotExist)
	require.NoError(t, os.Mkdir(dir, 0o700))
	<-over
	require.NoError(t, w.State().Err, "the file is opened again after an error")
	require.Positive(t, w.State().Free)
	info, err := os.Stat(filepath.Join(dir, "probe"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(store.ModeFile), info.Mode())
	require.Equal(t, int64(8), info.Size())
	w.Close()
	require.NoError(t, os.RemoveAll(dir))
	time.Sleep(5 * time.Millisecond)
	require.NoDirExists(t, dir, "the folder is not made again")
}

func BenchmarkDisk(b *testing.B) {
	b.Run("state", func(b *testing.B) {
		w := NewDisk(DiskConfig{Prober: &DiskFolder{Dir: b.TempDir()}})
		for b.Loop() {
			_ = w.State()
		}
		w.Close()
	})
	b.Run("probe", func(b *testing.B) {
		d := &DiskFolder{Dir: b.TempDir()}
		defer d.Close()
		for b.Loop() {
			if err := d.Probe(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
