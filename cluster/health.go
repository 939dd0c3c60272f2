package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

// selfChecks are the reasons for which this node must not take part in its cluster, and
// the last verification of its log.
type selfChecks struct {
	removed    *integrity.Removed
	duplicates *integrity.DuplicateCheck
	rollback   *integrity.LogHandshake
	corrupt    atomic.Pointer[error] // what the last verification found
}

// excluded returns an error that wraps member.ErrRemoved or member.ErrDuplicateNode if
// this node must not serve.
func (c *selfChecks) excluded() error { return cmp.Or(c.removed.Err(), c.duplicates.Err()) }

// Removed returns nil, or an error that wraps member.ErrRemoved if this node has learnt
// that it was removed: then it does not serve.
func (n *Node) Removed() error { return n.checks.removed.Err() }

// Duplicate returns nil, or an error that wraps member.ErrDuplicateNode if this process
// was started later than another one of this node: then it isolates itself.
func (n *Node) Duplicate() error { return n.checks.duplicates.Err() }

// Corruption returns what the last verification of the log found, nil if
// nothing.
func (n *Node) Corruption() error {
	if err := n.checks.corrupt.Load(); err != nil {
		return *err
	}
	return nil
}

// AwaitClock waits until the clock of a sole voter is accepted after the start, and
// then completes what Open left undone because of it. It calls waits with what is
// wrong with the clock, each time that this changes. A node with peers does not wait:
// they may go on without it.
func (n *Node) AwaitClock(ctx context.Context, waits func(why string)) error {
	if !n.watchdog.clock.IsStarting() || !n.leader.SoleVoter() {
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
			return fmt.Errorf("wait for a confirmed clock: %w", ctx.Err())
		case <-n.closing:
			return command.ErrClosed
		}
	}
}

// AcceptClock makes a node whose clock jumped, or is not believed at a start, trust
// the clock as it is. If it returns an error, the node trusts the clock until it
// stops, and may doubt it again at its next start.
func (n *Node) AcceptClock() error { return n.watchdog.acceptClock() }

// Check is one condition of health. Err is nil if it holds.
type Check struct {
	Name string
	Err  error
}

// Checks are the conditions that this node knows of itself, without a call to another
// node.
func (n *Node) Checks() []Check {
	return []Check{
		{"disk", n.watchdog.disk.State().Trouble()},
		{"clock", n.watchdog.clock.Trouble()},
		{"time", n.watchdog.stateTimeTrouble(n.core.StateTime(), n.watchdog.wallMillis())},
		{"log", n.Corruption()},
		{"member", n.membershipTrouble()},
	}
}

// membershipTrouble returns why this node may not act as a member, from what another member
// reported, or from the state if it is no older than the peer list: an older state may be from
// before this node was a member.
func (n *Node) membershipTrouble() error {
	list := n.folder.PeerList.Get()
	if err := cmp.Or(n.checks.excluded(), n.checks.rollback.Err()); err != nil || n.config.Network == nil || len(list.Members) == 0 {
		return err
	}
	listed := slices.ContainsFunc(list.Members, func(m member.Member) bool { return m.ID == string(n.id) })
	if listed && machine.ReadStatus(n.View()).Seq < list.Seq || n.isMember(string(n.id)) {
		return nil
	}
	return member.ErrRemoved
}

// trouble describes to other nodes what is wrong with this one.
func (n *Node) trouble() string {
	for _, c := range n.Checks() {
		if c.Err != nil {
			return c.Name + ": " + c.Err.Error()
		}
	}
	if err := n.checks.duplicates.Trouble(); err != nil {
		return err.Error()
	}
	if s := n.watchdog.disk.State(); s.Space == watchdog.SpaceLow {
		return fmt.Sprintf("disk: only %d MiB are left", s.Free>>20)
	}
	return ""
}

// canDecide reports whether this node could decide commands if it led. A disk that
// fills up, or damage in the log, is trouble that does not prevent it.
func (n *Node) canDecide() bool {
	_, clock := n.watchdog.clock.Read()
	return clock == nil && n.watchdog.disk.State().Trouble() == nil && n.membershipTrouble() == nil
}

// Stats returns the numbers that operators watch.
func (n *Node) Stats() status.Stats {
	w := n.leader.Route()
	disk := n.watchdog.disk.State()
	s := status.Stats{
		Leading: w.Leading, LeaderKnown: w.Leading || w.Leader != "",
		Term: n.raft.CurrentTerm(), Applied: n.appliedIndex(), Commit: n.raft.CommitIndex(), Last: n.raft.LastIndex(),
		Level: n.core.Level(), Members: max(len(n.folder.PeerList.Get().Members), 1), Reachable: 1,
		Queue: len(n.pipeline.queue), QueueSize: cap(n.pipeline.queue), InFlight: len(n.pipeline.entries),
		DiskFree: disk.Free, DiskHung: disk.Hung,
		StateAhead: max(n.watchdog.aheadOfClocks(n.core.StateTime(), n.watchdog.wallMillis()), 0),
	}
	if n.net.credentials != nil {
		s.CertificateExpires, _ = n.net.credentials.Expiry()
	}
	samples, now := n.statuses.last()
	for id, p := range samples {
		if _, member := n.folder.PeerList.Member(id); !member || now-p.at > unreachableAfter {
			continue
		}
		s.Reachable++
		s.Lag = max(s.Lag, p.status.Applied-min(p.status.Applied, s.Applied))
		s.ClockOffset = max(s.ClockOffset, p.offset.Abs())
	}
	return s
}

// LastMeta returns state time and the sum of all halts, as of the last command that
// this node has applied: see command.Meta. It may be newer than a View taken before.
// Unlike the clock of this node, it never differs from what the other nodes decide by.
func (n *Node) LastMeta() command.Meta { return n.core.LastMeta() }
