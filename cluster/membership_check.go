package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/join"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// A removed node is not told so: it is in no configuration, so it receives no log, and the
// nodes that it calls end the handshake. To it that looks like the loss of the leader. So it
// asks, by the protocol of joining, whether its key is still a member's. The node that answers
// is authenticated by its certificate as a member of this node's own list. It answers no only
// if its leader has committed something since the question: a member that lags, or was
// removed itself, can't. A cluster that was recovered from one survivor answers no to the
// nodes that it gave up. They ask although they have a leader: two of them elect one while
// the survivor is down, and the survivor does not accept them as members any more.

const (
	// membershipCheckInterval is between two times that a node asks members that do not
	// answer otherwise.
	membershipCheckInterval = 3 * time.Second
	// disconnectCheckInterval is between two checks after a lost connection.
	disconnectCheckInterval = time.Second
)

// membershipCheck finds out whether this node was removed. Its fields are set before it
// is used.
type membershipCheck struct {
	removed *integrity.Removed
	network *transport.Network
	list    *member.PeerList
	closing <-chan struct{}

	disconnects chan string // ids of members that closed a connection, to be asked
}

// check asks members that do not answer otherwise.
func (m *membershipCheck) check(silent []string) {
	if m.removed.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), membershipCheckInterval)
	defer cancel()
	var asking sync.WaitGroup
	for _, id := range silent {
		asking.Go(func() { m.askIfRemoved(ctx, id) })
	}
	asking.Wait()
}

// askIfRemoved asks a member whether this node was removed, and records that it was.
func (m *membershipCheck) askIfRemoved(ctx context.Context, id string) bool {
	if m.removed.Err() != nil {
		return true
	}
	a, err := m.ask(ctx, id)
	if err != nil || !a.NotMember {
		return false
	}
	by, _ := m.list.Member(id)
	m.removed.Mark(by.Name)
	return true
}

// ask asks a member, by the join protocol, whether this node is still a member.
func (m *membershipCheck) ask(ctx context.Context, id string) (a join.Answer, err error) {
	c, err := m.network.DialMember(id, transport.ProtocolJoin, transport.DialTimeout)
	if err != nil {
		return a, err
	}
	defer func() { _ = c.Close() }()
	return join.Ask(ctx, c, join.Request{CheckMembership: true})
}

// noteDisconnect has this node ask a member that closed a connection. It does not wait.
func (m *membershipCheck) noteDisconnect(id string) {
	select {
	case m.disconnects <- id:
	default: // another member is about to be asked
	}
}

// watchDisconnects asks members that closed a connection, until the node closes. A node
// that was removed finds out by that at once and not at its next round, so that requests
// to it fail at once, and whatever balances the load notices. A lost connection means
// little otherwise, because a node that stops ends connections too; so the answer decides.
func (m *membershipCheck) watchDisconnects() {
	for {
		select {
		case id := <-m.disconnects:
			ctx, cancel := context.WithTimeout(context.Background(), membershipCheckInterval)
			m.askIfRemoved(ctx, id)
			cancel()
		case <-m.closing:
			return
		}
		select {
		case <-time.After(disconnectCheckInterval):
		case <-m.closing:
			return
		}
	}
}

// confirm asks a member whether this node was removed. Another check may be under way:
// one of two is answered at once, and what that one learns ends the connection of the
// other.
func (m *membershipCheck) confirm(ctx context.Context, id string) bool {
	if m.askIfRemoved(ctx, id) {
		return true
	}
	select {
	case <-m.removed.Done():
		return true
	case <-time.After(membershipCheckInterval):
	case <-ctx.Done():
	}
	return false
}
