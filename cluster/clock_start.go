package cluster

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

// lastRunInterval is how often a node records that it runs.
const lastRunInterval = time.Minute

// clockStart is what a node knows of the start of its clock.
type clockStart struct {
	loaded       atomic.Bool   // the state has all that the folder is known to have
	accepted     chan struct{} // closed when the clock was accepted
	acceptedOnce sync.Once     // closes it

	mu            sync.Mutex    // guards the next three
	warned        bool          // a doubt was logged
	operatorAsked bool          // it was logged that an operator must end the doubt
	warnedAt      time.Duration // when the doubt was logged

	writeDue   atomic.Bool   // a note must be written although the last one is young
	asyncWrite atomic.Bool   // a write that is not waited for is under way
	writtenAt  time.Duration // when the last of these began; used by nodeWatchdog.run only
	writeMu    sync.Mutex    // held while a note is written, so that none hides a newer one
}

// finish ends the start: the clock was accepted.
func (s *clockStart) finish() { s.acceptedOnce.Do(func() { close(s.accepted) }) }

// checkStartClock accepts the clock that this node started with, if it is confirmed.
func (g *nodeWatchdog) checkStartClock() {
	g.start.mu.Lock()
	defer g.start.mu.Unlock()
	if !g.start.loaded.Load() || !g.clock.IsStarting() {
		return
	}
	seen := g.clock.TakeReading()
	g.statuses.drop() // what is known of them may have been read off a clock that was set since
	g.statuses.poll()
	t := watchdog.ClockEvidence{
		Trusted: g.trustClock, KernelErr: g.synchronised(seen.Wall), Voters: g.statuses.clockVote(g.leader.Voters()),
	}
	t.LastRun, t.Unconfirmed = g.readLastRun()
	if v, _ := g.clock.Report(); v.HasReference {
		t.PriorContest = watchdog.ClockContest{Ahead: v.Ahead, Unconfirmed: v.Unconfirmed}
	}
	if at := g.stateTime(); at > 0 {
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
			g.logClockAccepted(t, seen.After)
			s.finish()
		}
		return
	case doubt == watchdog.ErrClockNoMajority: // nor can it do anything yet without them
	case !s.warned:
		s.warned, s.warnedAt = true, seen.After
		g.log.Warn("clock not confirmed, deciding nothing", "error", doubt)
	case !s.operatorAsked && seen.After-s.warnedAt > watchdog.ClockOperatorDelay:
		s.operatorAsked = true
		g.log.Error("clock not confirmed in time, waiting for an operator", "error", doubt)
	}
	g.clock.SetStartError(doubt, seen)
}

func (g *nodeWatchdog) logClockAccepted(t watchdog.ClockEvidence, now time.Duration) {
	switch {
	case g.start.warned:
		g.log.Warn("clock confirmed", "after", now-g.start.warnedAt)
	case t.Stamp.IsZero() && t.LastRun.IsZero() && t.KernelErr != nil && !t.Trusted && !t.Voters.Confirms():
		g.log.Warn("clock of a new data folder accepted unconfirmed", "kernel", t.KernelErr)
	}
}

// lastRunFile holds the time that the clock showed when this node last ran, and the sum
// of its unconfirmed jumps, including one that was not accepted: a restart of all nodes
// must not confirm it. The file may be missing.
const lastRunFile = "last-run"

// readLastRun reads lastRunFile. It returns the zero time if that is not known.
func (g *nodeWatchdog) readLastRun() (at time.Time, unvouched time.Duration) {
	var ms, sum int64
	if err := watchdog.ReadTimes(filepath.Join(g.dir, lastRunFile), &ms, &sum); err != nil || ms == 0 {
		return time.Time{}, 0
	}
	return time.UnixMilli(ms), time.Duration(sum) * time.Millisecond
}

// writeLastRun writes lastRunFile, unless this node knows too little of its clock.
func (g *nodeWatchdog) writeLastRun() error {
	g.start.writeMu.Lock()
	defer g.start.writeMu.Unlock()
	v, _ := g.clock.Report()
	if !v.HasReference {
		return nil
	}
	if err := watchdog.WriteTimes(filepath.Join(g.dir, lastRunFile), watchdog.StampOf(v.Wall), (v.Ahead + v.Unconfirmed).Milliseconds()); err != nil {
		return fmt.Errorf("write time of last run: %w", err)
	}
	return nil
}

// writeLastRunIfDue is writeLastRun once a minute, and when it is due. It does not wait
// for the disk.
func (g *nodeWatchdog) writeLastRunIfDue() {
	s, now := &g.start, g.elapsed()
	young := s.writtenAt != 0 && now-s.writtenAt < lastRunInterval
	if v, _ := g.clock.Report(); young && !s.writeDue.Load() || !v.HasReference || s.asyncWrite.Swap(true) {
		return
	}
	s.writeDue.Store(false)
	s.writtenAt = now
	go func() {
		defer s.asyncWrite.Store(false)
		_ = g.writeLastRun() // the next start knows less; the disk watchdog logs what is wrong with the disk
	}()
}

// writeLastRunNow is called when the clock jumped or came back: a kill soon after must
// not lose the unconfirmed jump.
func (g *nodeWatchdog) writeLastRunNow() {
	g.start.writeDue.Store(true)
	g.writeLastRunIfDue()
}
