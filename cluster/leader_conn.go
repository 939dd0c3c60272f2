package cluster

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/election"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// deadLeaderTimeout is for how long there may be no word from a leader whose port refuses
// connections: for more than heartbeats are apart, which is a fifth of the
// election timeout at most.
const deadLeaderTimeout = transport.ElectionTimeout / 3

// leaderProbeInterval is between two looks at a leader that can't be connected with; it
// grows up to a second.
const leaderProbeInterval = 10 * time.Millisecond

// watchLeaderConn makes the loss of a leader's process short. A leader that is not
// heard of must be missed for a while, since its machine may be slow or the
// network. But when a process dies its connections break, and its port refuses
// new ones: then it is replaced at once, see replaceLeader.
//
// It is safe whatever the leader does, because it only causes an election: a
// vote still goes to nobody who lacks what was committed.
func (n *Node) watchLeaderConn() {
	ctx, cancel := n.untilStopped()
	defer cancel()
	pause := leaderProbeInterval
	for ctx.Err() == nil {
		w := n.leader.Route()
		if w.Leading || !w.OtherLeads(n.ID()) {
			select {
			case <-w.Changed:
			case <-ctx.Done():
			}
			continue
		}
		switch gone, met := n.leaderProcessGone(ctx, w); {
		case gone:
			// A port can refuse this node alone: so it must have missed
			// heartbeats too, and a majority with it.
			if n.leaderLost(ctx, deadLeaderTimeout) {
				n.replaceLeader(ctx, deadLeaderTimeout)
			}
			pause = min(2*pause, time.Second)
		case met:
			pause = leaderProbeInterval
		default:
			pause = min(2*pause, time.Second)
		}
		wait(ctx, pause)
	}
}

// leaderProcessGone says whether the leader's port refuses a connection. Where there
// is one, which met says, it waits until it breaks.
func (n *Node) leaderProcessGone(ctx context.Context, w election.Route) (gone, met bool) {
	dialing, cancel := context.WithTimeout(ctx, transport.DialTimeout)
	defer cancel()
	c, err := n.peers.Connect(dialing, w.Leader)
	if err != nil {
		return errors.Is(err, syscall.ECONNREFUSED), false
	}
	select {
	case <-c.Broken(): // the next look tells
	case <-w.LeaderChanged:
	case <-ctx.Done():
	}
	return false, true
}
