package cluster

import (
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/election"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/transport"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

// nodeWatchdog acts on what clock and disk do: a node whose clock is not to be trusted
// does not decide or lead, and a node whose disk is not writable isolates itself.
type nodeWatchdog struct {
	dir          string
	log          *slog.Logger
	now          func() time.Time
	elapsed      func() time.Duration
	trustClock   bool
	synchronised func(time.Time) error
	stateTime    func() int64 // time of the last command that was applied, ms
	networked    bool         // whether there are other nodes
	network      *transport.Network
	leader       *election.Elector
	statuses     *peerStatuses
	rollback     *integrity.LogHandshake
	stopped      <-chan struct{}

	clock  *watchdog.Clock
	disk   *watchdog.Disk
	start  clockStart
	behind atomic.Int64  // a time.Duration: result of ClockBehind
	wake   chan struct{} // gets an element when something must be checked now

	loggedJump error // the jump that was logged last; used by run only
}

// watchdogInterval is how often the clock is read and the others are asked.
const watchdogInterval = time.Second

// newWatchdog begins to watch. It returns when the disk is known to work, or not to.
func (n *Node) newWatchdog(elapsed func() time.Duration) *nodeWatchdog {
	c := &n.config
	var files watchdog.DiskProber = &watchdog.DiskFolder{Dir: c.Dir}
	if c.hooks.Disk != nil {
		files = c.hooks.Disk
	}
	return &nodeWatchdog{
		dir: c.Dir, log: n.log, now: c.Now, elapsed: elapsed, trustClock: c.TrustClock, synchronised: c.Synchronised,
		stateTime: n.core.StateTime, networked: c.Network != nil, network: n.net.network,
		leader: n.leader, statuses: n.statuses, rollback: n.checks.rollback, stopped: n.stopped,
		clock: watchdog.NewClock(c.Now, elapsed), disk: watchdog.NewDisk(watchdog.DiskConfig{Prober: files}),
		start: clockStart{accepted: make(chan struct{})}, wake: make(chan struct{}, 1),
	}
}

// elapsedClock returns the clock by which a jump of Now is found.
func (c *Config) elapsedClock() func() time.Duration {
	if c.Elapsed != nil {
		return c.Elapsed
	}
	// Now may be set at will, as in tests, and is the only clock then.
	start := c.Now()
	return func() time.Duration { return c.Now().Sub(start) }
}

// stamp returns the time for a command, in milliseconds since the Unix epoch. It
// returns an error while the clock is in doubt, state time is too far ahead of the
// clocks, or the disk is full: then the command is not proposed.
func (w *nodeWatchdog) stamp() (int64, error) {
	at, err := w.clock.Read()
	if err == nil && w.disk.State().Space == watchdog.SpaceOut {
		err = watchdog.ErrNoSpace
	}
	if err == nil {
		if err := w.stateTimeTrouble(max(w.stateTime(), at), at); err != nil {
			return 0, fmt.Errorf("%w: %w", ErrUnavailable, err) // no other node could stamp either
		}
		return at, nil
	}
	if !w.networked {
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	// Another node can decide: the proposer waits until one leads.
	select {
	case w.wake <- struct{}{}:
	default:
	}
	return 0, fmt.Errorf("%w: %w: %w", ErrUnavailable, errNotLeading, err)
}

// run runs until raft is told to stop.
func (w *nodeWatchdog) run() {
	ticker := time.NewTicker(watchdogInterval)
	defer ticker.Stop()
	defer w.disk.Close()
	r := &reachability{began: w.elapsed(), silent: make(map[string]bool)}
	for {
		state, over := w.disk.Get()
		w.watchDisk(state)
		select {
		case <-over:
			continue
		case <-w.wake:
			w.watchClock()
			continue
		case <-ticker.C:
		case <-w.stopped:
			return
		}
		w.statuses.poll()
		w.statuses.endRound()
		w.statuses.logReachability(r)
		w.watchClock()
		w.rollback.RecordLeaderEntries(w.leader.Voters())
		w.writeLastRunIfDue()
	}
}

// watchDisk isolates a node whose disk is not writable from the other nodes,
// so that they elect one whose disk is (hashicorp/raft #503, #614).
func (w *nodeWatchdog) watchDisk(s watchdog.DiskState) {
	away := s.Bad() || s.Space == watchdog.SpaceOut
	if leading, _ := w.leader.Get(); leading && away && w.networked {
		w.leader.AskToCampaign()
	}
	if w.networked && w.network.Isolate(transport.IsolationDisk, away) {
		if away {
			w.log.Error("disk not writable, isolating node", "error", s.Trouble(), "free", s.Free)
		} else {
			w.log.Warn("disk writable again, node no longer isolated")
		}
	}
	if leading, _ := w.leader.Get(); leading && s.Space == watchdog.SpaceLow && w.leader.MaybeTransfer(w.leader.TransferTarget()) {
		w.log.Warn("disk space low, leadership transferred", "free", s.Free)
	}
}

// isolation describes why this node has isolated itself because of its disk. It
// returns "" if it has not.
func (w *nodeWatchdog) isolation() string {
	s := w.disk.State()
	if !w.network.IsIsolated(transport.IsolationDisk) || s.Trouble() == nil {
		return ""
	}
	return w.diskError(s).Error()
}

// diskError describes the trouble of the disk, with its path and free space.
func (w *nodeWatchdog) diskError(s watchdog.DiskState) error {
	return fmt.Errorf("the disk under %s (%d MiB free): %w", w.dir, s.Free>>20, s.Trouble())
}

// watchClock applies the clock rule (watchdog/clock.go): a node whose clock is not within the
// tolerance of a majority's does not lead.
func (w *nodeWatchdog) watchClock() {
	voters := w.leader.Voters()
	w.updateClockBehind(voters)
	if w.clock.IsStarting() {
		w.checkStartClock()
		return
	}
	leading, _ := w.leader.Get()
	_, err := w.clock.Read()
	w.logClockJump(err, len(voters) > 1 && leading)
	switch {
	case err == nil && leading && w.statuses.clockVote(voters).MustStepDown():
		w.log.Error("leader clock disagreed with a majority of the voters, stepping down")
		if !w.leader.MaybeTransfer(w.leader.FallbackTarget()) {
			w.leader.SuspendLeadership()
		}
	case err != nil:
		if leading && len(voters) > 1 && !w.leader.MaybeTransfer(w.leader.FallbackTarget()) {
			w.leader.SuspendLeadership()
		}
		w.resolveClockJump(voters)
	}
}

// logClockJump logs each jump, and its end, once.
func (w *nodeWatchdog) logClockJump(err error, stepsDown bool) {
	if errors.Is(err, w.loggedJump) {
		return
	}
	switch {
	case err == nil:
		w.log.Warn("clock accepted again")
	case stepsDown:
		w.log.Error("clock jumped, stepping down", "error", err)
	default:
		w.log.Error("clock jumped, deciding nothing until it is accepted", "error", err)
	}
	w.loggedJump = err
	w.writeLastRunNow()
}

// resolveClockJump accepts a clock that jumped where the rule lets it. What is known of
// the others' clocks was read off the one before.
func (w *nodeWatchdog) resolveClockJump(voters []string) {
	seen := w.clock.TakeReading()
	w.statuses.drop()
	w.statuses.poll()
	by, lasts, jumped := w.clock.Jump()
	vote := w.statuses.clockVote(voters)
	switch {
	case !jumped:
	case vote.Confirms() && w.clock.AcceptReading(seen, vote.Unconfirmed):
		w.log.Warn("clock jump accepted, confirmed by the other nodes", "by", by)
	case vote.AcceptsJump(by, lasts) && w.clock.AcceptReading(seen, by):
		w.log.Warn("clock jump accepted, other nodes jumped too", "by", by)
	default:
		return
	}
	w.writeLastRunNow()
}

// clockAgrees reports whether this node's clock allows it to lead. It asks the other
// members if it does not know enough of their clocks.
func (w *nodeWatchdog) clockAgrees() bool {
	voters := w.leader.Voters()
	if len(voters) < 2 {
		return true // stamp refuses what a jump makes doubtful
	}
	if _, err := w.clock.Read(); err != nil {
		return false
	}
	if !w.statuses.clockVote(voters).MayLead() {
		w.statuses.poll()
	}
	w.updateClockBehind(voters)
	return w.statuses.clockVote(voters).MayLead()
}

// acceptClock makes a node whose clock jumped, or is not believed at a start, trust
// the clock as it is. If it returns an error, the node trusts the clock until it
// stops, and may doubt it again at its next start.
func (w *nodeWatchdog) acceptClock() error {
	w.clock.Accept()
	w.statuses.drop()
	w.start.finish()
	return w.writeLastRun()
}

// stateTimeTrouble returns a *StateTimeError if at is too far ahead of the clocks of a
// majority. now is the time of this node's clock. If too few other clocks are known,
// it is compared with that alone. at and now are milliseconds since the Unix epoch.
func (w *nodeWatchdog) stateTimeTrouble(at, now int64) error {
	if by := w.aheadOfClocks(at, now); by > watchdog.ClockTolerance {
		return &watchdog.StateTimeError{At: time.UnixMilli(at), By: by}
	}
	return nil
}

// aheadOfClocks returns how far at is ahead of the clocks of a majority, negative if it
// is behind. at, and now of this node's clock, are milliseconds since the Unix epoch.
func (w *nodeWatchdog) aheadOfClocks(at, now int64) time.Duration {
	most := watchdog.MaxClockOffset.Milliseconds()
	ahead := min(max(at-now, -most), most)
	return time.Duration(ahead)*time.Millisecond + time.Duration(w.behind.Load())
}

// updateClockBehind records how far the clocks of a majority are behind this node's.
func (w *nodeWatchdog) updateClockBehind(voters []string) {
	w.behind.Store(int64(watchdog.ClockBehind(raft.ServerID(w.statuses.self), serverIDs(voters), w.statuses.clockSamples())))
}

// wallMillis returns the time of this node's clock, which may have jumped, in
// milliseconds since the Unix epoch.
func (w *nodeWatchdog) wallMillis() int64 { return watchdog.StampOf(w.now()) }

// checkStamp returns why this node would refuse to stamp if it led now, or nil.
func (w *nodeWatchdog) checkStamp() error {
	at, err := w.clock.Read()
	if err != nil {
		return w.clock.Trouble()
	}
	return w.stateTimeTrouble(max(w.stateTime(), at), at)
}
