package watchdog

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// The clock rule. The leader stamps commands with its wall clock, and state time
// never runs back: one stamp from the future would expire every code, session
// and grant for good, and every token made from then on would be refused as not
// valid yet. So a node does not rely on its own clock alone.
//
// What is compared:
//
//   - the wall clock with a clock that only goes forward (this file). A wall clock
//     that is more than 10 s from where the forward clock puts it has jumped;
//   - at a start, before the first stamp, when the forward clock has no earlier
//     reading: with the newest stamp in the folder, the time at which the node
//     last ran, and the kernel's word whether its clock is synchronised
//     (clock_start.go);
//   - with the time that each of the other voters stands for: that of its clock
//     or, where its clock jumped, the time that it should show (clock_peers.go);
//   - state time with the clocks of a majority, at every stamp (clock_state.go).
//
// What a node may do:
//
//	its clock is          lead                      stamp
//	steady                if a majority's clocks,   unless state time is more than
//	                      its own among them, are   10 s ahead of a majority's clocks:
//	                      within 10 s               then nothing is decided (503)
//	jumped                no                        no
//	not believed yet      no                        no
//
// A follower whose clock is doubtful goes on following, voting, and minting what
// a leader with a good clock has decided.
//
// What ends a jump:
//
//   - the clock comes back to within 10 s of where it should be. Nobody is asked;
//   - up to 5 minutes: it has lasted 15 s, and the clocks of a majority, this one
//     among them, are within 10 s. So a correction of all clocks needs nobody,
//     and a glitch of all clocks is over before it is stamped;
//   - beyond that: a majority of the voters, this one not among them, that stand
//     for a time within 10 s. That all others jumped to the same time says
//     nothing, as they may have one cause;
//   - an operator (AcceptClock).
//
// The jumps that were accepted without confirmation add up, and 5 minutes is the
// most that they may add up to. The sum outlives a restart (clock_start.go), and a
// node whose clock a majority confirms takes over theirs: neither makes it smaller. An
// operator does, and so does the kernel at a start, and it fades with the drift
// that is allowed to clocks.
//
// What ends the doubt of a start is said in clock_start.go. That time went by
// while the node was stopped, its process was paused or its machine was
// suspended is no jump, where the forward clock counts it too: CLOCK_BOOTTIME
// does, but for a virtual machine that its host suspended, whose clock does jump
// when it is corrected.
const (
	// ClockTolerance is how far a steady clock may be from where it should be, a
	// leader's clock from those of a majority, and state time ahead of the clocks.
	// Verifiers of what the state machine issues must tolerate as much.
	ClockTolerance = 10 * time.Second
	// clockJumpLimit is the greatest jump that can be accepted without an operator or a
	// majority that did not jump. clockSettleTime is how long such a jump must have lasted.
	clockJumpLimit  = 5 * time.Minute
	clockSettleTime = 15 * time.Second
	// clockJitter is by how much a clock may have moved between two looks at it and
	// still count as not having moved.
	clockJitter = time.Second

	// clockCheckTTL is how long a checked reading speaks for the next ones.
	clockCheckTTL = time.Millisecond
	// clockDriftDivisor is the part of the elapsed time, one in so many, by which the
	// wall clock may move against it for ever. NTP slews by one in 2,000 at most,
	// a bad crystal runs off by one in 5,000: both together fit, and a jump still
	// takes hours to be forgotten.
	clockDriftDivisor = 1000

	// clockReadWindow is how close together the three readings of a look should be,
	// and clockReadAttempts how often it is tried.
	clockReadWindow   = time.Millisecond
	clockReadAttempts = 5
)

// ClockJumpError reports that the wall clock moved against the time that elapsed.
// The node stamps nothing until the clock has come back or is accepted.
type ClockJumpError struct {
	By          time.Duration // positive: the wall clock went ahead
	Unconfirmed time.Duration // the sum of the jumps before that nobody confirmed
}

// Error implements error.
func (e *ClockJumpError) Error() string {
	way := "forward"
	if e.By < 0 {
		way = "back"
	}
	said := fmt.Sprintf("the wall clock jumped %s by %s", way, e.By.Abs().Round(time.Millisecond))
	if e.Unconfirmed.Abs() > ClockTolerance {
		said += fmt.Sprintf(", and by %s before that, for which nobody vouched", e.Unconfirmed.Round(time.Millisecond))
	}
	return said
}

// Clock is the clock that stamps commands. It refuses while the wall clock
// is not where it should be by the time that elapsed, and before it was accepted
// for the first time.
//
// What a stamp can be wrong by, since the anchor: the tolerance, and a thousandth
// of the time that elapsed, because drift within that is followed. A jump that
// the tolerance allows is therefore forgotten in time, and a second one like it
// is allowed again.
//
// The allowance grows while nobody reads. The owner reads at least once a
// minute, so that a jump is also found while there is nothing to stamp.
type Clock struct {
	wall    func() time.Time
	elapsed func() time.Duration
	last    atomic.Pointer[clockCheck]

	mu sync.Mutex // guards the rest
	// expected is where the clock should be, baseline where it would be without the jumps
	// that nobody confirmed.
	expected, baseline clockAnchor
	// contested means that expected and baseline are set although the clock was not accepted
	// yet: other nodes stand for that time.
	contested bool
	jumpedBy  time.Duration // how far the clock was ahead of expected then
	jumpedAt  time.Duration // elapsed, when the clock jumped to its present time
}

