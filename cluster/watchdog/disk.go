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
	// diskSteps is the number of steps in which the limit is waited for. Time for which
	// this process was stopped or starved counts as one or two steps, since the disk did
	// not cause it.
	diskSteps = 8
)

// DiskState is the state of the disk under the data folder.
type DiskState struct {
	// Hung reports that a write has not returned within the limit.
	Hung bool
	// Err is the error of the last write, nil if it succeeded. A full disk may be its
	// cause: see Space.
	Err error
	// Since is when the disk began to hang or to fail; zero if it does neither.
	Since time.Time
	// Free is the number of free bytes, and Space its level.
	Free  uint64
	Space SpaceLevel
}

// Bad reports whether the disk hangs or fails.
func (s DiskState) Bad() bool { return s.Hung || s.Err != nil }

// Trouble returns why the node can't decide anything because of the disk, or nil.
func (s DiskState) Trouble() error {
	switch {
	case s.Hung:
		return fmt.Errorf("a write has not returned since %s", s.Since.Format(time.RFC3339))
	case s.Space == SpaceOut: // before Err, which it may have caused
		return ErrNoSpace
	case s.Err != nil:
		return fmt.Errorf("writes fail: %w", s.Err)
	}
	return nil
}

// ErrNoSpace reports that a disk is full.
var ErrNoSpace = errors.New("the disk is full, except for space that the log needs to stay intact")

// DiskProber is the access of Disk to the disk. Probe and Space may block forever. One
// goroutine calls all methods.
type DiskProber interface {
	// Probe writes a few bytes, and returns when they are on the disk.
	Probe() error
	// Space returns the free and the total number of bytes. It returns
	// errors.ErrUnsupported if the system does not report them.
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

// Disk probes the disk, because raft does not: a leader whose disk hangs keeps leading
// and commits nothing, as its heartbeats need no disk, and one whose disk fails steps
// down and is elected again (hashicorp/raft #503 and #614).
//
// One goroutine writes, and blocks as long as the disk does; another one waits for it
// with a time limit. There is one write at a time, so that nothing accumulates while the
// disk hangs; when the write returns, the disk is good again.
type Disk struct {
	config  DiskConfig
	current atomic.Pointer[diskReport]

	requests  chan struct{}   // requests the next write
	results   chan diskResult // buffered: nothing receives the result of a late write
	ready     chan struct{}   // closed when the first state is known
	once      sync.Once
	stop      chan struct{}
	waitDone  chan struct{} // closed when wait has returned
	writeDone chan struct{} // closed when write has returned
}

// diskReport is a state, with the channel that is closed when it ends.
type diskReport struct {
	state   DiskState
	changed chan struct{}
}

// diskResult is the result of one round.
type diskResult struct {
	err         error
	spaceErr    error
	free, total uint64
}

// NewDisk starts the probe. It returns when the first state is known, within the limit.
// The caller calls Close.
func NewDisk(c DiskConfig) *Disk {
	c.interval, c.limit = cmp.Or(c.interval, diskInterval), cmp.Or(c.limit, diskLimit)
	d := &Disk{
		config:    c,
		requests:  make(chan struct{}),
		results:   make(chan diskResult, 1),
		ready:     make(chan struct{}),
		stop:      make(chan struct{}),
		waitDone:  make(chan struct{}),
		writeDone: make(chan struct{}),
	}
	d.current.Store(&diskReport{changed: make(chan struct{})})
	go d.write()
	go d.wait()
	<-d.ready
	return d
}

// State returns the state of the disk.
func (d *Disk) State() DiskState { return d.current.Load().state }

// Get returns the state of the disk, and a channel that is closed when the state changes:
// when the disk begins or stops to hang or to fail, or reaches another level of space.
func (d *Disk) Get() (DiskState, <-chan struct{}) {
	r := d.current.Load()
	return r.state, r.changed
}

// Close ends the probe. It waits for a write that is within the limit, so that nothing
// touches the folder afterwards. A write that hangs ends later, with its goroutine, when
// the disk returns. Close is called once.
func (d *Disk) Close() {
	close(d.stop)
	<-d.waitDone
}

// write makes the writes, in a goroutine of its own.
func (d *Disk) write() {
	defer close(d.writeDone)
	defer d.config.Prober.Close()
	for range d.requests {
		var a diskResult
		a.err = d.config.Prober.Probe()
		a.free, a.total, a.spaceErr = d.config.Prober.Space()
		d.results <- a
	}
}

// wait requests writes and awaits their results, in a goroutine of its own.
func (d *Disk) wait() {
	defer close(d.waitDone)
	for d.round() && d.pause() {
	}
	close(d.requests)
	if d.State().Hung {
		return
	}
	late := time.NewTimer(d.config.limit)
	defer late.Stop()
	select {
	case <-d.writeDone:
	case <-late.C: // closing the file hangs
	}
}

// pause waits until the next round. It returns false when the probe ends.
func (d *Disk) pause() bool {
	timer := time.NewTimer(d.config.interval)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-d.stop:
		return false
	}
}

// round makes one write and publishes its result. It returns false if the probe ends
// while the write hangs.
func (d *Disk) round() bool {
	began := time.Now()
	d.requests <- struct{}{}
	answer, ok := d.awaitResult()
	if !ok {
		s := d.State()
		if s.Hung = true; s.Since.IsZero() {
			s.Since = began
		}
		d.publish(s)
		select {
		case answer = <-d.results:
		case <-d.stop:
			return false
		}
	}
	d.publish(d.nextState(answer, began))
	return true
}

// awaitResult waits for the result up to the limit.
func (d *Disk) awaitResult() (diskResult, bool) {
	step := time.NewTicker(max(d.config.limit/diskSteps, 1))
	defer step.Stop()
	for range diskSteps {
		select {
		case a := <-d.results:
			return a, true
		case <-step.C:
		}
	}
	select {
	case a := <-d.results: // arrived at the same moment
		return a, true
	default:
		return diskResult{}, false
	}
}

// nextState returns the state after a result.
func (d *Disk) nextState(a diskResult, began time.Time) DiskState {
	s := d.State()
	s.Hung, s.Err = false, a.err
	switch {
	case errors.Is(a.spaceErr, errors.ErrUnsupported):
	case a.spaceErr != nil:
		s.Err = errors.Join(s.Err, a.spaceErr)
	case a.total == 0: // the file system reports no size
		s.Free, s.Space = 0, spaceOK
	default:
		low, out := spaceThresholds(a.total, d.config.low)
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
func (d *Disk) publish(s DiskState) {
	was := d.current.Load()
	next := &diskReport{state: s, changed: was.changed}
	changed := s.Hung != was.state.Hung || (s.Err == nil) != (was.state.Err == nil) || s.Space != was.state.Space
	if changed {
		next.changed = make(chan struct{})
	}
	d.current.Store(next)
	if changed {
		close(was.changed)
	}
	d.once.Do(func() { close(d.ready) })
}
