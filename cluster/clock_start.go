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
//   - a majority of the voters, this node not among them, have steady clocks
//     within 10 s of it;
//   - the kernel says that its clock is synchronised, and shows the same time;
//   - the operator said at the start that there is nobody to ask
//     (Config.TrustClock);
//   - nothing in the folder tells a time: it is empty, or was just restored;
//   - it is no more than 10 minutes ahead of the newest time that the folder
//     tells, and not behind the newest stamp by more than 10 s, and of the voters
//     with steady clocks no more are beyond 10 s of it than are within: otherwise
//     a jump that was refused would be accepted after a restart. As many may
//     differ as agree, so that one wrong clock can't keep all others from
//     starting;
//   - or an operator says so (AcceptClock).
//
// The other voters are asked before each judgement, also the first one.
//
// Until then this is asked again each second: at boot a clock is often set, or
// the kernel told, some moments after this program starts. After two minutes the
// log asks for an operator. A clock that is set meanwhile does not jump.
const (
	clockGap     = 10 * time.Minute // how far a clock may be ahead of the times in the folder
	clockPatient = 2 * time.Minute  // how long a node waits before it asks for an operator
	// clockNoteEvery is how often a node records that it runs.
	clockNoteEvery = time.Minute
)

// ClockStartError says why the clock that a node started with is not believed.
type ClockStartError struct{ Why string }

func (e *ClockStartError) Error() string { return e.Why }

var errClockUnread = &ClockStartError{"this node is still reading its data, with which it compares its clock"}

// clockStart is what a node knows of the start of its clock.
type clockStart struct {
	loaded atomic.Bool   // the state has all that the folder is known to have
	over   chan struct{} // closed when the clock was accepted
	once   sync.Once     // closes it

	judging sync.Mutex    // guards the next two
	doubted bool          // operators were told of a doubt
	asked   bool          // and asked to end it
	began   time.Duration // when that began

	noting atomic.Bool   // a note is being written
	noted  time.Duration // when the last one was; of guard
}

// end ends the start: the clock was accepted.
func (s *clockStart) end() { s.once.Do(func() { close(s.over) }) }

// AwaitClock waits until the clock of a sole voter is accepted after the start, and
// then completes what Open left undone because of it. It calls waits with what is
// wrong with the clock, each time that this changes. A node with peers does not wait:
// they may go on without it.
func (n *Node) AwaitClock(ctx context.Context, waits func(why string)) error {
	if !n.guards.clock.isStarting() || !n.soleVoter() {
		return nil
	}
	ticker := time.NewTicker(guardInterval)
	defer ticker.Stop()
	for said := ""; ; {
		if _, err := n.guards.clock.read(); err != nil && err.Error() != said {
			said = err.Error()
			waits(said)
		}
		select {
		case <-n.guards.start.over:
			return n.complete(ctx)
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for a clock that is believed: %w", ctx.Err())
		case <-n.closing:
			return errClosed
		}
	}
}

// clockTraces are the times that a node knows of at a start.
type clockTraces struct {
	stamp   time.Time // newest in the folder, zero if there is none
	ran     time.Time // when this node last ran, zero if that is not known
	trusted bool      // nobody is to be asked
	kernel  error     // why the kernel does not vouch for the clock
	voters  clockVote // what the clocks of the voters say of it
}

// judgeClock returns why a clock is not accepted at a start, or nil if it is.
func judgeClock(now time.Time, t clockTraces) *ClockStartError {
	newest, what := t.stamp, "the newest decision in its data folder"
	if !t.ran.IsZero() && !t.ran.Before(newest) {
		newest, what = t.ran, "when it last ran"
	}
	var why string
	switch {
	case t.voters.vouches(), t.trusted, t.kernel == nil, newest.IsZero():
		return nil
	case now.Before(t.stamp.Add(-ClockTolerance)):
		why = fmt.Sprintf("is %s behind the newest decision in its data folder", between(now, t.stamp))
	case now.After(newest.Add(clockGap)):
		why = fmt.Sprintf("is %s ahead of %s", between(newest, now), what)
	case t.voters.contests():
		way := "ahead of"
		if t.voters.ahead < 0 {
			way = "behind"
		}
		why = fmt.Sprintf("is %s %s the clocks of nodes that run steadily", t.voters.ahead.Abs().Round(time.Second), way)
	default:
		return nil
	}
	return &ClockStartError{fmt.Sprintf("this node's clock, which shows %s, %s, and nobody vouches for it (%v; no majority of other nodes agrees): "+
		"set it right, or mintmark cluster accept-clock says that it is", now.UTC().Format(time.RFC3339), why, t.kernel)}
}

