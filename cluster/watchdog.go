package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

// nodeWatchdog are what watches over a node beside raft: its clock, its disk, and how
// it compares with the others.
type nodeWatchdog struct {
	clock   *watchdog.Clock
	start   clockStart
	behind  atomic.Int64 // a time.Duration: result of ClockBehind
	elapsed func() time.Duration
	disk    *watchdog.Disk
	wake    chan struct{} // gets an element when something must be looked at now

	loggedJump error // the jump that was logged last; used by runWatchdog only

	mu        sync.Mutex            // guards the rest
	peers     map[string]peerSample // the last status of each other member
	roundDone chan struct{}         // closed at the end of the present round of status queries
}

// nextRound returns a channel that is closed when the watchdog has next asked all other
// members for their status.
func (g *nodeWatchdog) nextRound() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.roundDone
}

func (g *nodeWatchdog) endRound() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.roundDone)
	g.roundDone = make(chan struct{})
}

// peerSample is one answer of a peer.
type peerSample struct {
	status              peerStatus
	offset, uncertainty time.Duration
	at                  time.Duration // elapsed
}

// watchdogInterval is how often the clock is read and the others are asked.
const watchdogInterval = time.Second

// startWatchdog begins to watch. The disk is known to work, or not to, when it
// returns.
func (n *Node) startWatchdog() {
	g := &n.watchdog
	g.elapsed = n.config.Elapsed
	if g.elapsed == nil {
		// A clock of the caller's own is the only one there is.
		start := n.config.Now()
		g.elapsed = func() time.Duration { return n.config.Now().Sub(start) }
	}
	g.clock = watchdog.NewClock(n.config.Now, g.elapsed)
	var files watchdog.DiskProber = &watchdog.DiskFolder{Dir: n.config.Dir}
	if n.config.hooks.disk != nil {
		files = n.config.hooks.disk
	}
	g.disk = watchdog.NewDisk(watchdog.DiskConfig{Prober: files})
	g.start.accepted = make(chan struct{})
	g.peers = make(map[string]peerSample)
	g.roundDone = make(chan struct{})
	g.wake = make(chan struct{}, 1)
}

