package watchdog

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// The clock rule. The leader stamps commands with its wall clock, and state time never
// goes back. One stamp from the future would expire every code, session and grant
// permanently, and later tokens would be refused as not valid yet. So a node does not
// rely on its own clock alone.
//
// It compares:
//
//   - the wall clock with a monotonic clock (this file). A wall clock that differs by
//     more than 10 s from the time expected by the monotonic clock has jumped;
//   - at a start, before the first stamp, when there is no earlier reading: with the
//     newest stamp in the folder, the time at which the node last ran, and the kernel's
//     report whether its clock is synchronised (clock_start.go);
//   - with the reference time of each other voter: its clock or, if its clock jumped, the
//     time that it should show (clock_peers.go);
//   - state time with the clocks of a majority, at every stamp (clock_state.go).
//
// What a node may do:
//
//	its clock is          lead                      stamp
//	steady                if a majority's clocks,   unless state time is more than
//	                      including its own, are    10 s ahead of a majority's clocks:
//	                      within 10 s               then nothing is decided (503)
//	jumped                no                        no
//	not accepted yet      no                        no
//
// A follower with a doubtful clock still replicates, votes, and mints tokens that a
// leader with a good clock has decided.
//
// A jump ends when
//
//   - the clock is again within 10 s of its expected time; no other node is needed;
//   - for a jump of up to 5 minutes: it has lasted 15 s, and the clocks of a majority,
//     including this node, are within 10 s of this one. So a correction of all clocks
//     needs no operator, and a short glitch of all clocks is over before anything is
//     stamped;
//   - for a longer jump: a majority of the voters, without this one, have a reference
//     time within 10 s of it. It does not count that all others jumped to the same time,
//     since their jumps may have one cause;
//   - an operator accepts the clock (AcceptClock).
//
// Jumps that are accepted without confirmation add up to at most 5 minutes. The sum
// survives a restart (clock_start.go); a node whose clock is confirmed by a majority
// adopts the greatest sum of theirs. An operator and, at a start, the kernel reset it,
// and it decays with the drift that is allowed to clocks.
//
// clock_start.go describes how a clock is accepted at a start. Time that passes while the
// node is stopped, its process is paused or its machine is suspended is not a jump if the
// monotonic clock counts it. CLOCK_BOOTTIME does, except in a virtual machine that its
// host suspended: there the clock jumps when it is corrected.
const (
	// ClockTolerance is how far a steady clock may be from its expected time, a leader's
	// clock from those of a majority, and state time ahead of the clocks. Verifiers of
	// what the state machine issues must tolerate as much.
	ClockTolerance = 10 * time.Second
	// clockJumpLimit is the greatest jump that can be accepted without an operator or a
	// majority that did not jump. clockSettleTime is how long such a jump must have lasted.
	clockJumpLimit  = 5 * time.Minute
	clockSettleTime = 15 * time.Second
	// clockJitter is the most that a clock may move between two readings and still count
	// as unchanged.
	clockJitter = time.Second

	// clockCheckTTL is how long a checked reading makes further checks unnecessary.
	clockCheckTTL = time.Millisecond
	// clockDriftDivisor: the wall clock may always drift by one part in clockDriftDivisor
	// of the elapsed time. NTP slews by at most one in 2,000, and a bad crystal drifts by
	// one in 5,000: the allowance covers both together, and a jump still takes hours to
	// decay.
	clockDriftDivisor = 1000

	// clockReadWindow is how close together the three clock readings of a ClockReading
	// should be, and clockReadAttempts how often takeReadingLocked tries.
	clockReadWindow   = time.Millisecond
	clockReadAttempts = 5
)

// ClockJumpError reports that the wall clock jumped relative to the elapsed time. The
// node stamps nothing until the clock has come back or is accepted.
type ClockJumpError struct {
	By          time.Duration // positive: the wall clock moved ahead
	Unconfirmed time.Duration // sum of the earlier unconfirmed jumps
}

// Error implements error.
func (e *ClockJumpError) Error() string {
	way := "forward"
	if e.By < 0 {
		way = "back"
	}
	said := fmt.Sprintf("the wall clock jumped %s by %s", way, e.By.Abs().Round(time.Millisecond))
	if e.Unconfirmed.Abs() > ClockTolerance {
		said += fmt.Sprintf("; unconfirmed earlier jumps: %s", e.Unconfirmed.Round(time.Millisecond))
	}
	return said
}

