package cluster

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// A clock that a node starts with has nothing to have jumped from. Before its
// first stamp it is compared with all that knows of the time: the newest stamp in
// the folder and when this node last ran, which can't be ahead of it, the kernel,
// and the other voters. It is accepted where
//
//   - a majority of the voters, this node not among them, stand for a time within
//     10 s of it;
//   - the kernel says that its clock is synchronised, and shows the same time;
//   - the operator said at the start that there is nobody to ask
//     (Config.TrustClock);
//   - nothing in the folder tells a time: it is empty, or was just restored;
//   - it is no more than 10 minutes ahead of the newest time that the folder
//     tells, and not behind the newest stamp by more than 10 s; something is known
//     of the clocks of a majority of the voters; and no more of them stand for
//     another time than for that of this clock: otherwise a jump that was refused
//     would be accepted after a restart. As many may differ as agree, so that one
//     wrong clock can't keep all others from starting;
//   - or an operator says so (AcceptClock).
//
// The other voters are asked before each judgement, also the first one. A node
// whose clock they contest stands for their time from then on, even when they
// restart or are gone: otherwise nodes that restart one after the other with the
// same wrong clock would leave nobody who knows better. Its clock is accepted as
// one that jumped by as much, and may come to the time that others stand for.
//
// Jumps that nobody confirmed are still in the clock when the node starts again,
// unless the clock is behind the time at which the node last ran: then it was set
// back, by that much at least. They count whether the node accepted them or not, so
// that a restart of all nodes, of which none can tell the others better, makes no
// jump right. What is left of them may be 5 minutes, as while the node runs.
//
// Until then this is asked again each second: at boot a clock is often set, or
// the kernel told, some moments after this program starts. After two minutes the
// log asks for an operator. A clock that is set meanwhile does not jump.
const (
	clockMaxAhead      = 10 * time.Minute // how far a clock may be ahead of the times in the folder
	clockOperatorDelay = 2 * time.Minute  // how long a node waits before it asks for an operator
	// lastRunInterval is how often a node records that it runs.
	lastRunInterval = time.Minute
)

// ClockStartError says why the clock that a node started with is not believed.
type ClockStartError struct {
	Reason  string
	contest *clockContest // nil where the others do not contest the clock
}

func (e *ClockStartError) Error() string { return e.Reason }

var (
	errClockDataNotLoaded = &ClockStartError{Reason: "this node is still reading its data, with which it compares its clock"}
	errClockNoMajority    = &ClockStartError{Reason: "this node has not heard from a majority of the voters, with whose clocks it compares its own"}
)

// clockStart is what a node knows of the start of its clock.
type clockStart struct {
	loaded       atomic.Bool   // the state has all that the folder is known to have
	accepted     chan struct{} // closed when the clock was accepted
	acceptedOnce sync.Once     // closes it

	mu            sync.Mutex    // guards the next two
	warned        bool          // operators were told of a doubt
	operatorAsked bool          // and asked to end it
	warnedAt      time.Duration // when that began

	writeDue   atomic.Bool   // a note must be written although the last one is young
	asyncWrite atomic.Bool   // one that nobody waits for is being written
	writtenAt  time.Duration // when the last of these was; of runWatchdog
	writeMu    sync.Mutex    // held while a note is written, so that none hides a newer one
}

// finish ends the start: the clock was accepted.
func (s *clockStart) finish() { s.acceptedOnce.Do(func() { close(s.accepted) }) }

// AwaitClock waits until the clock of a sole voter is accepted after the start, and
// then completes what Open left undone because of it. It calls waits with what is
// wrong with the clock, each time that this changes. A node with peers does not wait:
// they may go on without it.
func (n *Node) AwaitClock(ctx context.Context, waits func(why string)) error {
	if !n.watchdog.clock.isStarting() || !n.soleVoter() {
		return nil
	}
	ticker := time.NewTicker(watchdogInterval)
	defer ticker.Stop()
	for said := ""; ; {
		if _, err := n.watchdog.clock.read(); err != nil && err.Error() != said {
			said = err.Error()
			waits(said)
		}
		select {
		case <-n.watchdog.start.accepted:
			return n.completeBootstrap(ctx)
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for a clock that is believed: %w", ctx.Err())
		case <-n.closing:
			return errClosed
		}
	}
}