// clockCheck is a reading that was checked against the elapsed clock, or why
// there is none.
type clockCheck struct {
	at  time.Time
	err error // a *ClockStartError or a *ClockJumpError
}

// clockAnchor ties the wall clock to the elapsed one.
type clockAnchor struct {
	zero       time.Time     // the wall clock when elapsed was zero, had it never moved
	driftUntil time.Duration // elapsed, up to when zero was moved along with the drift
}

func (l ClockReading) anchor() clockAnchor {
	return clockAnchor{l.Wall.Round(0).Add(-(l.before + (l.After-l.before)/2)), l.After}
}

func (a clockAnchor) earlier(by time.Duration) clockAnchor {
	return clockAnchor{a.zero.Add(-by), a.driftUntil}
}

// followDrift follows the drift, and returns what is more than that.
func (a *clockAnchor) followDrift(l ClockReading) time.Duration {
	moved := l.offsetFrom(a.zero)
	allowed := max(l.After-a.driftUntil, 0) / clockDriftDivisor
	drift := min(max(moved, -allowed), allowed)
	a.zero, a.driftUntil = a.zero.Add(drift), l.After
	return moved - drift
}

// NewClock makes a clock that must be accepted before it stamps. wall is
// read like time.Now: with a monotonic reading in it, which tells how long a
// check ago is. elapsed is monotonic and counts the time for which the machine
// was suspended: see clockElapsed.
func NewClock(wall func() time.Time, elapsed func() time.Duration) *Clock {
	c := &Clock{wall: wall, elapsed: elapsed}
	c.last.Store(&clockCheck{err: errClockDataNotLoaded})
	return c
}

// Read returns the time in milliseconds since the Unix epoch. While the clock is in
// doubt, the error is a *ClockStartError or a *ClockJumpError.
//
// Reading the elapsed clock is a system call and seven times as slow as reading
// the wall clock, which brings a monotonic reading along. So a reading is not
// checked when both its parts are within a millisecond after those of one that
// was. That opens no hole: whatever the clock does, such a stamp is at most a
// millisecond later than a checked one, and a wall clock that stands still, or
// a machine that was suspended, is told by one of the parts.
func (c *Clock) Read() (ms int64, err error) {
	if now, ok := c.readCached(); ok {
		return StampOf(now), nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now, ok := c.readCached(); ok { // somebody else checked while this one waited
		return StampOf(now), nil
	}
	return c.check()
}

// readCached returns a reading that needs no check of its own.
func (c *Clock) readCached() (time.Time, bool) {
	last := c.last.Load()
	if last.err != nil {
		return time.Time{}, false
	}
	now := c.wall()
	return now, last.covers(now)
}

// covers says that now needs no check of its own.
func (k *clockCheck) covers(now time.Time) bool {
	return withinCheckTTL(now.Sub(k.at)) && withinCheckTTL(now.Round(0).Sub(k.at)) // monotonic, and wall
}

func withinCheckTTL(sinceCheck time.Duration) bool {
	return sinceCheck >= 0 && sinceCheck < clockCheckTTL
}

// check is called with mu held. While the clock has jumped, its drift is not
// followed: only a clock that is where it was expected comes back by itself.
func (c *Clock) check() (int64, error) {
	last := c.last.Load()
	if c.IsStarting() {
		return 0, last.err
	}
	l := c.takeReadingLocked()
	var moved time.Duration
	if last.err == nil {
		moved = c.expected.followDrift(l)
		_ = c.baseline.followDrift(l)
	} else {
		moved = l.offsetFrom(c.expected.zero)
	}
	if moved.Abs() <= ClockTolerance {
		c.expected.driftUntil, c.baseline.driftUntil = l.After, l.After
		c.last.Store(&clockCheck{at: l.Wall})
		return StampOf(l.Wall), nil
	}
	jump, known := last.err.(*ClockJumpError)
	if !known || c.jumpedAgain(moved) {
		c.jumpedBy, c.jumpedAt = moved, l.After
		jump = &ClockJumpError{By: moved, Unconfirmed: c.unconfirmed()}
		c.last.Store(&clockCheck{err: jump})
	}
	return 0, jump
}

// jumpedAgain reports whether a clock that is so far ahead of expected was elsewhere when
// it was found to have jumped.
func (c *Clock) jumpedAgain(moved time.Duration) bool {
	return (moved - c.jumpedBy).Abs() > clockJitter
}

// unconfirmed is the sum of the jumps that were accepted and that nobody confirmed.
func (c *Clock) unconfirmed() time.Duration { return c.expected.zero.Sub(c.baseline.zero) }

// Trouble returns what is wrong with the clock. That the other nodes are out of reach
// is not.
func (c *Clock) Trouble() error {
	if _, err := c.Read(); err != ErrClockNoMajority { //nolint:errorlint // read returns it as it is
		return err
	}
	return nil
}

// IsStarting reports whether the clock was not accepted yet.
func (c *Clock) IsStarting() bool {
	_, starting := c.last.Load().err.(*ClockStartError)
	return starting
}

// SetStartError says why the clock is not accepted yet, as it was judged by a look at it. It
// does nothing to one that was.
func (c *Clock) SetStartError(err *ClockStartError, judged ClockReading) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.IsStarting() {
		return
	}
	c.last.Store(&clockCheck{err: err})
	if err.contest == nil {
		c.contested = false
		return
	}
	if !c.contested { // later the others may only repeat what this node says
		c.expected = judged.anchor().earlier(err.contest.Ahead)
		c.baseline = c.expected.earlier(err.contest.Unconfirmed)
	}
	if moved := judged.offsetFrom(c.expected.zero); !c.contested || c.jumpedAgain(moved) {
		c.jumpedBy, c.jumpedAt = moved, judged.After
	}
	c.contested = true
}

