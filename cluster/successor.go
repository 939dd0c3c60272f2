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
func (n *Node) successor() string { return n.choose(isFine) }

// stopgap is for a leader that can't go on: where there is no successor it is a
// voter that can decide, though something is wrong with it.
func (n *Node) stopgap() string {
	if id := n.choose(isFine); id != "" {
		return id
	}
	return n.choose(canDecide)
}

// heirs are whom to try one after the other: who is best off may be so no more,
// and hang, and then another one that can decide is better than to wait for it.
func (n *Node) heirs() []string {
	best := n.stopgap()
	other := n.choose(func(s *peerStatus) bool { return s.ID != best && canDecide(s) })
	if other == "" {
		return []string{best, best}
	}
	return []string{best, other, best}
}

func isFine(s *peerStatus) bool    { return s.Trouble == "" }
func canDecide(s *peerStatus) bool { return s.Decides }

func (n *Node) choose(will func(*peerStatus) bool) string {
	voters := n.Voters()
	n.guards.mu.Lock()
	defer n.guards.mu.Unlock()
	return chooseSuccessor(string(n.id), voters, n.guards.peers, n.guards.elapsed(), will)
}

// chooseSuccessor chooses among the voters of which will is true.
func chooseSuccessor(
	self string, voters []string, peers map[string]peerSample, now time.Duration, will func(*peerStatus) bool,
) (best string) {
	furthest := uint64(0)
	for _, id := range voters {
		p, ok := peers[id]
		switch {
		case id == self || !ok || now-p.at > sampleFresh || !will(&p.status):
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
			samples = append(samples, clockSample{
				voter: raft.ServerID(other), offset: o.offset - p.offset, uncertainty: o.uncertainty + p.uncertainty, age: now - o.at,
			})
		}
	}
	return clockVerdict(raft.ServerID(id), ids, samples, ClockTolerance)
}

// yield hands leadership over to a node that is better off. It returns false
// where there is none, to being "", or when this node has led for a moment only:
// then it goes on.
func (n *Node) yield(to string) bool {
	if leading, _ := n.Leading(); to == "" || leading && n.leader.leadsFor() < yieldPause {
		return false
	}
	return n.yieldTo(to)
}
