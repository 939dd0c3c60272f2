package watchdog

import (
	"fmt"
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
	ClockOperatorDelay = 2 * time.Minute  // how long a node waits before it asks for an operator
)

// ClockStartError says why the clock that a node started with is not believed.
type ClockStartError struct {
	Reason  string
	contest *ClockContest // nil where the others do not contest the clock
}

// Error implements error.
func (e *ClockStartError) Error() string { return e.Reason }

var (
	errClockDataNotLoaded = &ClockStartError{Reason: "this node is still reading its data, with which it compares its clock"}
	ErrClockNoMajority    = &ClockStartError{Reason: "this node has not heard from a majority of the voters, with whose clocks it compares its own"}
)

// ClockEvidence are the times that a node knows of at a start.
type ClockEvidence struct {
	Stamp        time.Time     // newest in the folder, zero if there is none
	LastRun      time.Time     // when this node last ran, zero if that is not known
	Unconfirmed  time.Duration // the sum of the jumps in LastRun that nobody confirmed
	Trusted      bool          // nobody is to be asked
	KernelErr    error         // why the kernel does not confirm the clock
	Voters       ClockVote     // what the voters say of it
	PriorContest ClockContest  // what they said before, zero if they did not contest it
}

// contest is what voters say who contest the clock. What they said before counts
// until one of them stands for the time of the clock.
func (t ClockEvidence) contest() *ClockContest {
	switch {
	case t.Voters.contests():
		return &t.Voters.contest
	case t.Voters.steady == 0 && t.PriorContest.Ahead.Abs() > ClockTolerance:
		return &t.PriorContest
	}
	return nil
}

// ResidualJump is the sum of the jumps that nobody confirmed and that are still in the
// clock.
func (t ClockEvidence) ResidualJump(now time.Time) time.Duration {
	switch {
	case t.Trusted, t.KernelErr == nil:
		return 0
	case t.Voters.Confirms():
		return t.Voters.Unconfirmed
	}
	since := now.Sub(t.LastRun.Add(-t.Unconfirmed))
	return min(max(since, min(t.Unconfirmed, 0)), max(t.Unconfirmed, 0))
}

// EvaluateStartClock returns why a clock is not accepted at a start, or nil if it is.
func EvaluateStartClock(now time.Time, t ClockEvidence) *ClockStartError {
	newest, what := t.Stamp, "the newest decision in its data folder"
	if !t.LastRun.IsZero() && !t.LastRun.Before(newest) {
		newest, what = t.LastRun, "when it last ran"
	}
	contest := t.contest()
	var why string
	switch {
	case t.Voters.Confirms(), t.Trusted, t.KernelErr == nil, newest.IsZero():
		return nil
	case now.Before(t.Stamp.Add(-ClockTolerance)):
		why = fmt.Sprintf("is %s behind the newest decision in its data folder", between(now, t.Stamp))
	case now.After(newest.Add(clockMaxAhead)):
		why = fmt.Sprintf("is %s ahead of %s", between(newest, now), what)
	case contest != nil:
		way := "ahead of"
		if contest.Ahead < 0 {
			way = "behind"
		}
		why = fmt.Sprintf("is %s %s the clocks of nodes that run steadily", contest.Ahead.Abs().Round(time.Second), way)
	case t.ResidualJump(now).Abs() > clockJumpLimit:
		why = fmt.Sprintf("is off by %s since it jumped while this node ran", t.ResidualJump(now).Round(time.Second))
	case !t.Voters.majorityKnown():
		return ErrClockNoMajority
	default:
		return nil
	}
	return &ClockStartError{contest: contest, Reason: fmt.Sprintf("this node's clock, which shows %s, %s, and nobody vouches for it (%v; no majority of other nodes agrees): "+
		"set it right, or accept it with mintmark cluster accept-clock", now.UTC().Format(time.RFC3339), why, t.KernelErr)}
}

// between returns the time between two times, rounded for people.
func between(from, to time.Time) time.Duration { return to.Sub(from).Round(time.Second) }