// Jump returns how far the clock is from where it would be without the jumps
// that nobody confirmed, and for how long it has been there. ok is false where
// it has not jumped, or has come back, and is not contested either.
func (c *Clock) Jump() (by, lasts time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.check(); err == nil || c.IsStarting() && !c.contested {
		return 0, 0, false
	}
	l := c.takeReadingLocked()
	return l.offsetFrom(c.baseline.zero), l.After - c.jumpedAt, true
}

// ClockReport is what a clock shows, and the time that its node stands for.
type ClockReport struct {
	Wall         time.Time
	HasReference bool          // whether there is such a time
	Ahead        time.Duration // how far wall is ahead of it
	Unconfirmed  time.Duration // the sum of the jumps in it that nobody confirmed
}

// Report returns what the clock shows and stands for, and why it is not believed. A
// node whose clock jumped still stands for a time, as it knows how much has elapsed
// since. So does a node whose clock others contested when it started.
func (c *Clock) Report() (ClockReport, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.check()
	if err == nil {
		return ClockReport{Wall: c.last.Load().at, HasReference: true, Unconfirmed: c.unconfirmed()}, nil
	}
	l := c.takeReadingLocked()
	if c.IsStarting() && !c.contested {
		return ClockReport{Wall: l.Wall}, err
	}
	return ClockReport{Wall: l.Wall, HasReference: true, Ahead: l.offsetFrom(c.expected.zero), Unconfirmed: c.unconfirmed()}, err
}

// TakeReading is a look at the clock, for AcceptReading.
func (c *Clock) TakeReading() ClockReading {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.takeReadingLocked()
}

// Accept treats the wall clock as right from now on, whatever it shows. It is called
// when an operator has decided so.
func (c *Clock) Accept() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.anchor(c.takeReadingLocked(), 0)
}

// AcceptReading is accept for a clock that was judged by a look at it, unless it has
// moved since. What nobody confirms is remembered.
func (c *Clock) AcceptReading(judged ClockReading, unvouched time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.takeReadingLocked()
	if l.offsetFrom(judged.anchor().zero).Abs() > clockJitter {
		return false
	}
	c.anchor(l, unvouched)
	return true
}

// anchor is called with mu held.
func (c *Clock) anchor(l ClockReading, unvouched time.Duration) {
	c.expected = l.anchor()
	c.baseline = c.expected.earlier(unvouched)
	c.last.Store(&clockCheck{at: l.Wall})
}

// ClockReading is the wall clock, read between two readings of the elapsed one.
type ClockReading struct {
	Wall          time.Time
	before, After time.Duration
}

// takeReadingLocked tries for readings that are close together. A process may be stopped
// between any two of them, for seconds: that must not look like a jump.
func (c *Clock) takeReadingLocked() ClockReading {
	var best ClockReading
	for i := range clockReadAttempts {
		var l ClockReading
		l.before = c.elapsed()
		l.Wall = c.wall()
		l.After = c.elapsed()
		if i == 0 || l.After-l.before < best.After-best.before {
			best = l
		}
		if best.After-best.before < clockReadWindow {
			break
		}
	}
	return best
}

// offsetFrom returns how far the wall clock is from where the elapsed clock says
// that it should be, and zero where it can't be told.
func (l ClockReading) offsetFrom(zero time.Time) time.Duration {
	wall := l.Wall.Round(0)
	if from := zero.Add(l.before); wall.Before(from) {
		return wall.Sub(from)
	}
	if to := zero.Add(l.After); wall.After(to) {
		return wall.Sub(to)
	}
	return 0
}

// StampOf keeps a stamp in the range that a log entry can hold.
func StampOf(t time.Time) int64 { return max(t.UnixMilli(), 0) }

// monotonicClock returns Go's monotonic clock.
func monotonicClock() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

// Elapsed is for Config.Elapsed: the time since now that went by on this
// machine, suspended time included where the system can tell.
func Elapsed() func() time.Duration { return clockElapsed() }
