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

// A removed node receives no log, since it is in no configuration, and the nodes that it calls
// end the handshake. It can't distinguish that from the loss of the leader. So it asks members,
// by the join protocol, whether its key is still a member's. The member that answers is
// authenticated by its certificate, against this node's own peer list. It answers "not a
// member" only if its leader has committed something since the question: a member that lags,
// or was removed itself, can't. A cluster that was recovered from one survivor gives that
// answer to the nodes that were given up. They ask although they have a leader: two of them
// may elect one while the survivor is down, and the survivor no longer accepts them.

const (
	// membershipCheckInterval is the time between two rounds of questions to members that
	// do not answer other calls.
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

// check asks members that do not answer other calls.
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

// noteDisconnect queues a question to a member that closed a connection. It does not wait.
func (m *membershipCheck) noteDisconnect(id string) {
	select {
	case m.disconnects <- id:
	default: // another member is about to be asked
	}
}

// watchDisconnects asks members that closed a connection, until the node closes. That is how a
// removed node learns of its removal at once and not in its next round: its requests fail at once,
// and a load balancer notices. The answer decides, not the lost connection, because a node
// that stops closes connections too.
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

// confirm reports whether this node was removed. It asks a member, and if that gives no
// answer it waits for another check that is under way: the first answer closes the
// connections of this node, which ends the other check.
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
