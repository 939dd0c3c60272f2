package cluster

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

// lastRunInterval is how often a node records that it runs.
const lastRunInterval = time.Minute

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
	if !n.watchdog.clock.IsStarting() || !n.soleVoter() {
		return nil
	}
	ticker := time.NewTicker(watchdogInterval)
	defer ticker.Stop()
	for said := ""; ; {
		if _, err := n.watchdog.clock.Read(); err != nil && err.Error() != said {
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
			return command.ErrClosed
		}
	}
}

// checkStartClock accepts the clock that this node started with, if it can be
// believed.
func (n *Node) checkStartClock() {
	g := &n.watchdog
	g.start.mu.Lock()
	defer g.start.mu.Unlock()
	if !g.start.loaded.Load() || !g.clock.IsStarting() {
		return
	}
	seen := g.clock.TakeReading()
	n.dropClockSamples() // what is known of them may have been read off a clock that was set since
	n.pollPeers(statusTimeout)
	t := watchdog.ClockEvidence{
		Trusted: n.config.TrustClock, KernelErr: n.config.Synchronised(seen.Wall), Voters: n.clockVote(n.Voters()),
	}
	t.LastRun, t.Unconfirmed = n.readLastRun()
	if v, _ := g.clock.Report(); v.HasReference {
		t.PriorContest = watchdog.ClockContest{Ahead: v.Ahead, Unconfirmed: v.Unconfirmed}
	}
	if at := n.core.StateTime(); at > 0 {
		t.Stamp = time.UnixMilli(at)
	}
	now := seen.Wall.Round(0)
	doubt, unvouched := watchdog.EvaluateStartClock(now, t), t.ResidualJump(now)
	if by, lasts, contested := g.clock.Jump(); doubt != nil && contested && t.Voters.AcceptsJump(by, lasts) {
		doubt, unvouched = nil, by
	}
	switch s := &g.start; {
	case doubt == nil:
		if g.clock.AcceptReading(seen, unvouched) {
			n.logClockAccepted(t, seen.After)
			s.finish()
		}
		return
	case doubt == watchdog.ErrClockNoMajority: // nor can it do anything yet without them
	case !s.warned:
		s.warned, s.warnedAt = true, seen.After
		n.log.Warn("cluster: the clock is not believed yet, this node decides nothing by it", "error", doubt)
	case !s.operatorAsked && seen.After-s.warnedAt > watchdog.ClockOperatorDelay:
		s.operatorAsked = true
		n.log.Error("cluster: the clock is still not believed, an operator must say whether it is right", "error", doubt)
	}
	g.clock.SetStartError(doubt, seen)
}

func (n *Node) logClockAccepted(t watchdog.ClockEvidence, now time.Duration) {
	switch {
	case n.watchdog.start.warned:
		n.log.Warn("cluster: the clock is believed now", "after", now-n.watchdog.start.warnedAt)
	case t.Stamp.IsZero() && t.LastRun.IsZero() && t.KernelErr != nil && !t.Trusted && !t.Voters.Confirms():
		n.log.Warn("cluster: nobody vouches for this node's clock, and a new data folder has nothing to compare it with: make sure that it is right",
			"kernel", t.KernelErr)
	}
}

// lastRunFile holds the time that the clock showed when this node last ran, and the sum
// of the jumps in it that nobody confirmed, including one that was not accepted: a
// restart of all nodes must not make it right. It need not be there.
const lastRunFile = "last-run"

// readLastRun reads lastRunFile. It returns the zero time if that is not known.
func (n *Node) readLastRun() (at time.Time, unvouched time.Duration) {
	var ms, sum int64
	if err := watchdog.ReadTimes(filepath.Join(n.config.Dir, lastRunFile), &ms, &sum); err != nil || ms == 0 {
		return time.Time{}, 0
	}
	return time.UnixMilli(ms), time.Duration(sum) * time.Millisecond
}

// writeLastRun writes lastRunFile, unless this node knows too little of its clock.
func (n *Node) writeLastRun() error {
	n.watchdog.start.writeMu.Lock()
	defer n.watchdog.start.writeMu.Unlock()
	v, _ := n.watchdog.clock.Report()
	if !v.HasReference {
		return nil
	}
	if err := watchdog.WriteTimes(filepath.Join(n.config.Dir, lastRunFile), watchdog.StampOf(v.Wall), (v.Ahead + v.Unconfirmed).Milliseconds()); err != nil {
		return fmt.Errorf("write time of last run: %w", err)
	}
	return nil
}

// writeLastRunIfDue is writeLastRun once a minute, and when it is due. It does not wait
// for the disk.
func (n *Node) writeLastRunIfDue() {
	s, now := &n.watchdog.start, n.watchdog.elapsed()
	young := s.writtenAt != 0 && now-s.writtenAt < lastRunInterval
	if v, _ := n.watchdog.clock.Report(); young && !s.writeDue.Load() || !v.HasReference || s.asyncWrite.Swap(true) {
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