// Clock is the clock that stamps commands. Reading it fails while the wall clock is not
// at the time expected from the elapsed time, and before the clock was first accepted.
//
// The error of a stamp since the anchor is at most the tolerance plus a thousandth of the
// elapsed time, because drift within that bound is followed. A jump within the tolerance
// is therefore forgotten in time, and a similar second one is then allowed.
//
// The allowance grows while the clock is not read. The owner reads it at least once a
// minute, so that a jump is found even if there is nothing to stamp.
type Clock struct {
	wall    func() time.Time
	elapsed func() time.Duration
	last    atomic.Pointer[clockCheck]

	mu sync.Mutex // guards the fields below
	// expected is the time that the clock should show, baseline the time that it would
	// show without the unconfirmed jumps.
	expected, baseline clockAnchor
	// contested means that expected and baseline are set although the clock was not
	// accepted yet: other nodes have that reference time.
	contested bool
	jumpedBy  time.Duration // how far the clock was ahead of expected when it was found to have jumped
	jumpedAt  time.Duration // elapsed time at which the clock jumped to its present time
}

// clockCheck is a reading that was checked against the elapsed clock, or the error of the
// check.
type clockCheck struct {
	at  time.Time
	err error // a *ClockStartError or a *ClockJumpError
}

// clockAnchor relates the wall clock to the elapsed one.
type clockAnchor struct {
	zero       time.Time     // wall clock at elapsed zero, if it had never drifted or jumped
	driftUntil time.Duration // elapsed time up to which zero has followed the drift
}

func (r ClockReading) anchor() clockAnchor {
	return clockAnchor{r.Wall.Round(0).Add(-(r.before + (r.After-r.before)/2)), r.After}
}

func (a clockAnchor) earlier(by time.Duration) clockAnchor {
	return clockAnchor{a.zero.Add(-by), a.driftUntil}
}

// followDrift follows the drift, and returns the movement that exceeds it.
func (a *clockAnchor) followDrift(r ClockReading) time.Duration {
	moved := r.offsetFrom(a.zero)
	allowed := max(r.After-a.driftUntil, 0) / clockDriftDivisor
	drift := min(max(moved, -allowed), allowed)
	a.zero, a.driftUntil = a.zero.Add(drift), r.After
	return moved - drift
}

// NewClock makes a clock that must be accepted before it stamps. wall is read like
// time.Now, with a monotonic reading, which gives the age of a check. elapsed is
// monotonic and counts the time for which the machine was suspended: see Elapsed.
func NewClock(wall func() time.Time, elapsed func() time.Duration) *Clock {
	c := &Clock{wall: wall, elapsed: elapsed}
	c.last.Store(&clockCheck{err: errClockDataNotLoaded})
	return c
}

