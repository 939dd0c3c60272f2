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
func (g *nodeWatchdog) stamp() (int64, error) {
	at, err := g.clock.Read()
	if err == nil && g.disk.State().Space == watchdog.SpaceOut {
		err = watchdog.ErrNoSpace
	}
	if err == nil {
		if err := g.stateTimeTrouble(max(g.stateTime(), at), at); err != nil {
			return 0, fmt.Errorf("%w: %w", ErrUnavailable, err) // no other node could stamp either
		}
		return at, nil
	}
	if !g.networked {
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	// Another node can decide: the proposer waits until one leads.
	select {
	case g.wake <- struct{}{}:
	default:
	}
	return 0, fmt.Errorf("%w: %w: %w", ErrUnavailable, errNotLeading, err)
}

// run runs until raft is told to stop.
func (g *nodeWatchdog) run() {
	ticker := time.NewTicker(watchdogInterval)
	defer ticker.Stop()
	defer g.disk.Close()
	r := &reachability{began: g.elapsed(), silent: make(map[string]bool)}
	for {
		state, over := g.disk.Get()
		g.watchDisk(state)
		select {
		case <-over:
			continue
		case <-g.wake:
			g.watchClock()
			continue
		case <-ticker.C:
		case <-g.stopped:
			return
		}
		g.statuses.poll()
		g.statuses.endRound()
		g.statuses.logReachability(r)
		g.watchClock()
		g.rollback.RecordLeaderEntries(g.leader.Voters())
		g.writeLastRunIfDue()
	}
}

// watchDisk isolates a node whose disk is not writable from the other nodes,
// so that they elect one whose disk is (hashicorp/raft #503, #614).
func (g *nodeWatchdog) watchDisk(s watchdog.DiskState) {
	away := s.Bad() || s.Space == watchdog.SpaceOut
	if leading, _ := g.leader.Get(); leading && away && g.networked {
		g.leader.AskToCampaign()
	}
	if g.networked && g.network.Isolate(transport.IsolationDisk, away) {
		if away {
			g.log.Error("disk not writable, isolating node", "error", s.Trouble(), "free", s.Free)
		} else {
			g.log.Warn("disk writable again, node no longer isolated")
		}
	}
	if leading, _ := g.leader.Get(); leading && s.Space == watchdog.SpaceLow && g.leader.MaybeTransfer(g.leader.TransferTarget()) {
		g.log.Warn("disk space low, leadership transferred", "free", s.Free)
	}
}

// isolation describes why this node has isolated itself because of its disk. It
// returns "" if it has not.
func (g *nodeWatchdog) isolation() string {
	s := g.disk.State()
	if !g.network.IsIsolated(transport.IsolationDisk) || s.Trouble() == nil {
		return ""
	}
	return g.diskError(s).Error()
}

// diskError describes the trouble of the disk, with its path and free space.
func (g *nodeWatchdog) diskError(s watchdog.DiskState) error {
	return fmt.Errorf("the disk under %s (%d MiB free): %w", g.dir, s.Free>>20, s.Trouble())
}

// watchClock applies the clock rule (watchdog/clock.go): a node whose clock is not within the
// tolerance of a majority's does not lead.
func (g *nodeWatchdog) watchClock() {
	voters := g.leader.Voters()
	g.updateClockBehind(voters)
	if g.clock.IsStarting() {
		g.checkStartClock()
		return
	}
	leading, _ := g.leader.Get()
	_, err := g.clock.Read()
	g.logClockJump(err, len(voters) > 1 && leading)
	switch {
	case err == nil && leading && g.statuses.clockVote(voters).MustStepDown():
		g.log.Error("leader clock disagreed with a majority of the voters, stepping down")
		if !g.leader.MaybeTransfer(g.leader.FallbackTarget()) {
			g.leader.SuspendLeadership()
		}
	case err != nil:
		if leading && len(voters) > 1 && !g.leader.MaybeTransfer(g.leader.FallbackTarget()) {
			g.leader.SuspendLeadership()
		}
		g.resolveClockJump(voters)
	}
}

// logClockJump logs each jump, and its end, once.
func (g *nodeWatchdog) logClockJump(err error, stepsDown bool) {
	if errors.Is(err, g.loggedJump) {
		return
	}
	switch {
	case err == nil:
		g.log.Warn("clock accepted again")
	case stepsDown:
		g.log.Error("clock jumped, stepping down", "error", err)
	default:
		g.log.Error("clock jumped, deciding nothing until it is accepted", "error", err)
	}
	g.loggedJump = err
	g.writeLastRunNow()
}

// resolveClockJump accepts a clock that jumped where the rule lets it. What is known of
// the others' clocks was read off the one before.
func (g *nodeWatchdog) resolveClockJump(voters []string) {
	seen := g.clock.TakeReading()
	g.statuses.drop()
	g.statuses.poll()
	by, lasts, jumped := g.clock.Jump()
	vote := g.statuses.clockVote(voters)
	switch {
	case !jumped:
	case vote.Confirms() && g.clock.AcceptReading(seen, vote.Unconfirmed):
		g.log.Warn("clock jump accepted, confirmed by the other nodes", "by", by)
	case vote.AcceptsJump(by, lasts) && g.clock.AcceptReading(seen, by):
		g.log.Warn("clock jump accepted, other nodes jumped too", "by", by)
	default:
		return
	}
	g.writeLastRunNow()
}

// clockAgrees reports whether this node's clock allows it to lead. It asks the other
// members if it does not know enough of their clocks.
func (g *nodeWatchdog) clockAgrees() bool {
	voters := g.leader.Voters()
	if len(voters) < 2 {
		return true // stamp refuses what a jump makes doubtful
	}
	if _, err := g.clock.Read(); err != nil {
		return false
	}
	if !g.statuses.clockVote(voters).MayLead() {
		g.statuses.poll()
	}
	g.updateClockBehind(voters)
	return g.statuses.clockVote(voters).MayLead()
}

// acceptClock makes a node whose clock jumped, or is not believed at a start, trust
// the clock as it is. If it returns an error, the node trusts the clock until it
// stops, and may doubt it again at its next start.
func (g *nodeWatchdog) acceptClock() error {
	g.clock.Accept()
	g.statuses.drop()
	g.start.finish()
	return g.writeLastRun()
}

// stateTimeTrouble returns a *StateTimeError if at is too far ahead of the clocks of a
// majority. now is the time of this node's clock. If too few other clocks are known,
// it is compared with that alone. at and now are milliseconds since the Unix epoch.
func (g *nodeWatchdog) stateTimeTrouble(at, now int64) error {
	if by := g.aheadOfClocks(at, now); by > watchdog.ClockTolerance {
		return &watchdog.StateTimeError{At: time.UnixMilli(at), By: by}
	}
	return nil
}

// aheadOfClocks returns how far at is ahead of the clocks of a majority, negative if it
// is behind. at, and now of this node's clock, are milliseconds since the Unix epoch.
func (g *nodeWatchdog) aheadOfClocks(at, now int64) time.Duration {
	most := watchdog.MaxClockOffset.Milliseconds()
	ahead := min(max(at-now, -most), most)
	return time.Duration(ahead)*time.Millisecond + time.Duration(g.behind.Load())
}

// updateClockBehind records how far the clocks of a majority are behind this node's.
func (g *nodeWatchdog) updateClockBehind(voters []string) {
	g.behind.Store(int64(watchdog.ClockBehind(raft.ServerID(g.statuses.self), serverIDs(voters), g.statuses.clockSamples())))
}

// wallMillis returns the time of this node's clock, which may have jumped, in
// milliseconds since the Unix epoch.
func (g *nodeWatchdog) wallMillis() int64 { return watchdog.StampOf(g.now()) }

// checkStamp returns why this node would refuse to stamp if it led now, or nil.
func (g *nodeWatchdog) checkStamp() error {
	at, err := g.clock.Read()
	if err != nil {
		return g.clock.Trouble()
	}
	return g.stateTimeTrouble(max(g.stateTime(), at), at)
}