// clockEvidence are the times that a node knows of at a start.
type clockEvidence struct {
	stamp        time.Time     // newest in the folder, zero if there is none
	lastRun      time.Time     // when this node last ran, zero if that is not known
	unconfirmed  time.Duration // the sum of the jumps in ran that nobody confirmed
	trusted      bool          // nobody is to be asked
	kernelErr    error         // why the kernel does not vouch for the clock
	voters       clockVote     // what the voters say of it
	priorContest clockContest  // what they said before, zero if they did not contest it
}

// contest is what voters say who contest the clock. What they said before counts
// until one of them stands for the time of the clock.
func (t clockEvidence) contest() *clockContest {
	switch {
	case t.voters.contests():
		return &t.voters.contest
	case t.voters.steady == 0 && t.priorContest.ahead.Abs() > ClockTolerance:
		return &t.priorContest
	}
	return nil
}

// residualJump is the sum of the jumps that nobody confirmed and that are still in the
// clock.
func (t clockEvidence) residualJump(now time.Time) time.Duration {
	switch {
	case t.trusted, t.kernelErr == nil:
		return 0
	case t.voters.confirms():
		return t.voters.unconfirmed
	}
	since := now.Sub(t.lastRun.Add(-t.unconfirmed))
	return min(max(since, min(t.unconfirmed, 0)), max(t.unconfirmed, 0))
}

// evaluateStartClock returns why a clock is not accepted at a start, or nil if it is.
func evaluateStartClock(now time.Time, t clockEvidence) *ClockStartError {
	newest, what := t.stamp, "the newest decision in its data folder"
	if !t.lastRun.IsZero() && !t.lastRun.Before(newest) {
		newest, what = t.lastRun, "when it last ran"
	}
	contest := t.contest()
	var why string
	switch {
	case t.voters.confirms(), t.trusted, t.kernelErr == nil, newest.IsZero():
		return nil
	case now.Before(t.stamp.Add(-ClockTolerance)):
		why = fmt.Sprintf("is %s behind the newest decision in its data folder", between(now, t.stamp))
	case now.After(newest.Add(clockMaxAhead)):
		why = fmt.Sprintf("is %s ahead of %s", between(newest, now), what)
	case contest != nil:
		way := "ahead of"
		if contest.ahead < 0 {
			way = "behind"
		}
		why = fmt.Sprintf("is %s %s the clocks of nodes that run steadily", contest.ahead.Abs().Round(time.Second), way)
	case t.residualJump(now).Abs() > clockJumpLimit:
		why = fmt.Sprintf("is off by %s since it jumped while this node ran", t.residualJump(now).Round(time.Second))
	case !t.voters.majorityKnown():
		return errClockNoMajority
	default:
		return nil
	}
	return &ClockStartError{contest: contest, Reason: fmt.Sprintf("this node's clock, which shows %s, %s, and nobody vouches for it (%v; no majority of other nodes agrees): "+
		"set it right, or accept it with mintmark cluster accept-clock", now.UTC().Format(time.RFC3339), why, t.kernelErr)}
}

// between returns the time between two times, rounded for people.
func between(from, to time.Time) time.Duration { return to.Sub(from).Round(time.Second) }

