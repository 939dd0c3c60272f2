package cluster

import "time"

// silentAfter is for how long a member may be silent before operators are told.
const silentAfter = 3 * guardInterval

// reach tells operators once that a member can't be reached, and once that it
// can again. Raft says so many times a second. It is the guard's.
type reach struct {
	began  time.Duration   // when this node began to look
	silent map[string]bool // by id
}

func (n *Node) newReach() *reach {
	return &reach{began: n.guards.elapsed(), silent: make(map[string]bool)}
}

// tellReach is called when the members were asked.
func (n *Node) tellReach(r *reach) {
	now := n.guards.elapsed()
	for _, m := range n.roster.get().Members {
		if m.ID == string(n.id) {
			continue
		}
		heard := r.began
		n.guards.mu.Lock()
		if p, ok := n.guards.peers[m.ID]; ok {
			heard = p.at
		}
		n.guards.mu.Unlock()
		silent := now-heard > silentAfter
		switch {
		case silent && !r.silent[m.ID]:
			n.log.Warn("cluster: a node can't be reached", "name", m.Name, "address", m.Address)
		case !silent && r.silent[m.ID]:
			n.log.Info("cluster: a node can be reached again", "name", m.Name)
		}
		r.silent[m.ID] = silent
	}
}
