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
func (w *nodeWatchdog) checkStartClock() {
	w.start.mu.Lock()
	defer w.start.mu.Unlock()
	if !w.start.loaded.Load() || !w.clock.IsStarting() {
		return
	}
	seen := w.clock.TakeReading()
	w.statuses.drop() // what is known of them may have been read off a clock that was set since
	w.statuses.poll()
	t := watchdog.ClockEvidence{
		Trusted: w.trustClock, KernelErr: w.synchronised(seen.Wall), Voters: w.statuses.clockVote(w.leader.Voters()),
	}
	t.LastRun, t.Unconfirmed = w.readLastRun()
	if v, _ := w.clock.Report(); v.HasReference {
		t.PriorContest = watchdog.ClockContest{Ahead: v.Ahead, Unconfirmed: v.Unconfirmed}
	}
	if at := w.stateTime(); at > 0 {
		t.Stamp = time.UnixMilli(at)
	}
	now := seen.Wall.Round(0)
	doubt, unconfirmed := watchdog.EvaluateStartClock(now, t), t.ResidualJump(now)
	if by, lasts, contested := w.clock.Jump(); doubt != nil && contested && t.Voters.AcceptsJump(by, lasts) {
		doubt, unconfirmed = nil, by
	}
	switch s := &w.start; {
	case doubt == nil:
		if w.clock.AcceptReading(seen, unconfirmed) {
			w.logClockAccepted(t, seen.After)
			s.finish()
		}
		return
	case doubt == watchdog.ErrClockNoMajority: // nor can it do anything yet without them
	case !s.warned:
		s.warned, s.warnedAt = true, seen.After
		w.log.Warn("clock not confirmed, deciding nothing", "error", doubt)
	case !s.operatorAsked && seen.After-s.warnedAt > watchdog.ClockOperatorDelay:
		s.operatorAsked = true
		w.log.Error("clock not confirmed in time, waiting for an operator", "error", doubt)
	}
	w.clock.SetStartError(doubt, seen)
}

func (w *nodeWatchdog) logClockAccepted(t watchdog.ClockEvidence, now time.Duration) {
	switch {
	case w.start.warned:
		w.log.Warn("clock confirmed", "after", now-w.start.warnedAt)
	case t.Stamp.IsZero() && t.LastRun.IsZero() && t.KernelErr != nil && !t.Trusted && !t.Voters.Confirms():
		w.log.Warn("clock of a new data folder accepted unconfirmed", "kernel", t.KernelErr)
	}
}

// lastRunFile holds the time that the clock showed when this node last ran, and the sum
// of its unconfirmed jumps, including one that was not accepted: a restart of all nodes
// must not confirm it. The file may be missing.
const lastRunFile = "last-run"

// readLastRun reads lastRunFile. It returns the zero time if that is not known.
func (w *nodeWatchdog) readLastRun() (at time.Time, unconfirmed time.Duration) {
	var ms, sum int64
	if err := watchdog.ReadTimes(filepath.Join(w.dir, lastRunFile), &ms, &sum); err != nil || ms == 0 {
		return time.Time{}, 0
	}
	return time.UnixMilli(ms), time.Duration(sum) * time.Millisecond
}

// writeLastRun writes lastRunFile, unless this node knows too little of its clock.
func (w *nodeWatchdog) writeLastRun() error {
	w.start.writeMu.Lock()
	defer w.start.writeMu.Unlock()
	v, _ := w.clock.Report()
	if !v.HasReference {
		return nil
	}
	if err := watchdog.WriteTimes(filepath.Join(w.dir, lastRunFile), watchdog.StampOf(v.Wall), (v.Ahead + v.Unconfirmed).Milliseconds()); err != nil {
		return fmt.Errorf("write time of last run: %w", err)
	}
	return nil
}

// writeLastRunIfDue is writeLastRun once a minute, and when it is due. It does not wait
// for the disk.
func (w *nodeWatchdog) writeLastRunIfDue() {
	s, now := &w.start, w.elapsed()
	young := s.writtenAt != 0 && now-s.writtenAt < lastRunInterval
	if v, _ := w.clock.Report(); young && !s.writeDue.Load() || !v.HasReference || s.asyncWrite.Swap(true) {
		return
	}
	s.writeDue.Store(false)
	s.writtenAt = now
	go func() {
		defer s.asyncWrite.Store(false)
		_ = w.writeLastRun() // the next start knows less; the disk watchdog logs what is wrong with the disk
	}()
}

// writeLastRunNow is called when the clock jumped or came back: a kill soon after must
// not lose the unconfirmed jump.
func (w *nodeWatchdog) writeLastRunNow() {
	w.start.writeDue.Store(true)
	w.writeLastRunIfDue()
}
