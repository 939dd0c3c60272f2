package cluster

import (
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

// sampleMaxAge is how old what a peer said of itself may be for leadership to go
// there: it is asked every watchdogInterval.
const sampleMaxAge = 3 * watchdogInterval

// minLeadTime is for how long a node leads at least before it yields, so that
// nodes that each find something wrong with themselves don't hand leadership
// round and round.
const minLeadTime = time.Second

// transferTarget is the voter that leadership should go to: one that answered a
// moment ago, has nothing wrong with it and a clock that a majority agrees with,
// and of those the one that is furthest. "" if there is none.
func (n *Node) transferTarget() string { return n.chooseTarget(isHealthy) }

// fallbackTarget is for a leader that can't go on: where there is no successor it is a
// voter that can decide, though something is wrong with it.
func (n *Node) fallbackTarget() string {
	if id := n.chooseTarget(isHealthy); id != "" {
		return id
	}
	return n.chooseTarget(canDecide)
}

// transferCandidates are whom to try one after the other: who is best off may be so no more,
// and hang, and then another one that can decide is better than to wait for it.
func (n *Node) transferCandidates() []string {
	best := n.fallbackTarget()
	other := n.chooseTarget(func(s *peerStatus) bool { return s.ID != best && canDecide(s) })
	if other == "" {
		return []string{best, best}
	}
	return []string{best, other, best}
}

func isHealthy(s *peerStatus) bool { return s.Trouble == "" }
func canDecide(s *peerStatus) bool { return s.CanDecide }

func (n *Node) chooseTarget(will func(*peerStatus) bool) string {
	voters := n.Voters()
	n.watchdog.mu.Lock()
	defer n.watchdog.mu.Unlock()
	return chooseTransferTarget(string(n.id), voters, n.watchdog.peers, n.watchdog.elapsed(), will)
}

// chooseTransferTarget chooses among the voters of which will is true.
func chooseTransferTarget(
	self string, voters []string, peers map[string]peerSample, now time.Duration, will func(*peerStatus) bool,
) (best string) {
	furthest := uint64(0)
	for _, id := range voters {
		p, ok := peers[id]
		switch {
		case id == self || !ok || now-p.at > sampleMaxAge || !will(&p.status):
		case !peerClockVote(id, self, voters, peers, now).MayLead():
		case best == "" || p.status.Applied > furthest:
			best, furthest = id, p.status.Applied
		}
	}
	return best
}

// peerClockVote compares the clock of a peer with those of the voters, by what this
// node knows of all of them.
func peerClockVote(id, self string, voters []string, peers map[string]peerSample, now time.Duration) watchdog.ClockVote {
	p := peers[id]
	ids := mapped(voters, func(v string) raft.ServerID { return raft.ServerID(v) })
	samples := []watchdog.ClockSample{{Voter: raft.ServerID(self), Offset: -p.offset, Uncertainty: p.uncertainty, Age: now - p.at}}
	for other, o := range peers {
		if other != id {
			samples = append(samples, watchdog.ClockSample{
				Voter: raft.ServerID(other), Offset: o.offset - p.offset, Uncertainty: o.uncertainty + p.uncertainty, Age: now - o.at,
			})
		}
	}
	return watchdog.ClockVerdict(raft.ServerID(id), ids, samples, watchdog.ClockTolerance)
}

// maybeTransfer transfers leadership to a node that is better off. It returns false
// where there is none, to being "", or when this node has led for a moment only:
// then it goes on.
func (n *Node) maybeTransfer(to string) bool {
	if leading, _ := n.Leading(); to == "" || leading && n.leader.LeadingFor() < minLeadTime {
		return false
	}
	return n.attemptTransfer(to)
}
