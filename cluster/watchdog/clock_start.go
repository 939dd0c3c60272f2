package watchdog

import (
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/errcode"
)

// At a start there is no earlier reading to compare a clock with. Before its first stamp
// it is compared with everything that has a time: the newest stamp in the folder and the
// time when this node last ran, which can't be ahead of it; the kernel; and the other
// voters. It is accepted if
//
//   - a majority of the voters, without this node, have a reference time within 10 s of it;
//   - the kernel reports that its clock is synchronised, and has the same time;
//   - the operator set Config.TrustClock at the start, because there is no other node to
//     compare with;
//   - the folder has no time: it is empty, or was just restored;
//   - it is at most 10 minutes ahead of the newest time in the folder, and at most 10 s
//     behind the newest stamp; the clocks of a majority of the voters are known; and at
//     most as many of them have another reference time as have that of this clock.
//     Otherwise a jump that was refused would be accepted after a restart. A tie is
//     enough, so that one wrong clock can't prevent all others from starting;
//   - or an operator accepts it (AcceptClock).
//
// The other voters are queried before each judgement, including the first. A node whose
// clock they contest has their time as its reference time from then on, even when they
// restart or are gone: otherwise nodes that restart one after the other with the same
// wrong clock would leave no node with the right time. Its clock counts as one that
// jumped by the difference, and is accepted when it returns to their time.
//
// Unconfirmed jumps are still in the clock when the node starts again, unless the clock
// is behind the time at which the node last ran: then it was set back, by at least that
// much. They count whether the node accepted them or not, so that a restart of all nodes
// does not confirm a jump. What is left of them may be at most 5 minutes, as while the
// node runs.
//
// Until the clock is accepted, this is checked every second: at boot a clock is often
// set, or the kernel's status updated, some time after this program starts. After two
// minutes the log asks for an operator. A clock that is set before it is accepted does
// not count as jumped.
const (
	clockMaxAhead      = 10 * time.Minute // how far a clock may be ahead of the times in the folder
	ClockOperatorDelay = 2 * time.Minute  // how long a node waits before it asks for an operator
)

// ClockStartError is the reason why the clock is not accepted at a start.
type ClockStartError struct {
	Reason  string
	contest *ClockContest // nil if the others do not contest the clock
}

// Error implements error.
func (e *ClockStartError) Error() string { return e.Reason }

// ErrClockUnconfirmed reports that neither the kernel nor a majority of other nodes confirms
// a clock.
var ErrClockUnconfirmed = errcode.New("clock_unconfirmed", "no other source confirms it")

var (
	errClockDataNotLoaded = &ClockStartError{Reason: "this node is still reading its data, with which it compares its clock"}
	ErrClockNoMajority    = &ClockStartError{Reason: "this node has not heard from a majority of the voters, with whose clocks it compares its own"}
)

// ClockEvidence has the times that a node knows at a start, and the judgements of others.
type ClockEvidence struct {
	Stamp        time.Time     // newest in the folder, zero if there is none
	LastRun      time.Time     // when this node last ran, zero if that is not known
	Unconfirmed  time.Duration // sum of the unconfirmed jumps in LastRun
	Trusted      bool          // Config.TrustClock
	KernelErr    error         // why the kernel does not confirm the clock
	Voters       ClockVote     // comparison with the voters' clocks
	PriorContest ClockContest  // the latest contest so far, zero if there was none
}

// contest returns the contest of the clock by voters, or nil. An earlier contest counts
// until a voter has the time of the clock as reference time.
func (e ClockEvidence) contest() *ClockContest {
	switch {
	case e.Voters.contests():
		return &e.Voters.contest
	case e.Voters.steady == 0 && e.PriorContest.Ahead.Abs() > ClockTolerance:
		return &e.PriorContest
	}
	return nil
}

// ResidualJump returns the sum of the unconfirmed jumps that are still in the clock.
func (e ClockEvidence) ResidualJump(now time.Time) time.Duration {
	switch {
	case e.Trusted, e.KernelErr == nil:
		return 0
	case e.Voters.Confirms():
		return e.Voters.Unconfirmed
	}
	since := now.Sub(e.LastRun.Add(-e.Unconfirmed))
	return min(max(since, min(e.Unconfirmed, 0)), max(e.Unconfirmed, 0))
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
	return &ClockStartError{contest: contest, Reason: fmt.Sprintf("this node's clock, which shows %s, %s, and %v (%v; no majority of other nodes agrees)",
		now.UTC().Format(time.RFC3339), why, ErrClockUnconfirmed, t.KernelErr)}
}

// between returns the time between two times, in seconds for a message.
func between(from, to time.Time) time.Duration { return to.Sub(from).Round(time.Second) }