// Read returns the time in milliseconds since the Unix epoch. While the clock is in
// doubt, the error is a *ClockStartError or a *ClockJumpError.
//
// Reading the elapsed clock is a system call and seven times as slow as reading the wall
// clock with its monotonic part. So a reading is not checked if both its parts are within
// a millisecond after those of a checked one. This is safe: such a stamp is at most a
// millisecond later than a checked one, and one of the parts shows a wall clock that
// stands still, or a suspended machine.
func (c *Clock) Read() (ms int64, err error) {
	if now, ok := c.readCached(); ok {
		return StampOf(now), nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now, ok := c.readCached(); ok { // another caller checked it meanwhile
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

// covers reports whether now needs no check of its own.
func (c *clockCheck) covers(now time.Time) bool {
	return withinCheckTTL(now.Sub(c.at)) && withinCheckTTL(now.Round(0).Sub(c.at)) // monotonic, and wall
}

func withinCheckTTL(sinceCheck time.Duration) bool {
	return sinceCheck >= 0 && sinceCheck < clockCheckTTL
}

// check is called with mu held. While the clock has jumped, its drift is not followed:
// otherwise a clock could drift back to where it counts as expected.
func (c *Clock) check() (int64, error) {
	last := c.last.Load()
	if c.IsStarting() {
		return 0, last.err
	}
	r := c.takeReadingLocked()
	var moved time.Duration
	if last.err == nil {
		moved = c.expected.followDrift(r)
		_ = c.baseline.followDrift(r)
	} else {
		moved = r.offsetFrom(c.expected.zero)
	}
	if moved.Abs() <= ClockTolerance {
		c.expected.driftUntil, c.baseline.driftUntil = r.After, r.After
		c.last.Store(&clockCheck{at: r.Wall})
		return StampOf(r.Wall), nil
	}
	jump, known := last.err.(*ClockJumpError)
	if !known || c.jumpedAgain(moved) {
		c.jumpedBy, c.jumpedAt = moved, r.After
		jump = &ClockJumpError{By: moved, Unconfirmed: c.unconfirmed()}
		c.last.Store(&clockCheck{err: jump})
	}
	return 0, jump
}

// jumpedAgain reports whether a clock that is this far ahead of expected has moved since
// it was found to have jumped.
func (c *Clock) jumpedAgain(moved time.Duration) bool {
	return (moved - c.jumpedBy).Abs() > clockJitter
}

// unconfirmed returns the sum of the jumps that were accepted without confirmation.
func (c *Clock) unconfirmed() time.Duration { return c.expected.zero.Sub(c.baseline.zero) }

// Trouble returns why the clock is not accepted, or nil. Unreachable voters are not an
// error of the clock.
func (c *Clock) Trouble() error {
	if _, err := c.Read(); err != ErrClockNoMajority { //nolint:errorlint // Read returns it unwrapped
		return err
	}
	return nil
}

// IsStarting reports whether the clock was not accepted yet.
func (c *Clock) IsStarting() bool {
	_, starting := c.last.Load().err.(*ClockStartError)
	return starting
}

// SetStartError sets the error of a clock that is not accepted yet, from the judgement of
// a reading. It has no effect on an accepted clock.
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
	if !c.contested { // later, the others may only have adopted this node's time
		c.expected = judged.anchor().earlier(err.contest.Ahead)
		c.baseline = c.expected.earlier(err.contest.Unconfirmed)
	}
	if moved := judged.offsetFrom(c.expected.zero); !c.contested || c.jumpedAgain(moved) {
		c.jumpedBy, c.jumpedAt = moved, judged.After
	}
	c.contested = true
}

// Jump returns how far the clock is from the time that it would show without unconfirmed
// jumps, and for how long it has been there. ok is false if it has not jumped, or has
// come back, and is not contested.
func (c *Clock) Jump() (by, lasts time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.check(); err == nil || c.IsStarting() && !c.contested {
		return 0, 0, false
	}
	r := c.takeReadingLocked()
	return r.offsetFrom(c.baseline.zero), r.After - c.jumpedAt, true
}

// ClockReport is the time of a clock, and the reference time of its node.
type ClockReport struct {
	Wall         time.Time
	HasReference bool          // whether the node has a reference time
	Ahead        time.Duration // how far wall is ahead of the reference time
	Unconfirmed  time.Duration // sum of the unconfirmed jumps in the reference time
}

// Report returns the clock's time and reference time, and the error that Read would
// return. A node whose clock jumped still has a reference time, since it knows the time
// elapsed since. So does a node whose clock was contested when it started.
func (c *Clock) Report() (ClockReport, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.check()
	if err == nil {
		return ClockReport{Wall: c.last.Load().at, HasReference: true, Unconfirmed: c.unconfirmed()}, nil
	}
	r := c.takeReadingLocked()
	if c.IsStarting() && !c.contested {
		return ClockReport{Wall: r.Wall}, err
	}
	return ClockReport{Wall: r.Wall, HasReference: true, Ahead: r.offsetFrom(c.expected.zero), Unconfirmed: c.unconfirmed()}, err
}

// TakeReading reads the clocks, for AcceptReading.
func (c *Clock) TakeReading() ClockReading {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.takeReadingLocked()
}

// Accept treats the wall clock as right from now on, whatever its time. It is called
// after an operator's decision.
func (c *Clock) Accept() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.anchor(c.takeReadingLocked(), 0)
}

// AcceptReading accepts a clock that was judged by a reading, unless it has moved since.
// unconfirmed becomes the sum of unconfirmed jumps. It reports whether the clock was
// accepted.
func (c *Clock) AcceptReading(judged ClockReading, unconfirmed time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.takeReadingLocked()
	if r.offsetFrom(judged.anchor().zero).Abs() > clockJitter {
		return false
	}
	c.anchor(r, unconfirmed)
	return true
}

// anchor is called with mu held.
func (c *Clock) anchor(r ClockReading, unconfirmed time.Duration) {
	c.expected = r.anchor()
	c.baseline = c.expected.earlier(unconfirmed)
	c.last.Store(&clockCheck{at: r.Wall})
}

// ClockReading is the wall clock, read between two readings of the elapsed one.
type ClockReading struct {
	Wall          time.Time
	before, After time.Duration
}

// takeReadingLocked tries to get readings that are close together. A process may be
// stopped between any two of them, for seconds, which must not look like a jump.
func (c *Clock) takeReadingLocked() ClockReading {
	var best ClockReading
	for i := range clockReadAttempts {
		var r ClockReading
		r.before = c.elapsed()
		r.Wall = c.wall()
		r.After = c.elapsed()
		if i == 0 || r.After-r.before < best.After-best.before {
			best = r
		}
		if best.After-best.before < clockReadWindow {
			break
		}
	}
	return best
}

// offsetFrom returns how far the wall clock is from its time expected by the elapsed
// clock, and zero if that is within the error of the reading.
func (r ClockReading) offsetFrom(zero time.Time) time.Duration {
	wall := r.Wall.Round(0)
	if from := zero.Add(r.before); wall.Before(from) {
		return wall.Sub(from)
	}
	if to := zero.Add(r.After); wall.After(to) {
		return wall.Sub(to)
	}
	return 0
}

// StampOf converts t to a stamp, in the range that a log entry can have.
func StampOf(t time.Time) int64 { return max(t.UnixMilli(), 0) }

// monotonicClock returns Go's monotonic clock.
func monotonicClock() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

// Elapsed returns a clock for Config.Elapsed: the time since now that passed on this
// machine, including suspended time where the system reports it.
func Elapsed() func() time.Duration { return clockElapsed() }
