package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/join"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// A node that was removed hears nothing of it: it is in no configuration, so no
// log reaches it, and those whom it calls end the handshake. From a leader that
// is gone it can't tell that. So it asks, as those who join do, whether its key
// is a member's still; whoever answers is known by its certificate, as a member
// of this node's own list, and says no only when its leader has committed
// something since it was asked: one that lags, or was removed itself, can't. A
// cluster that was recovered from one survivor says so to those it gave up. They
// ask although they have a leader: two of them elect one while the survivor is
// down, and it answers neither of them as a member any more.

// membershipCheckInterval is between two times that a node asks those that are silent.
const membershipCheckInterval = 3 * time.Second

// checkMembership asks those who answer nothing else.
func (n *Node) checkMembership(silent []string) {
	if n.Removed() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), membershipCheckInterval)
	defer cancel()
	var asking sync.WaitGroup
	for _, id := range silent {
		asking.Go(func() { n.askIfRemoved(ctx, id) })
	}
	asking.Wait()
}

// silentMembers are the members that have not said for a while how they are, but for
// those that are known to be silent.
func (n *Node) silentMembers(known []string) (ids []string) {
	if n.Removed() != nil {
		return nil
	}
	list := n.folder.PeerList.Get().Members
	n.watchdog.mu.Lock()
	defer n.watchdog.mu.Unlock()
	now := n.watchdog.elapsed()
	for i := range list {
		id := list[i].ID
		p, heard := n.watchdog.peers[id]
		if id != string(n.id) && (!heard || now-p.at > unreachableAfter) && !slices.Contains(known, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// askIfRemoved asks a member whether this node is none any more, and remembers
// that it is so.
func (n *Node) askIfRemoved(ctx context.Context, id string) bool {
	if n.Removed() != nil {
		return true
	}
	a, err := n.askMembership(ctx, id)
	if err != nil || !a.NotMember {
		return false
	}
	by, _ := n.folder.PeerList.Member(id)
	n.removed.Mark(by.Name)
	return true
}

// askMembership asks a node, by the join protocol, whether this node is still a member.
func (n *Node) askMembership(ctx context.Context, id string) (a join.Answer, err error) {
	c, err := n.network.DialMember(id, transport.ProtocolJoin, transport.DialTimeout)
	if err != nil {
		return a, err
	}
	defer func() { _ = c.Close() }()
	return join.Ask(ctx, c, join.Request{CheckMembership: true})
}

// membershipAnswer answers whether a key is a member's, and with led whether there is a
// leader. Only a node with a fresh state says that the key is no member's.
func (n *Node) membershipAnswer(ctx context.Context, key []byte, led bool) join.Answer {
	isMember := func() bool {
		return slices.ContainsFunc(member.All(n.View()), func(m *member.Member) bool { return slices.Equal(m.Key, key) })
	}
	if isMember() && !led {
		return join.Answer{}
	}
	if err := n.unauthenticatedBarrier(ctx); err != nil {
		return join.Answer{Again: true, Refused: err.Error()}
	}
	if len(member.All(n.View())) == 0 {
		return join.Answer{Again: true, Refused: "this cluster has no members yet"}
	}
	return join.Answer{NotMember: !isMember(), HasLeader: true}
}
