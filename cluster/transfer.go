package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mintmark-auth/mintmark/cluster/election"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// TransferLeadership transfers leadership to a member, or with "" to the voter that
// election.Elector.FallbackTarget returns, else to the one that raft chooses. It returns
// when the old leader has contact to the new one. The error is a *RefusedError if that
// member can't lead now.
func (n *Node) TransferLeadership(ctx context.Context, name string) error {
	to := ""
	if name != "" {
		m := member.Named(n.View(), name)
		if m == nil {
			return &member.NoNodeError{Name: name}
		}
		to = m.ID
	}
	return n.viaLeader(ctx, n.config.LeaderTimeout, func(w election.Route) error {
		if w.Leading {
			return n.transferChecked(ctx, to)
		}
		_, err := n.askLeader(ctx, w, transport.OpTransfer, []byte(to))
		return err
	})
}

// transferChecked is transferLeadership for operators: raft's errors don't explain why a
// voter can't lead.
func (n *Node) transferChecked(ctx context.Context, to string) error {
	voters := n.Voters()
	switch {
	case to == string(n.id):
		return nil
	case to != "" && !slices.Contains(voters, to):
		return member.Refuse(fmt.Errorf("node %s can't lead yet: %w", n.nameOf(to), member.ErrNotVoter))
	case len(voters) < 2:
		return member.Refuse(member.ErrNoOtherVoter)
	}
	q := n.quorum(ctx)
	if !q.hasMajority() {
		return q.noMajorityError()
	}
	if slices.Contains(q.silent, n.nameOf(to)) {
		return member.Refuse(fmt.Errorf("node %s %w", n.nameOf(to), member.ErrVoterSilent))
	}
	err := n.transferLeadership(ctx, to)
	if err == nil || errors.Is(err, errNotLeading) {
		return err
	}
	n.log.Warn("leadership not transferred", "error", err)
	who := "no other node took over"
	if to != "" {
		who = "node " + n.nameOf(to) + " did not take over"
	}
	return member.Refuse(member.ErrNotTransferred.WithText(who + " in time, node " + n.nameOf(string(n.id)) + " still leads"))
}

// Leading reports whether this node leads, which it does when it has been elected
// and has applied everything that was committed before, and returns a channel
// that is closed when that changes.
func (n *Node) Leading() (bool, <-chan struct{}) { return n.leader.Get() }

// WhileLeading runs duty whenever this node leads, with a context that ends when
// it no longer does, and waits for it to return. It returns when ctx ends or the
// node closes. A duty that returns early is run again at the next election.
func (n *Node) WhileLeading(ctx context.Context, duty func(context.Context)) {
	n.leader.WhileLeading(ctx, duty)
}

// InTouch reports whether the state of this node is nearly up to date: it leads, or its last
// contact with the leader was a moment ago.
func (n *Node) InTouch() bool { return n.leader.InTouch() }

// StepDown transfers leadership before the node stops, if another voter can take it.
// Until then the node still answers requests. Afterwards it does not campaign.
func (n *Node) StepDown(ctx context.Context) { n.leader.StepDown(ctx) }

// Voters returns the ids of the nodes that vote, as this node knows them.
func (n *Node) Voters() []string { return n.leader.Voters() }

// Leader returns the name of the leader that this node knows, "" if it knows none.
func (n *Node) Leader() string {
	w := n.leader.Route()
	switch {
	case w.Leading:
		return n.nameOf(string(n.id))
	case w.Leader == "":
		return ""
	}
	return n.nameOf(w.Leader)
}

// AwaitNewLeader waits until Leader is another node than before, and returns its name; "" if
// ctx ends first.
func (n *Node) AwaitNewLeader(ctx context.Context, before string) (name string) {
	if n.waitFor(ctx, func() bool {
		name = n.Leader()
		return name != "" && name != before
	}) != nil {
		return ""
	}
	return name
}

// transferLeadership transfers the leadership of this node, with "" to the best other
// voter.
func (n *Node) transferLeadership(ctx context.Context, to string) error {
	err := n.leader.Transfer(ctx, to)
	if errors.Is(err, errNotLeading) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}
