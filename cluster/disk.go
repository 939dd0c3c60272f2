package cluster

import (
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

// diskState is how the disk under the data folder does.
type diskState struct {
	// Hung says that a write has not returned within the limit.
	Hung bool
	// Err is why the last write failed, nil if it did not. A full disk may fail
	// it too: then Space says so.
	Err error
	// Since is when the disk began to hang or to fail, zero when it does neither.
	Since time.Time
	// Free is how many bytes are free, Space what that means.
	Free  uint64
	Space spaceLevel
}

// bad says that the disk hangs or fails.
func (s diskState) bad() bool { return s.Hung || s.Err != nil }

// trouble is what keeps a node from deciding anything, nil if nothing does.
func (s diskState) trouble() error {
	switch {
	case s.Hung:
		return fmt.Errorf("a write has not returned since %s", s.Since.Format(time.RFC3339))
	case s.Space == spaceOut: // before the error, which it may be the cause of
		return errNoSpace
	case s.Err != nil:
		return fmt.Errorf("it does not take writes: %w", s.Err)
	}
	return nil
}

// diskFiles is what diskWatch does with the disk. probe and space may take for
// ever. One goroutine calls all.
type diskFiles interface {
	// probe writes a few bytes and returns when they are on the disk.
	probe() error
	// space returns how many bytes are free, of how many. It returns
	// errors.ErrUnsupported where that can't be told.
	space() (free, total uint64, err error)
	// close is called once, last.
	close()
}

// diskConfig is for newDiskWatch.
type diskConfig struct {
	files    diskFiles
	interval time.Duration // between writes; default: diskInterval
	limit    time.Duration // for one of them; default: diskLimit
	low      uint64        // free bytes below which space is low; default: see spaceThresholds
}

// diskWatch looks after the disk, because raft does not: a leader whose disk
// hangs goes on to lead and commits nothing, as its heartbeats need no disk, and
// one whose disk fails steps down and is elected again (hashicorp/raft #503 and
// #614).
//
// One goroutine writes, and waits as long as the disk pleases; another one waits
// for it with a clock. There is one write at a time, so that nothing piles up
// while the disk hangs; when it returns the disk is fine again.
type diskWatch struct {
	config diskConfig
	now    atomic.Pointer[diskReport]

	ask     chan struct{}   // for the next write
	answers chan diskAnswer // buffered: a write that returns late finds nobody
	known   chan struct{}   // closed with the first state
	once    sync.Once
	stop    chan struct{}
	stopped chan struct{} // the goroutine that waits has ended
	ended   chan struct{} // the goroutine that writes has ended
}

// diskReport is a state, with the channel that is closed when it is over.
type diskReport struct {
	state diskState
	over  chan struct{}
}

// diskAnswer is what one round came to.
type diskAnswer struct {
	err         error
	spaceErr    error
	free, total uint64
}

// newDiskWatch starts to watch. It returns when the first state is known, which
// takes no longer than the limit. It is for close to end it.
func newDiskWatch(c diskConfig) *diskWatch {
	setDefault(&c.interval, diskInterval)
	setDefault(&c.limit, diskLimit)
	w := &diskWatch{
		config:  c,
		ask:     make(chan struct{}),
		answers: make(chan diskAnswer, 1),
		known:   make(chan struct{}),
		stop:    make(chan struct{}),
		stopped: make(chan struct{}),
		ended:   make(chan struct{}),
	}
	w.now.Store(&diskReport{over: make(chan struct{})})
	go w.write()
	go w.wait()
	<-w.known
	return w
}

// state returns how the disk does.
func (w *diskWatch) state() diskState { return w.now.Load().state }

// get returns how the disk does, and a channel that is closed when that changes:
// when it begins or stops to hang or to fail, or has another level of space.
func (w *diskWatch) get() (diskState, <-chan struct{}) {
	r := w.now.Load()
	return r.state, r.over
}

// close ends the watch. It waits for a write that is within the limit, so that
// the folder is left alone afterwards; one that hangs ends, with its goroutine,
// when the disk lets it. It is called once.
func (w *diskWatch) close() {
	close(w.stop)
	<-w.stopped
}

// write is the goroutine that writes.
func (w *diskWatch) write() {
	defer close(w.ended)
	defer w.config.files.close()
	for range w.ask {
		var a diskAnswer
		a.err = w.config.files.probe()
		a.free, a.total, a.spaceErr = w.config.files.space()
		w.answers <- a
	}
}

// wait is the goroutine that waits for it.
func (w *diskWatch) wait() {
	defer close(w.stopped)
	for w.round() && w.pause() {
	}
	close(w.ask)
	if w.state().Hung {
		return
	}
	late := time.NewTimer(w.config.limit)
	defer late.Stop()
	select {
	case <-w.ended:
	case <-late.C: // it hangs in closing the file
	}
}

// pause returns false at the end.
func (w *diskWatch) pause() bool {
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
func (w *diskWatch) round() bool {
	began := time.Now()
	w.ask <- struct{}{}
	answer, ok := w.inTime()
	if !ok {
		s := w.state()
		if s.Hung = true; s.Since.IsZero() {
			s.Since = began
		}
		w.tell(s)
		select {
		case answer = <-w.answers:
		case <-w.stop:
			return false
		}
	}
	w.tell(w.judge(answer, began))
	return true
}

// inTime waits for the answer up to the limit.
func (w *diskWatch) inTime() (diskAnswer, bool) {
	step := time.NewTicker(max(w.config.limit/diskSteps, 1))
	defer step.Stop()
	for range diskSteps {
		select {
		case a := <-w.answers:
			return a, true
		case <-step.C:
		}
	}
	select {
	case a := <-w.answers: // at the same moment
		return a, true
	default:
		return diskAnswer{}, false
	}
}

// judge returns the state after an answer.
func (w *diskWatch) judge(a diskAnswer, began time.Time) diskState {
	s := w.state()
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

// tell publishes a state.
func (w *diskWatch) tell(s diskState) {
	was := w.now.Load()
	next := &diskReport{state: s, over: was.over}
	changed := s.Hung != was.state.Hung || (s.Err == nil) != (was.state.Err == nil) || s.Space != was.state.Space
	if changed {
		next.over = make(chan struct{})
	}
	w.now.Store(next)
	if changed {
		close(was.over)
	}
	w.once.Do(func() { close(w.known) })
}
