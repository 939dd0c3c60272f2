package cluster

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// decide proposes a command of this package.
func (n *Node) decide(ctx context.Context, c command.Command) (member.Outcome, error) {
	value, _, err := n.Propose(ctx, c)
	if err != nil {
		return member.Outcome{}, err
	}
	m := value.(member.Outcome)
	return m, m.Err()
}

// syncPeerList keeps the peer list as new as the state, and closes connections
// with nodes that are not members any more.
func (n *Node) syncPeerList() {
	// A node without the file applies lists from before it joined. That it is in none of
	// them does not mean that it was removed, and they are kept in memory only.
	sure := !n.folder.PeerList.Empty()
	for {
		membersChanged, authoritiesChanged, levelRaised := n.Changed(member.MembersTable), n.Changed(member.AuthoritiesTable), n.Changed(machine.StatusTable)
		var again <-chan time.Time
		if n.config.Network != nil {
			old := n.folder.PeerList.Get().Members
			view := n.View()
			sure = sure || slices.ContainsFunc(member.All(view), func(m *member.Member) bool { return m.ID == string(n.id) })
			changed, later, err := n.folder.PeerList.UpdateFrom(view, n.authorities.canOpen, sure)
			if err != nil {
				n.log.Error("peer list not stored", "error", err)
			}
			if changed {
				logMemberChanges(n.log, string(n.id), old, n.folder.PeerList.Get().Members)
				n.net.network.DropNonMembers()
				n.checks.rollback.Forget(func(id string) bool { _, ok := n.folder.PeerList.Member(id); return !ok })
			}
			if _, listed := n.folder.PeerList.Member(string(n.id)); !listed && sure && !n.folder.PeerList.Empty() {
				n.checks.removed.Mark(integrity.OwnLog)
			}
			if later || err != nil {
				again = time.After(time.Second)
			}
		}
		select {
		case <-again:
		case <-membersChanged:
		case <-authoritiesChanged:
		case <-levelRaised:
		case <-n.stopped:
			return
		}
	}
}

const (
	reconcileInterval = 500 * time.Millisecond
	// maxPromotionLag is how many entries a node that joins may be behind when it
	// becomes a voter: what is under way at any time.
	maxPromotionLag = 512
)

// reconcileMembers is the leader's duty: raft's configuration follows the members.
// There is no autopilot: nothing here removes a member because it is silent.
func (n *Node) reconcileMembers(ctx context.Context) {
	if n.config.Network == nil {
		return
	}
	ticker := time.NewTicker(reconcileInterval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		changed := n.Changed(member.MembersTable)
		if err := n.reconcile(ctx); err != nil && ctx.Err() == nil {
			n.log.Warn("members not reconciled", "error", err)
		}
		select {
		case <-changed:
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// reconcile takes one round of steps. Each is safe to repeat.
func (n *Node) reconcile(ctx context.Context) error {
	view := n.View()
	all := member.All(view)
	if len(all) == 0 {
		return n.bootstrap.writeMembers(ctx)
	}
	if err := n.reconcileServers(ctx); err != nil {
		return err
	}
	if n.watchdog.checkStamp() != nil {
		return nil // what follows depends on the clock
	}
	now := n.config.Now().UnixMilli()
	for _, i := range member.Invites(view) {
		if now >= i.Expires {
			if _, err := n.decide(ctx, &member.ExpireInvites{}); err != nil {
				return err
			}
			break
		}
	}
	if err := n.authorities.reconcile(ctx, view, all); err != nil {
		return err
	}
	return n.reconcileLevel(ctx, all)
}

// reconcileServers makes one change of raft's configuration, if one is due, and
// unless another change is under way: a member that is being removed must not be
// added again meanwhile.
func (n *Node) reconcileServers(ctx context.Context) error {
	if !n.changes.raft.tryLock() {
		return nil
	}
	defer n.changes.raft.unlock()
	byID, suffrage := n.membersAndServers() // as the change before left them
	for id := range suffrage {
		if byID[id] != nil {
			continue
		}
		if id == n.id {
			// This node was removed: another one must lead the change.
			return n.transferLeadership(ctx, "")
		}
		n.log.Info("node no longer a member, removing it from the raft configuration", "id", id)
		return transport.Await(n.raft.RemoveServer(id, 0, n.config.ProposeTimeout), n.stopped)
	}
	for id, m := range byID {
		role, known := suffrage[id]
		switch {
		case !known:
			n.log.Info("node joined, adding it to the raft configuration", "name", m.Name, "id", id)
			return transport.Await(n.raft.AddNonvoter(id, raft.ServerAddress(id), 0, n.config.ProposeTimeout), n.stopped)
		case role == raft.Voter && byID[raft.ServerID(m.Replaces)] != nil:
			if gone, err := n.removeReplaced(ctx, m); gone || err != nil {
				return err
			}
		case role != raft.Voter:
			committed := n.raft.CommitIndex()
			s, err := n.statuses.ask(ctx, string(id))
			if err != nil || s.Applied+maxPromotionLag < committed {
				continue
			}
			n.log.Info("node caught up, making it a voter", "name", m.Name, "id", id)
			return transport.Await(n.raft.AddVoter(id, raft.ServerAddress(id), 0, n.config.ProposeTimeout), n.stopped)
		}
	}
	return nil
}

// membersAndServers are those of the state, and those of raft's configuration.
func (n *Node) membersAndServers() (map[raft.ServerID]*member.Member, map[raft.ServerID]raft.ServerSuffrage) {
	byID := make(map[raft.ServerID]*member.Member)
	for _, m := range member.All(n.View()) {
		byID[raft.ServerID(m.ID)] = m
	}
	suffrage := make(map[raft.ServerID]raft.ServerSuffrage)
	for _, s := range n.raft.GetConfiguration().Configuration().Servers {
		suffrage[s.ID] = s.Suffrage
	}
	return byID, suffrage
}

// reconcileLevel raises the feature level when every member's program has it.
func (n *Node) reconcileLevel(ctx context.Context, all []*member.Member) error {
	lowest := n.core.Supports()
	for _, m := range all {
		lowest = min(lowest, m.Level)
	}
	if lowest <= n.core.Level() {
		return nil
	}
	n.log.Info("feature level supported by all nodes, raising it", "feature_level", lowest)
	_, err := n.decide(ctx, &member.RaiseLevel{Level: lowest})
	return err
}

// Members returns the members as this node knows them.
func (n *Node) Members() []member.Member { return n.folder.PeerList.Get().Members }

// isMember reports whether the state has a member, or the peer list while there is no
// state yet.
func (n *Node) isMember(id string) bool {
	txn := n.View()
	if member.ByID(txn, id) != nil {
		return true
	}
	_, listed := n.folder.PeerList.Member(id)
	return listed && len(member.All(txn)) == 0
}
