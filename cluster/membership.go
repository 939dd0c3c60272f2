package cluster

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// A RefusedError is the answer to a change of membership that the rules do not
// allow.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// A NoNodeError says that the cluster has no node of a name.
type NoNodeError struct{ Name string }

func (e *NoNodeError) Error() string { return "the cluster has no node " + e.Name }
func (e *NoNodeError) Unwrap() error { return &RefusedError{e.Error()} }

// A NoMajorityError says that nothing can be decided, whatever the rules allow,
// and what to do about it.
type NoMajorityError struct{ Reason string }

func (e *NoMajorityError) Error() string { return e.Reason }
func (e *NoMajorityError) Unwrap() error { return &RefusedError{e.Reason} }

// decide proposes a command of this package.
func (n *Node) decide(ctx context.Context, c command.Command) (membership, error) {
	value, _, err := n.Propose(ctx, c)
	if err != nil {
		return membership{}, err
	}
	m := value.(membership)
	if m.Refused != "" {
		return m, &RefusedError{m.Refused}
	}
	return m, nil
}

// syncPeerList keeps the peer list as new as the state, and closes connections
// with those who are no members any more.
func (n *Node) syncPeerList() {
	// Without its file a node goes through lists from before it joined. That it is
	// in none of them tells nothing, and they are kept in memory only.
	sure := !n.peerList.empty()
	for {
		membersChanged, authoritiesChanged, levelRaised := n.Changed(membersTable), n.Changed(authoritiesTable), n.Changed(statusTable)
		var again <-chan time.Time
		if n.config.Network != nil {
			old := n.peerList.get().Members
			view := n.View()
			sure = sure || slices.ContainsFunc(members(view), func(m *Member) bool { return m.ID == string(n.id) })
			changed, later, err := n.peerList.updateFrom(view, n.canOpenAuthority, sure)
			if err != nil {
				n.log.Error("cluster: keep the list of peers", "error", err)
			}
			if changed {
				n.logMemberChanges(old, n.peerList.get().Members)
				n.network.dropNonMembers()
				n.rollbackDetector.forget(func(id string) bool { _, ok := n.peerList.member(id); return !ok })
			}
			if _, listed := n.peerList.member(string(n.id)); !listed && sure && !n.peerList.empty() {
				n.markRemoved(ownLog)
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
		changed := n.Changed(membersTable)
		if err := n.reconcile(ctx); err != nil && ctx.Err() == nil {
			n.log.Warn("cluster: reconcile members", "error", err)
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
	all := members(view)
	if len(all) == 0 {
		return n.bootstrapMembers(ctx)
	}
	if err := n.reconcileServers(ctx); err != nil {
		return err
	}
	if n.checkStamp() != nil {
		return nil // what follows depends on the clock
	}
	now := n.config.Now().UnixMilli()
	for _, i := range list[invite](view, invitesTable) {
		if now >= i.Expires {
			if _, err := n.decide(ctx, &expireInvites{}); err != nil {
				return err
			}
			break
		}
	}
	if err := n.reconcileAuthorities(ctx, view, all); err != nil {
		return err
	}
	return n.reconcileLevel(ctx, all)
}

// reconcileServers makes one change of raft's configuration, if one is due, and
// unless somebody else is making one: a member that is being removed must not be
// taken in again meanwhile.
func (n *Node) reconcileServers(ctx context.Context) error {
	if !n.configMu.tryLock() {
		return nil
	}
	defer n.configMu.unlock()
	member, suffrage := n.membersAndServers() // as the change before left them
	for id := range suffrage {
		if member[id] != nil {
			continue
		}
		if id == n.id {
			// This node was removed: another one must lead the change.
			return n.transferLeadership(ctx, "")
		}
		n.log.Info("cluster: a node leaves the configuration", "id", id)
		return await(n.raft.RemoveServer(id, 0, n.config.ProposeTimeout), n.stopped)
	}
	for id, m := range member {
		role, known := suffrage[id]
		switch {
		case !known:
			n.log.Info("cluster: a node joins and catches up", "name", m.Name, "id", id)
			return await(n.raft.AddNonvoter(id, raft.ServerAddress(id), 0, n.config.ProposeTimeout), n.stopped)
		case role == raft.Voter && member[raft.ServerID(m.Replaces)] != nil:
			if gone, err := n.removeReplaced(ctx, m); gone || err != nil {
				return err
			}
		case role != raft.Voter:
			committed := n.raft.CommitIndex()
			s, err := n.askStatus(ctx, string(id))
			if err != nil || s.Applied+maxPromotionLag < committed {
				continue
			}
			n.log.Info("cluster: a node has caught up and becomes a voter", "name", m.Name, "id", id)
			return await(n.raft.AddVoter(id, raft.ServerAddress(id), 0, n.config.ProposeTimeout), n.stopped)
		}
	}
	return nil
}

// membersAndServers are those of the state, and those of raft's configuration.
func (n *Node) membersAndServers() (map[raft.ServerID]*Member, map[raft.ServerID]raft.ServerSuffrage) {
	member := make(map[raft.ServerID]*Member)
	for _, m := range members(n.View()) {
		member[raft.ServerID(m.ID)] = m
	}
	suffrage := make(map[raft.ServerID]raft.ServerSuffrage)
	for _, s := range n.raft.GetConfiguration().Configuration().Servers {
		suffrage[s.ID] = s.Suffrage
	}
	return member, suffrage
}

// reconcileLevel raises the feature level when every member's program has it.
func (n *Node) reconcileLevel(ctx context.Context, all []*Member) error {
	lowest := n.core.schema.level
	for _, m := range all {
		lowest = min(lowest, m.Level)
	}
	if lowest <= n.core.level.Load() {
		return nil
	}
	n.log.Info("cluster: all nodes support a higher feature level, raising it", "feature_level", lowest)
	_, err := n.decide(ctx, &raiseLevel{Level: lowest})
	return err
}

// Voters returns the ids of the nodes that vote, as this node knows them.
func (n *Node) Voters() []string {
	var ids []string
	for _, s := range n.raft.GetConfiguration().Configuration().Servers {
		if s.Suffrage == raft.Voter {
			ids = append(ids, string(s.ID))
		}
	}
	return ids
}

// Members returns the members as this node knows them.
func (n *Node) Members() []Member { return n.peerList.get().Members }

// waitFor polls a condition that nothing announces.
func (n *Node) waitFor(ctx context.Context, met func() bool) error {
	for !met() {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		case <-n.stopped:
			return errClosed
		}
	}
	return nil
}
