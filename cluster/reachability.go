package cluster

import "time"

// unreachableAfter is for how long a member may be silent before operators are told.
const unreachableAfter = 3 * watchdogInterval

// reachability tells operators once that a member can't be reached, and once that it
// can again. Raft says so many times a second. It is the watchdog's.
type reachability struct {
	began  time.Duration   // when this node began to look
	silent map[string]bool // by id
}

func (n *Node) newReachability() *reachability {
	return &reachability{began: n.watchdog.elapsed(), silent: make(map[string]bool)}
}

// logReachability is called when the members were asked.
func (n *Node) logReachability(r *reachability) {
	now := n.watchdog.elapsed()
	for _, m := range n.folder.PeerList.Get().Members {
		if m.ID == string(n.id) {
			continue
		}
		heard := r.began
		n.watchdog.mu.Lock()
		if p, ok := n.watchdog.peers[m.ID]; ok {
			heard = p.at
		}
		n.watchdog.mu.Unlock()
		silent := now-heard > unreachableAfter
		switch {
		case silent && !r.silent[m.ID]:
			n.log.Warn("cluster: a node can't be reached", "name", m.Name, "address", m.Address)
		case !silent && r.silent[m.ID]:
			n.log.Info("cluster: a node can be reached again", "name", m.Name)
		}
		r.silent[m.ID] = silent
	}
}