// checkStartClock accepts the clock that this node started with, if it can be
// believed.
func (n *Node) checkStartClock() {
	g := &n.watchdog
	g.start.mu.Lock()
	defer g.start.mu.Unlock()
	if !g.start.loaded.Load() || !g.clock.isStarting() {
		return
	}
	seen := g.clock.takeReading()
	n.dropClockSamples() // what is known of them may have been read off a clock that was set since
	n.pollPeers(statusTimeout)
	t := clockEvidence{
		trusted: n.config.TrustClock, kernelErr: n.config.Synchronised(seen.wall), voters: n.clockVote(n.Voters()),
	}
	t.lastRun, t.unconfirmed = n.readLastRun()
	if v, _ := g.clock.report(); v.hasReference {
		t.priorContest = clockContest{v.ahead, v.unconfirmed}
	}
	if at := n.core.at.Load(); at > 0 {
		t.stamp = time.UnixMilli(at)
	}
	now := seen.wall.Round(0)
	doubt, unvouched := evaluateStartClock(now, t), t.residualJump(now)
	if by, lasts, contested := g.clock.jump(); doubt != nil && contested && t.voters.acceptsJump(by, lasts) {
		doubt, unvouched = nil, by
	}
	switch s := &g.start; {
	case doubt == nil:
		if g.clock.acceptReading(seen, unvouched) {
			n.logClockAccepted(t, seen.after)
			s.finish()
		}
		return
	case doubt == errClockNoMajority: // nor can it do anything yet without them
	case !s.warned:
		s.warned, s.warnedAt = true, seen.after
		n.log.Warn("cluster: the clock is not believed yet, this node decides nothing by it", "error", doubt)
	case !s.operatorAsked && seen.after-s.warnedAt > clockOperatorDelay:
		s.operatorAsked = true
		n.log.Error("cluster: the clock is still not believed, an operator must say whether it is right", "error", doubt)
	}
	g.clock.setStartError(doubt, seen)
}

func (n *Node) logClockAccepted(t clockEvidence, now time.Duration) {
	switch {
	case n.watchdog.start.warned:
		n.log.Warn("cluster: the clock is believed now", "after", now-n.watchdog.start.warnedAt)
	case t.stamp.IsZero() && t.lastRun.IsZero() && t.kernelErr != nil && !t.trusted && !t.voters.confirms():
		n.log.Warn("cluster: nobody vouches for this node's clock, and a new data folder has nothing to compare it with: make sure that it is right",
			"kernel", t.kernelErr)
	}
}

// lastRunFile holds the time that the clock showed when this node last ran, and the sum
// of the jumps in it that nobody confirmed, including one that was not accepted: a
// restart of all nodes must not make it right. It need not be there.
const lastRunFile = "last-run"

// readLastRun reads lastRunFile. It returns the zero time if that is not known.
func (n *Node) readLastRun() (at time.Time, unvouched time.Duration) {
	var ms, sum int64
	if err := readTimes(filepath.Join(n.config.Dir, lastRunFile), &ms, &sum); err != nil || ms == 0 {
		return time.Time{}, 0
	}
	return time.UnixMilli(ms), time.Duration(sum) * time.Millisecond
}

// writeLastRun writes lastRunFile, unless this node knows too little of its clock.
func (n *Node) writeLastRun() error {
	n.watchdog.start.writeMu.Lock()
	defer n.watchdog.start.writeMu.Unlock()
	v, _ := n.watchdog.clock.report()
	if !v.hasReference {
		return nil
	}
	if err := writeTimes(filepath.Join(n.config.Dir, lastRunFile), stampOf(v.wall), (v.ahead + v.unconfirmed).Milliseconds()); err != nil {
		return fmt.Errorf("write time of last run: %w", err)
	}
	return nil
}

// writeLastRunIfDue is writeLastRun once a minute, and when it is due. It does not wait
// for the disk.
func (n *Node) writeLastRunIfDue() {
	s, now := &n.watchdog.start, n.watchdog.elapsed()
	young := s.writtenAt != 0 && now-s.writtenAt < lastRunInterval
	if v, _ := n.watchdog.clock.report(); young && !s.writeDue.Load() || !v.hasReference || s.asyncWrite.Swap(true) {
		return
	}
	s.writeDue.Store(false)
	s.writtenAt = now
	go func() {
		defer s.asyncWrite.Store(false)
		_ = n.writeLastRun() // the next start knows less; what is wrong with the disk is said elsewhere
	}()
}

// writeLastRunNow is called when the clock jumped or came back: a kill soon after must
// not hide what nobody confirmed.
func (n *Node) writeLastRunNow() {
	n.watchdog.start.writeDue.Store(true)
	n.writeLastRunIfDue()
}
