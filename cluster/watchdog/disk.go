package watchdog

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	diskInterval = 500 * time.Millisecond
	diskLimit    = 2 * time.Second
	// diskSteps is in how many parts the limit is waited for. Time for which this
	// process was stopped or starved counts as one of them, or two: the disk can't
	// be blamed for it.
	diskSteps = 8
)

// DiskState is how the disk under the data folder does.
type DiskState struct {
	// Hung says that a write has not returned within the limit.
	Hung bool
	// Err is why the last write failed, nil if it did not. A full disk may fail
	// it too: then Space says so.
	Err error
	// Since is when the disk began to hang or to fail, zero when it does neither.
	Since time.Time
	// Free is how many bytes are free, Space what that means.
	Free  uint64
	Space SpaceLevel
}

// Bad says that the disk hangs or fails.
func (s DiskState) Bad() bool { return s.Hung || s.Err != nil }

// Trouble is what keeps a node from deciding anything, nil if nothing does.
func (s DiskState) Trouble() error {
	switch {
	case s.Hung:
		return fmt.Errorf("a write has not returned since %s", s.Since.Format(time.RFC3339))
	case s.Space == SpaceOut: // before the error, which it may be the cause of
		return ErrNoSpace
	case s.Err != nil:
		return fmt.Errorf("it does not take writes: %w", s.Err)
	}
	return nil
}

// ErrNoSpace is the trouble of a disk that is full.
var ErrNoSpace = errors.New("the disk is full, except for space that the log needs to stay intact")

// DiskProber is what Disk does with the disk. probe and space may take for
// ever. One goroutine calls all.
type DiskProber interface {
	// Probe writes a few bytes and returns when they are on the disk.
	Probe() error
	// Space returns how many bytes are free, of how many. It returns
	// errors.ErrUnsupported where that can't be told.
	Space() (free, total uint64, err error)
	// Close is called once, last.
	Close()
}

// DiskConfig is for NewDisk.
type DiskConfig struct {
	Prober   DiskProber
	interval time.Duration // between writes; default: diskInterval
	limit    time.Duration // for one of them; default: diskLimit
	low      uint64        // free bytes below which space is low; default: see spaceThresholds
}

// Disk looks after the disk, because raft does not: a leader whose disk
// hangs goes on to lead and commits nothing, as its heartbeats need no disk, and
// one whose disk fails steps down and is elected again (hashicorp/raft #503 and
// #614).
//
// One goroutine writes, and waits as long as the disk pleases; another one waits
// for it with a clock. There is one write at a time, so that nothing piles up
// while the disk hangs; when it returns the disk is fine again.
type Disk struct {
	config  DiskConfig
	current atomic.Pointer[diskReport]

	requests  chan struct{}   // for the next write
	results   chan diskResult // buffered: a write that returns late finds nobody
	ready     chan struct{}   // closed with the first state
	once      sync.Once
	stop      chan struct{}
	waitDone  chan struct{} // the goroutine that waits has ended
	writeDone chan struct{} // the goroutine that writes has ended
}

// diskReport is a state, with the channel that is closed when it is over.
type diskReport struct {
	state   DiskState
	changed chan struct{}
}

// diskResult is what one round came to.
type diskResult struct {
	err         error
	spaceErr    error
	free, total uint64
}

// NewDisk starts to watch. It returns when the first state is known, which
// takes no longer than the limit. It is for close to end it.
func NewDisk(c DiskConfig) *Disk {
	c.interval, c.limit = cmp.Or(c.interval, diskInterval), cmp.Or(c.limit, diskLimit)
	w := &Disk{
		config:    c,
		requests:  make(chan struct{}),
		results:   make(chan diskResult, 1),
		ready:     make(chan struct{}),
		stop:      make(chan struct{}),
		waitDone:  make(chan struct{}),
		writeDone: make(chan struct{}),
	}
	w.current.Store(&diskReport{changed: make(chan struct{})})
	go w.write()
	go w.wait()
	<-w.ready
	return w
}

// State returns how the disk does.
func (w *Disk) State() DiskState { return w.current.Load().state }

// Get returns how the disk does, and a channel that is closed when that changes:
// when it begins or stops to hang or to fail, or has another level of space.
func (w *Disk) Get() (DiskState, <-chan struct{}) {
	r := w.current.Load()
	return r.state, r.changed
}

// Close ends the watch. It waits for a write that is within the limit, so that
// the folder is left alone afterwards; one that hangs ends, with its goroutine,
// when the disk lets it. It is called once.
func (w *Disk) Close() {
	close(w.stop)
	<-w.waitDone
}

// write is the goroutine that writes.
func (w *Disk) write() {
	defer close(w.writeDone)
	defer w.config.Prober.Close()
	for range w.requests {
		var a diskResult
		a.err = w.config.Prober.Probe()
		a.free, a.total, a.spaceErr = w.config.Prober.Space()
		w.results <- a
	}
}

// wait is the goroutine that waits for it.
func (w *Disk) wait() {
	defer close(w.waitDone)
	for w.round() && w.pause() {
	}
	close(w.requests)
	if w.State().Hung {
		return
	}
	late := time.NewTimer(w.config.limit)
	defer late.Stop()
	select {
	case <-w.writeDone:
	case <-late.C: // it hangs in closing the file
	}
}

// pause returns false at the end.
func (w *Disk) pause() bool {
	timer := time.NewTimer(w.config.interval)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.stop:
		return false
	}
}

// round has one write made and tells what came of it. It returns false when the
// watch ends while the write hangs.
func (w *Disk) round() bool {
	began := time.Now()
	w.requests <- struct{}{}
	answer, ok := w.awaitResult()
	if !ok {
		s := w.State()
		if s.Hung = true; s.Since.IsZero() {
			s.Since = began
		}
		w.publish(s)
		select {
		case answer = <-w.results:
		case <-w.stop:
			return false
		}
	}
	w.publish(w.nextState(answer, began))
	return true
}

// awaitResult waits for the answer up to the limit.
func (w *Disk) awaitResult() (diskResult, bool) {
	step := time.NewTicker(max(w.config.limit/diskSteps, 1))
	defer step.Stop()
	for range diskSteps {
		select {
		case a := <-w.results:
			return a, true
		case <-step.C:
		}
	}
	select {
	case a := <-w.results: // at the same moment
		return a, true
	default:
		return diskResult{}, false
	}
}

// nextState returns the state after an answer.
func (w *Disk) nextState(a diskResult, began time.Time) DiskState {
	s := w.State()
	s.Hung, s.Err = false, a.err
	switch {
	case errors.Is(a.spaceErr, errors.ErrUnsupported):
	case a.spaceErr != nil:
		s.Err = errors.Join(s.Err, a.spaceErr)
	case a.total == 0: // a file system that doesn't count
		s.Free, s.Space = 0, spaceOK
	default:
		low, out := spaceThresholds(a.total, w.config.low)
		s.Free, s.Space = a.free, s.Space.next(a.free, low, out)
	}
	switch {
	case s.Err == nil:
		s.Since = time.Time{}
	case s.Since.IsZero():
		s.Since = began
	}
	return s
}

// publish publishes a state.
func (w *Disk) publish(s DiskState) {
	was := w.current.Load()
	next := &diskReport{state: s, changed: was.changed}
	changed := s.Hung != was.state.Hung || (s.Err == nil) != (was.state.Err == nil) || s.Space != was.state.Space
	if changed {
		next.changed = make(chan struct{})
	}
	w.current.Store(next)
	if changed {
		close(was.changed)
	}
	w.once.Do(func() { close(w.ready) })
}
