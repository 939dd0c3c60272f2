package election

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// deadLeaderTimeout is how long a node may not hear from a leader whose port refuses
// connections: longer than the time between two heartbeats, which is a fifth of the
// election timeout at most.
const deadLeaderTimeout = transport.ElectionTimeout / 3

// leaderProbeInterval is between two attempts to connect to the leader; it grows up to a
// second.
const leaderProbeInterval = 10 * time.Millisecond

// WatchConn shortens failover when the leader's process dies. A leader that is not
// heard from must be missed for a while, since its machine or the network may be slow.
// But when a process dies its connections break, and its port refuses new ones: then
// it is replaced at once, see replaceLeader.
//
// It is safe whatever the leader does, because it only causes an election: a
// vote still goes to no node that lacks what was committed.
func (e *Elector) WatchConn() {
	ctx, cancel := e.untilStopped()
	defer cancel()
	pause := leaderProbeInterval
	for ctx.Err() == nil {
		w := e.Route()
		if w.Leading || !w.OtherLeads(string(e.ID)) {
			select {
			case <-w.Changed:
			case <-ctx.Done():
			}
			continue
		}
		switch gone, met := e.leaderProcessGone(ctx, w); {
		case gone:
			// A port can refuse this node alone: so this node must have missed
			// heartbeats too, and a majority with it.
			if e.leaderLost(ctx, deadLeaderTimeout) {
				e.replaceLeader(ctx, deadLeaderTimeout)
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

// leaderProcessGone reports whether the leader's port refuses a connection. If a
// connection was made, which met reports, it waits until that breaks.
func (e *Elector) leaderProcessGone(ctx context.Context, w Route) (gone, met bool) {
	dialing, cancel := context.WithTimeout(ctx, transport.DialTimeout)
	defer cancel()
	c, err := e.Peers.Connect(dialing, w.Leader)
	if err != nil {
		return errors.Is(err, syscall.ECONNREFUSED), false
	}
	select {
	case <-c.Broken(): // the next attempt shows why
	case <-w.LeaderChanged:
	case <-ctx.Done():
	}
	return false, true
}
