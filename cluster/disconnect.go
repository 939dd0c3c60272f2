package cluster

import (
	"context"
	"time"
)

// A node that was removed finds it out by its calls: those whom it has called
// for days end the connection, and the next handshake. Rather than at its next
// round it asks then, so that requests that were sent to it fail at once, and
// whoever balances the load hears of it. To lose a connection means little
// otherwise, as a node ends so that is stopped; so the answer decides.

// disconnectCheckInterval is between two times that a lost connection has this node ask.
const disconnectCheckInterval = time.Second

// noteDisconnect has this node ask a member that hung up whether it is one itself. It does
// not wait.
func (n *Node) noteDisconnect(id string) {
	select {
	case n.disconnects <- id:
	default: // another one is about to be asked
	}
}

// checkDisconnects asks those who hung up.
func (n *Node) checkDisconnects() {
	for {
		select {
		case id := <-n.disconnects:
			ctx, cancel := context.WithTimeout(context.Background(), membershipCheckInterval)
			n.askIfRemoved(ctx, id)
			cancel()
		case <-n.closing:
			return
		}
		select {
		case <-time.After(disconnectCheckInterval):
		case <-n.closing:
			return
		}
	}
}

// confirmRemoval asks a member whether this node is none any more. Somebody else
// may be asking: one of two is answered at once, and what the one hears ends the
// connection of the other.
func (n *Node) confirmRemoval(ctx context.Context, id string) bool {
	if n.askIfRemoved(ctx, id) {
		return true
	}
	select {
	case <-n.removed.Done():
		return true
	case <-time.After(membershipCheckInterval):
	case <-ctx.Done():
	}
	return false
}