// stamp returns the time for a command, in milliseconds since the Unix epoch. It
// returns an error while the clock is in doubt, state time is too far ahead of the
// clocks, or the disk is full: then the command is not proposed.
func (n *Node) stamp() (int64, error) {
	at, err := n.watchdog.clock.Read()
	if err == nil && n.watchdog.disk.State().Space == watchdog.SpaceOut {
		err = watchdog.ErrNoSpace
	}
	if err == nil {
		if err := n.stateTimeTrouble(max(n.core.StateTime(), at), at); err != nil {
			return 0, fmt.Errorf("%w: %w", ErrUnavailable, err) // no other node could stamp either
		}
		return at, nil
	}
	if n.config.Network == nil {
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	// Another node can decide: whoever proposes waits until one leads.
	select {
	case n.watchdog.wake <- struct{}{}:
	default:
	}
	return 0, fmt.Errorf("%w: %w: %w", ErrUnavailable, errNotLeading, err)
}

// runWatchdog runs until the node stops.
func (n *Node) runWatchdog() {
	ticker := time.NewTicker(watchdogInterval)
	defer ticker.Stop()
	defer n.watchdog.disk.Close()
	r := n.newReachability()
	for {
		state, over := n.watchdog.disk.Get()
		n.watchDisk(state)
		select {
		case <-over:
			continue
		case <-n.watchdog.wake:
			n.watchClock()
			continue
		case <-ticker.C:
		case <-n.stopped:
			return
		}
		n.pollPeers(statusTimeout)
		n.watchdog.endRound()
		n.logReachability(r)
		n.watchClock()
		n.rollbackDetector.RecordLeaderEntries(n.Voters())
		n.writeLastRunIfDue()
	}
}

// watchDisk keeps a node whose disk does not take writes away from the others,
// so that they elect one whose disk does (hashicorp/raft #503, #614).
func (n *Node) watchDisk(s watchdog.DiskState) {
	away := s.Bad() || s.Space == watchdog.SpaceOut
	if leading, _ := n.Leading(); leading && away && n.config.Network != nil {
		n.askToCampaign()
	}
	if n.config.Network != nil && n.network.Isolate(transport.IsolationDisk, away) {
		if away {
			n.log.Error("cluster: this node keeps away from the others until its disk takes writes again",
				"error", s.Trouble(), "free", s.Free)
		} else {
			n.log.Warn("cluster: the disk takes writes again, this node is back")
		}
	}
	if leading, _ := n.Leading(); leading && s.Space == watchdog.SpaceLow && n.maybeTransfer(n.transferTarget()) {
		n.log.Warn("cluster: the disk fills up, a node with more room leads", "free", s.Free)
	}
}

// isolation describes why this node has isolated itself because of its disk. It
// returns "" if it has not.
func (n *Node) isolation() string {
	s := n.watchdog.disk.State()
	if !n.network.IsIsolated(transport.IsolationDisk) || s.Trouble() == nil {
		return ""
	}
	return n.diskError(s).Error()
}

// diskError describes the trouble of the disk, with its path and free space.
func (n *Node) diskError(s watchdog.DiskState) error {
	return fmt.Errorf("the disk under %s (%d MiB free): %w", n.config.Dir, s.Free>>20, s.Trouble())
}

// askToCampaign has another voter take over from a leader whose own raft may hang
// in the disk and can't hand over.
func (n *Node) askToCampaign() {
	ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
	defer cancel()
	for _, id := range append([]string{n.fallbackTarget()}, n.Voters()...) {
		if id == "" || id == string(n.id) {
			continue
		}
		if _, err := n.peers.Ask(ctx, id, nil, transport.OpCampaign, nil, statusTimeout); err == nil {
			return
		}
	}
}

// watchClock applies the clock rule (clock.go): a node whose clock is not within the
// tolerance of a majority's does not lead.
func (n *Node) watchClock() {
	voters := n.Voters()
	n.updateClockBehind(voters)
	if n.watchdog.clock.IsStarting() {
		n.checkStartClock()
		return
	}
	leading, _ := n.Leading()
	_, err := n.watchdog.clock.Read()
	n.logClockJump(err, len(voters) > 1 && leading)
	switch {
	case err == nil && leading && n.clockVote(voters).MustStepDown():
		n.log.Error("cluster: the clock of this leader differs from the others', it steps down")
		if !n.maybeTransfer(n.fallbackTarget()) {
			n.suspendLeadership()
		}
	case err != nil:
		if leading && len(voters) > 1 && !n.maybeTransfer(n.fallbackTarget()) {
			n.suspendLeadership()
		}
		n.resolveClockJump(voters)
	}
}

// logClockJump logs each jump, and its end, once.
func (n *Node) logClockJump(err error, stepsDown bool) {
	g := &n.watchdog
	if errors.Is(err, g.loggedJump) {
		return
	}
	switch {
	case err == nil:
		n.log.Warn("cluster: the clock is accepted again")
	case stepsDown:
		n.log.Error("cluster: the clock jumped, this leader steps down", "error", err)
	default:
		n.log.Error("cluster: the clock jumped, this node decides nothing until it comes back, other nodes confirm it, "+
			"or an operator accepts it (mintmark cluster accept-clock)", "error", err)
	}
	g.loggedJump = err
	n.writeLastRunNow()
}

// resolveClockJump accepts a clock that jumped where the rule lets it. What is known of
// the others' clocks was read off the one before.
func (n *Node) resolveClockJump(voters []string) {
	seen := n.watchdog.clock.TakeReading()
	n.dropClockSamples()
	n.pollPeers(statusTimeout)
	by, lasts, jumped := n.watchdog.clock.Jump()
	vote := n.clockVote(voters)
	switch {
	case !jumped:
	case vote.Confirms() && n.watchdog.clock.AcceptReading(seen, vote.Unconfirmed):
		n.log.Warn("cluster: the clock jumped to the time of the other nodes, which did not jump", "by", by)
	case vote.AcceptsJump(by, lasts) && n.watchdog.clock.AcceptReading(seen, by):
		n.log.Warn("cluster: the clock jumped and stays there, as others do", "by", by)
	default:
		return
	}
	n.writeLastRunNow()
}

// dropClockSamples is called when samples of others' clocks are of another clock of
// this node's.
func (n *Node) dropClockSamples() {
	n.watchdog.mu.Lock()
	defer n.watchdog.mu.Unlock()
	clear(n.watchdog.peers)
}

// attemptTransfer transfers leadership.
func (n *Node) attemptTransfer(id string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := n.transferLeadership(ctx, id)
	if err != nil {
		n.log.Warn("cluster: leadership stays", "error", err)
	}
	return err == nil
}

// suspendLeadership makes a leader decide nothing until its clock is that of a majority
// again. It stays raft's leader: there is nobody whom that would help.
func (n *Node) suspendLeadership() {
	if election, led := n.leader.Suspend(); led {
		n.running.Go(func() { n.establishLeadership(election) })
	}
}

// clockVote compares the clock with the voters', by what they last reported.
func (n *Node) clockVote(voters []string) watchdog.ClockVote {
	ids := mapped(voters, func(id string) raft.ServerID { return raft.ServerID(id) })
	return watchdog.ClockVerdict(n.id, ids, n.clockSamples(), watchdog.ClockTolerance)
}

func (n *Node) clockSamples() (all []watchdog.ClockSample) {
	n.watchdog.mu.Lock()
	defer n.watchdog.mu.Unlock()
	now := n.watchdog.elapsed()
	for id, p := range n.watchdog.peers {
		all = append(all, watchdog.ClockSample{
			Voter: raft.ServerID(id), Offset: p.offset, Uncertainty: p.uncertainty, Age: now - p.at, HasReference: p.status.HasReference,
			Ahead: time.Duration(p.status.Ahead) * time.Millisecond, Unconfirmed: time.Duration(p.status.Unconfirmed) * time.Millisecond,
		})
	}
	return all
}

// clockAgrees reports whether this node's clock allows it to lead. It asks the other
// members if it does not know enough of their clocks.
func (n *Node) clockAgrees() bool {
	voters := n.Voters()
	if len(voters) < 2 {
		return true // stamp refuses what a jump makes doubtful
	}
	if _, err := n.watchdog.clock.Read(); err != nil {
		return false
	}
	if !n.clockVote(voters).MayLead() {
		n.pollPeers(statusTimeout)
	}
	n.updateClockBehind(voters)
	return n.clockVote(voters).MayLead()
}

// pollPeers asks the other members how they are.
func (n *Node) pollPeers(timeout time.Duration) {
	if n.config.Network == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var asking sync.WaitGroup
	for _, m := range n.folder.PeerList.Get().Members {
		if m.ID != string(n.id) {
			asking.Go(func() { _, _ = n.askStatus(ctx, m.ID) })
		}
	}
	asking.Wait()
}

// recordPeerStatus records the status of a peer, which it sent between two readings of the
// elapsed clock.
func (n *Node) recordPeerStatus(s peerStatus, sent, received time.Duration) {
	offset, uncertainty := watchdog.ClockOffset(sent, received, n.config.Now(), time.UnixMilli(s.Wall))
	n.watchdog.mu.Lock()
	defer n.watchdog.mu.Unlock()
	n.watchdog.peers[s.ID] = peerSample{s, offset, uncertainty + time.Millisecond, received}
}

// AcceptClock makes a node whose clock jumped, or is not believed at a start, trust
// the clock as it is. If it returns an error, the node trusts the clock until it
// stops, and may doubt it again at its next start.
func (n *Node) AcceptClock() error {
	n.watchdog.clock.Accept()
	n.dropClockSamples()
	n.watchdog.start.finish()
	return n.writeLastRun()
}

// Check is one condition of health, nil where it holds.
type Check struct {
	Name string
	Err  error
}

// Checks are the conditions that this node knows of itself, without asking
// anybody.
func (n *Node) Checks() []Check {
	return []Check{
		{"disk", n.diskTrouble()},
		{"clock", n.watchdog.clock.Trouble()},
		{"time", n.stateTimeTrouble(n.core.StateTime(), n.wallMillis())},
		{"log", n.Corruption()},
		{"member", n.membershipTrouble()},
	}
}

func (n *Node) diskTrouble() error { return n.watchdog.disk.State().Trouble() }

// membershipTrouble goes by what a member has said, or by the state, where that
// is no older than the list of peers: one that lags may be from before this node
// was a member.
func (n *Node) membershipTrouble() error {
	list := n.folder.PeerList.Get()
	if err := cmp.Or(n.Removed(), n.Duplicate(), n.RolledBack()); err != nil || n.config.Network == nil || len(list.Members) == 0 {
		return err
	}
	listed := slices.ContainsFunc(list.Members, func(m member.Member) bool { return m.ID == string(n.id) })
	if listed && machine.ReadStatus(n.View()).Seq < list.Seq || n.isMember(string(n.id)) {
		return nil
	}
	return member.ErrRemoved
}

// trouble is what this node tells others is wrong with it.
func (n *Node) trouble() string {
	for _, c := range n.Checks() {
		if c.Err != nil {
			return c.Name + ": " + c.Err.Error()
		}
	}
	if err := n.duplicateTrouble(); err != nil {
		return err.Error()
	}
	if s := n.watchdog.disk.State(); s.Space == watchdog.SpaceLow {
		return fmt.Sprintf("disk: only %d MiB are left", s.Free>>20)
	}
	return ""
}

// canDecide reports whether this node could decide commands if it led. A disk that
// fills up, or damage that the log had, is trouble and no hindrance.
func (n *Node) canDecide() bool {
	_, clock := n.watchdog.clock.Read()
	return clock == nil && n.diskTrouble() == nil && n.membershipTrouble() == nil
}

// Stats is what this node knows at this moment. It waits for nothing.
type Stats struct {
	Leading, LeaderKnown  bool
	Term                  uint64
	Applied, Commit, Last uint64 // of raft's log
	Lag                   uint64 // entries that another node has applied and this one has not
	Level                 uint32
	Members, Reachable    int // Reachable counts this node
	Queue, QueueSize      int
	InFlight              int // entries on their way through the log
	DiskFree              uint64
	DiskHung              bool
	ClockOffset           time.Duration // the largest, against another node
	StateAhead            time.Duration // how far state time is ahead of the clocks of a majority, 0 if it is not
	CertificateExpires    time.Time     // zero without peers
}

// Stats returns the numbers that operators watch.
func (n *Node) Stats() Stats {
	w := n.leader.Route()
	disk := n.watchdog.disk.State()
	s := Stats{
		Leading: w.Leading, LeaderKnown: w.Leading || w.Leader != "",
		Term: n.raft.CurrentTerm(), Applied: n.appliedIndex(), Commit: n.raft.CommitIndex(), Last: n.raft.LastIndex(),
		Level: n.core.Level(), Members: max(len(n.folder.PeerList.Get().Members), 1), Reachable: 1,
		Queue: len(n.queue), QueueSize: cap(n.queue), InFlight: len(n.entries),
		DiskFree: disk.Free, DiskHung: disk.Hung,
		StateAhead: max(n.aheadOfClocks(n.core.StateTime(), n.wallMillis()), 0),
	}
	if n.credentials != nil {
		s.CertificateExpires, _ = n.credentials.Expiry()
	}
	n.watchdog.mu.Lock()
	defer n.watchdog.mu.Unlock()
	now := n.watchdog.elapsed()
	for id, p := range n.watchdog.peers {
		if _, member := n.folder.PeerList.Member(id); !member || now-p.at > 3*watchdogInterval {
			continue
		}
		s.Reachable++
		s.Lag = max(s.Lag, p.status.Applied-min(p.status.Applied, s.Applied))
		s.ClockOffset = max(s.ClockOffset, p.offset.Abs())
	}
	return s
}