// between returns the time between two times, rounded for people.
func between(from, to time.Time) time.Duration { return to.Sub(from).Round(time.Second) }

// beginClock accepts the clock that this node started with, if it can be
// believed.
func (n *Node) beginClock() {
	g := &n.guards
	g.start.judging.Lock()
	defer g.start.judging.Unlock()
	if !g.start.loaded.Load() || !g.clock.isStarting() {
		return
	}
	seen := g.clock.see()
	n.forgetClocks() // what is known of them may have been read off a clock that was set since
	n.pollPeers(statusTimeout)
	t := clockTraces{
		ran: n.lastRan(), trusted: n.config.TrustClock, kernel: n.config.Synchronised(seen.wall),
		voters: n.clockVote(n.Voters()),
	}
	if at := n.core.at.Load(); at > 0 {
		t.stamp = time.UnixMilli(at)
	}
	doubt := judgeClock(seen.wall.Round(0), t)
	switch s := &g.start; {
	case doubt == nil:
		if g.clock.acceptAs(seen, true) {
			n.tellClockBegins(t, seen.late)
			s.end()
		}
		return
	case !s.doubted:
		s.doubted, s.began = true, seen.late
		n.log.Warn("cluster: the clock is not believed yet, this node decides nothing by it", "error", doubt)
	case !s.asked && seen.late-s.began > clockPatient:
		s.asked = true
		n.log.Error("cluster: the clock is still not believed, an operator must say whether it is right", "error", doubt)
	}
	g.clock.doubt(doubt)
}

func (n *Node) tellClockBegins(t clockTraces, now time.Duration) {
	switch {
	case n.guards.start.doubted:
		n.log.Warn("cluster: the clock is believed now", "after", now-n.guards.start.began)
	case t.stamp.IsZero() && t.ran.IsZero() && t.kernel != nil && !t.trusted && !t.voters.vouches():
		n.log.Warn("cluster: nobody vouches for this node's clock, and a new data folder has nothing to compare it with: make sure that it is right",
			"kernel", t.kernel)
	}
}

// ranFile holds when a node last ran with a clock that it believed. It need not be
// there.
const ranFile = "ran"

// lastRan is the zero time where it is not known.
func (n *Node) lastRan() time.Time {
	at, err := readTime(filepath.Join(n.config.Dir, ranFile))
	if err != nil || at == 0 {
		return time.Time{}
	}
	return time.UnixMilli(at)
}

// noteRuns records the time in ranFile, if this node's clock is not in doubt.
func (n *Node) noteRuns() error {
	at, err := n.guards.clock.read()
	if err != nil {
		return nil //nolint:nilerr // there is nothing to note
	}
	if err := writeTime(filepath.Join(n.config.Dir, ranFile), at); err != nil {
		return fmt.Errorf("note when this node last ran: %w", err)
	}
	return nil
}

// noteRunsNowAndThen is noteRuns, once a minute. The disk may take as long as it
// pleases: nobody waits for it.
func (n *Node) noteRunsNowAndThen() {
	s, now := &n.guards.start, n.guards.elapsed()
	if s.noted != 0 && now-s.noted < clockNoteEvery || n.guards.clock.isStarting() || s.noting.Swap(true) {
		return
	}
	s.noted = now
	go func() {
		defer s.noting.Store(false)
		_ = n.noteRuns() // the next start knows less; what is wrong with the disk is said elsewhere
	}()
}
