package cluster

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/hashicorp/raft"
)

// hastenStep is between the moments at which the voters try, one after the
// other, to take the place of a leader that is gone.
const hastenStep = 250 * time.Millisecond

// hastenPause is between two looks at a leader that can't be connected with; it
// grows up to a second.
const hastenPause = 10 * time.Millisecond

// watchLeader makes the loss of a leader's process short. raft waits for an
// election timeout, one to two seconds, and for another where two nodes then
// stand against each other. But when a process dies its connections break, and
// its port refuses new ones: then the first voter in order of ids stands at
// once, and the next one a moment later should that not have led to anything.
//
// It is safe whatever the leader does, because it only causes an election: a
// vote still goes to nobody who lacks what was committed. A leader that cannot
// be told to be gone, since its machine is or the network, is missed by the
// timeouts as ever.
func (n *Node) watchLeader() {
	pause := hastenPause
	for {
		w := n.leader.route()
		if w.leading || !n.elsewhere(w) {
			select {
			case <-w.changed:
			case <-n.stopped:
				return
			}
			continue
		}
		switch gone, met := n.leaderIsGone(w); {
		case gone:
			n.hasten(w)
			pause = min(2*pause, time.Second)
		case met:
			pause = hastenPause
		default:
			pause = min(2*pause, time.Second)
		}
		select {
		case <-time.After(pause):
		case <-n.stopped:
			return
		}
	}
}

// leaderIsGone says whether the leader's port refuses a connection. Where there
// is one, which met says, it waits until it breaks.
func (n *Node) leaderIsGone(w way) (gone, met bool) {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	c, err := n.peer(ctx, w.leader)
	if err != nil {
		return errors.Is(err, syscall.ECONNREFUSED), false
	}
	select {
	case <-c.done: // the next look tells
	case <-w.moved:
	case <-n.stopped:
	}
	return false, true
}

// hasten has this node stand for election when its turn comes.
func (n *Node) hasten(w way) {
	voters := slices.DeleteFunc(slices.Sorted(slices.Values(n.Voters())), func(id string) bool { return id == w.leader })
	turn := slices.Index(voters, string(n.id))
	if turn < 0 {
		turn = len(voters)
	}
	select {
	case <-time.After(time.Duration(turn) * n.config.hooks.step):
	case <-w.moved:
		return
	case <-n.stopped:
		return
	}
	// Only who has missed heartbeats too may call the leader gone: a port can
	// refuse this node alone.
	if turn < len(voters) && n.misses(w.leader) {
		n.log.Info("cluster: the leader's process is gone, this node stands for election", "leader", w.leader)
		n.stand()
	}
	select {
	case <-time.After(time.Duration(len(voters)-turn) * n.config.hooks.step):
	case <-w.moved:
	case <-n.stopped:
	}
}

// misses says whether this follower has not heard from its leader for longer
// than heartbeats are apart: a fifth of the election timeout at most.
func (n *Node) misses(leader string) bool {
	_, known := n.raft.LeaderWithID()
	if n.raft.State() != raft.Follower || string(known) != leader {
		return false
	}
	wait := time.NewTimer(max(0, electionTimeout/3-time.Since(n.raft.LastContact())))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-n.stopped:
		return false
	}
	return time.Since(n.raft.LastContact()) >= electionTimeout/3
}

// stand has this node ask for votes now, as one that was asked by its leader to
// take over does (raft §3.10): the others don't hold against it that they have
// heard from a leader a moment ago.
func (n *Node) stand() {
	if n.abstains.Load() {
		return
	}
	err := n.transport.TimeoutNow(n.id, n.transport.LocalAddr(), &raft.TimeoutNowRequest{
		RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(n.id)},
	}, &raft.TimeoutNowResponse{})
	if err != nil {
		n.log.Warn("cluster: the node waits for the election timeout", "error", err)
	}
}
