package cluster

import (
	"time"

	"github.com/hashicorp/raft"
)

// sampleFresh is how old what a peer said of itself may be for leadership to go
// there: it is asked every guardInterval.
const sampleFresh = 3 * guardInterval

// yieldPause is for how long a node leads at least before it yields, so that
// nodes that each find something wrong with themselves don't hand leadership
// round and round.
const yieldPause = time.Second

// successor is the voter that leadership should go to: one that answered a
// moment ago, has nothing wrong with it and a clock that a majority agrees with,
// and of those the one that is furthest. "" if there is none.
func (n *Node) successor() string {
	voters := n.Voters()
	n.guards.mu.Lock()
	defer n.guards.mu.Unlock()
	return chooseSuccessor(string(n.id), voters, n.guards.peers, n.guards.elapsed())
}

func chooseSuccessor(self string, voters []string, peers map[string]peerSample, now time.Duration) (best string) {
	furthest := uint64(0)
	for _, id := range voters {
		p, ok := peers[id]
		switch {
		case id == self || !ok || now-p.at > sampleFresh || p.status.Trouble != "":
		case !clockOf(id, self, voters, peers, now).mayLead():
		case best == "" || p.status.Applied > furthest:
			best, furthest = id, p.status.Applied
		}
	}
	return best
}

// clockOf compares the clock of a peer with those of the voters, by what this
// node knows of all of them.
func clockOf(id, self string, voters []string, peers map[string]peerSample, now time.Duration) clockVote {
	p := peers[id]
	ids := mapped(voters, func(v string) raft.ServerID { return raft.ServerID(v) })
	samples := []clockSample{{voter: raft.ServerID(self), offset: -p.offset, uncertainty: p.uncertainty, age: now - p.at}}
	for other, o := range peers {
		if other != id {
			samples = append(samples, clockSample{raft.ServerID(other), o.offset - p.offset, o.uncertainty + p.uncertainty, now - o.at})
		}
	}
	return clockVerdict(raft.ServerID(id), ids, samples, clockLimitPeers)
}

// yield hands leadership over to a node that is better off. It returns false
// where there is none, or when this node has led for a moment only: then it goes
// on.
func (n *Node) yield() bool {
	to := n.successor()
	if leading, _ := n.Leading(); to == "" || leading && n.leader.leadsFor() < yieldPause {
		return false
	}
	return n.yieldTo(to)
}
