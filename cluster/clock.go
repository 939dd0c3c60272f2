package cluster

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// clockLimitPeers is how far the clock may jump on a node that has peers.
	clockLimitPeers = 10 * time.Second
	// clockLimitAlone is how far it may jump where nobody else can tell.
	clockLimitAlone = 5 * time.Minute

	// clockTrust is how long a checked reading speaks for the next ones.
	clockTrust = time.Millisecond
	// clockDrift is the part of the elapsed time, one in so many, by which the
	// wall clock may move against it for ever. NTP slews by one in 2,000 at most,
	// a bad crystal runs off by one in 5,000: both together fit, and a jump still
	// takes hours to be forgotten.
	clockDrift = 1000

	// clockNarrow is how close together the three readings of a look should be,
	// and clockLooks how often it is tried.
	clockNarrow = time.Millisecond
	clockLooks  = 5
)

// ClockJumpError says that the wall clock moved against the time that elapsed.
// Nothing is stamped until the clock is accepted.
type ClockJumpError struct {
	By    time.Duration // positive: the wall clock went ahead
	Limit time.Duration
}

func (e *ClockJumpError) Error() string {
	way := "forward"
	if e.By < 0 {
		way = "back"
	}
	return fmt.Sprintf("the wall clock jumped %s by %s, more than %s", way, e.By.Abs().Round(time.Millisecond), e.Limit)
}

// stampClock is the clock that stamps commands. It refuses when the wall clock
// has jumped: state time never runs back, so that one stamp from the future
// would expire every code, token and session for good.
//
// What a stamp can be wrong by, since the anchor: the limit, and a thousandth
// of the time that elapsed, because drift within that is followed. A jump that
// the limit allows is therefore forgotten in time, and a second one like it is
// allowed again.
//
// The allowance grows while nobody reads. The owner reads at least once a
// minute, so that a jump is also found while there is nothing to stamp.
//
// A virtual machine that was suspended by its host did not see time elapse on
// either clock; when its wall clock is corrected, that is a jump.
type stampClock struct {
	wall    func() time.Time
	elapsed func() time.Duration
	last    atomic.Pointer[clockCheck]

	mu     sync.Mutex
	limit  time.Duration // guarded by mu, as is all below
	zero   time.Time     // the wall clock when elapsed was zero, had it never moved
	follow time.Duration // elapsed, up to when zero was moved along with the drift
}

// clockCheck is a reading that was checked against the elapsed clock, or why
// there is none.
type clockCheck struct {
	at  time.Time
	err error
}

// newStampClock anchors a clock. wall is read like time.Now: with a monotonic
// reading in it, which tells how long a check ago is. elapsed is monotonic and
// counts the time for which the machine was suspended: see clockElapsed.
func newStampClock(wall func() time.Time, elapsed func() time.Duration, limit time.Duration) *stampClock {
	c := &stampClock{wall: wall, elapsed: elapsed, limit: limit}
	c.accept()
	return c
}

// read returns the time in milliseconds since the Unix epoch, or a
// ClockJumpError. One refusal is followed by others until the clock is
// accepted, also when the wall clock has come back: by then nobody knows which
// of its times was wrong.
//
// Reading the elapsed clock is a system call and seven times as slow as reading
// the wall clock, which brings a monotonic reading along. So a reading is not
// checked when both its parts are within a millisecond after those of one that
// was. That opens no hole: whatever the clock does, such a stamp is at most a
// millisecond later than a checked one, and a wall clock that stands still, or
// a machine that was suspended, is told by one of the parts.
func (c *stampClock) read() (ms int64, err error) {
	last := c.last.Load()
	if last.err != nil {
		return 0, last.err
	}
	if now := c.wall(); last.covers(now) {
		return stampOf(now), nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	last = c.last.Load()
	if last.err != nil {
		return 0, last.err
	}
	if now := c.wall(); last.covers(now) { // somebody else checked while this one waited
		return stampOf(now), nil
	}
	return c.check()
}

// covers says that now needs no check of its own.
func (k *clockCheck) covers(now time.Time) bool {
	return clockTrusted(now.Sub(k.at)) && clockTrusted(now.Round(0).Sub(k.at)) // monotonic, and wall
}

func clockTrusted(sinceCheck time.Duration) bool { return sinceCheck >= 0 && sinceCheck < clockTrust }

// check is called with mu held, and while the clock is not refused.
func (c *stampClock) check() (int64, error) {
	l := c.look()
	moved := l.against(c.zero)
	allowed := max(l.late-c.follow, 0) / clockDrift
	drift := min(max(moved, -allowed), allowed)
	c.zero = c.zero.Add(drift)
	c.follow = l.late
	moved -= drift
	if moved.Abs() > c.limit {
		err := &ClockJumpError{By: moved, Limit: c.limit}
		c.last.Store(&clockCheck{err: err})
		return 0, err
	}
	c.last.Store(&clockCheck{at: l.wall})
	return stampOf(l.wall), nil
}

// accept takes the wall clock for right from now on. An operator decides that.
func (c *stampClock) accept() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.anchor()
}

// anchor is called with mu held.
func (c *stampClock) anchor() {
	l := c.look()
	c.zero = l.wall.Round(0).Add(-(l.early + (l.late-l.early)/2))
	c.follow = l.late
	c.last.Store(&clockCheck{at: l.wall})
}

// setLimit changes the limit, which is another with peers than without. What
// the old limit has let pass was stamped already, so the new one starts from
// here; a clock that is refused stays refused.
func (c *stampClock) setLimit(limit time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.Load().err == nil && limit != c.limit {
		if _, err := c.check(); err == nil {
			c.anchor()
		}
	}
	c.limit = limit
}

// clockLook is the wall clock, read between two readings of the elapsed one.
type clockLook struct {
	wall        time.Time
	early, late time.Duration
}

// look tries for readings that are close together. A process may be stopped
// between any two of them, for seconds: that must not look like a jump.
func (c *stampClock) look() clockLook {
	var best clockLook
	for i := range clockLooks {
		var l clockLook
		l.early = c.elapsed()
		l.wall = c.wall()
		l.late = c.elapsed()
		if i == 0 || l.late-l.early < best.late-best.early {
			best = l
		}
		if best.late-best.early < clockNarrow {
			break
		}
	}
	return best
}

// against returns how far the wall clock is from where the elapsed clock says
// that it should be, and zero where it can't be told.
func (l clockLook) against(zero time.Time) time.Duration {
	wall := l.wall.Round(0)
	if from := zero.Add(l.early); wall.Before(from) {
		return wall.Sub(from)
	}
	if to := zero.Add(l.late); wall.After(to) {
		return wall.Sub(to)
	}
	return 0
}

// stampOf keeps a stamp in the range that a log entry can hold.
func stampOf(t time.Time) int64 { return max(t.UnixMilli(), 0) }

// clockRunning returns Go's monotonic clock.
func clockRunning() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

// Elapsed is for Config.Elapsed: the time since now that went by on this
// machine, suspended time included where the system can tell.
func Elapsed() func() time.Duration { return clockElapsed() }
