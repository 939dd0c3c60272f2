package cluster

import (
	"fmt"
	"sort"
	"sync"

	"github.com/hashicorp/raft"
)

// A folder that was rolled back, as by the snapshot of a virtual machine, is whole:
// nothing in it says that the node once had more. With it the node would take back
// what it acknowledged, and could elect, with another node that lags, a leader
// that lacks what clients were told is done.
//
// So each member remembers what the others had, from its own start on and in
// memory: the newest entry, by index and term, of which it knows that it is
// committed and that the other has it on disk. It learns that
//
//   - as the leader, from what a follower acknowledges (transport.go): each entry
//     that is committed is known before any client is answered;
//   - as a follower, of the leader, from its own log: a leader has each entry that
//     it makes on disk before it sends it;
//   - from what each member says of itself once a second, when asked how it is:
//     how far it has applied the log, which raft has on disk before.
//
// It is checked where two nodes connect for raft, see greeting.go, and at a start
// by a round of all voters before raft has any connection. No vote, no
// entry and no snapshot goes between two nodes in another way, in neither
// direction, and a folder can't be exchanged without that all connections break.
// So nothing need be compared with each answer, or each vote.
//
// What can't trip it:
//
//   - The end of a log that a new leader replaces: what has a later entry in its
//     place, or behind it in time, lacks nothing; see hasEntry.
//   - A loss of power: a follower acknowledges what it has synced. Its note of what
//     is committed, which is not synced, does not matter: the log is looked at.
//   - The installation of a snapshot: it is on disk before the log that it replaces
//     goes, and counts for all entries up to its own; see hasEntry.
//   - A node that was replaced: another one has another id. What is remembered of
//     one that was removed is forgotten.
//   - Recovery from one survivor: its process is a new one, it has no peers left, and
//     its id is none any more for those that were given up.
//   - A copy that runs beside its original: what is remembered is of two processes
//     then, and is forgotten; see twin.go.
type remembered struct {
	mu sync.Mutex
	of map[string]*memory
}

// memory is what is remembered of one member.
type memory struct {
	had logPosition // committed, and on its disk
	// ahead is on its disk, and was not committed yet when it said so: the leader
	// hears of that with the next message, which may never come.
	ahead    logPosition
	led      uint64    // the last term in which it led, as far as this node has heard; 0 for none
	outdated *outdated // what it lacked when it last connected; nil where it lacked nothing
}

// outdated is a member whose folder has less than it had.
type outdated struct {
	ID  string `cbor:"1,keyasint"`
	Had uint64 `cbor:"2,keyasint"` // index of an entry
	Has uint64 `cbor:"3,keyasint"` // index of its last one
}

// String is for operators, who see it beside the node's name.
func (o *outdated) String() string {
	return fmt.Sprintf("its data folder is an older copy: the node had entry %d of the log, and has %d, so the others keep away from it. "+
		"Start it with its newest folder, or take a new node in its place (mintmark cluster replace); "+
		"while no leader can be elected without it, start the node that has the data, or go on from one that is left (mintmark cluster recover)",
		o.Had, o.Has)
}

// get is called with mu held.
func (r *remembered) get(id string) *memory {
	m := r.of[id]
	if m == nil {
		if r.of == nil {
			r.of = make(map[string]*memory)
		}
		m = new(memory)
		r.of[id] = m
	}
	return m
}

// copyOf is what is remembered of a member.
func (r *remembered) copyOf(id string) memory {
	r.mu.Lock()
	defer r.mu.Unlock()
	return *r.get(id)
}

// acknowledged is told that a member has the log up to an entry, which is
// committed up to an index.
func (r *remembered) acknowledged(id string, p logPosition, committed uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.get(id)
	if p.index > committed {
		m.ahead = p
		p = logPosition{index: committed}
	}
	m.keep(p)
}

func (m *memory) keep(p logPosition) {
	if p.index > m.had.index {
		m.had = p
	}
}

// said is told how far a member has applied the log.
func (r *remembered) said(id string, p logPosition) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.get(id)
	if p.index >= m.had.index {
		m.outdated = nil
	}
	m.keep(p)
}

// forget drops what is remembered of members of whom gone says so.
func (r *remembered) forget(gone func(id string) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.of {
		if gone(id) {
			delete(r.of, id)
		}
	}
}

// judged keeps what came of a comparison, and says whether that is news.
func (r *remembered) judged(id string, o *outdated) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.get(id)
	news = o != nil && (m.outdated == nil || *m.outdated != *o)
	m.outdated = o
	return news
}

// refused are the members that lacked something when they last connected.
func (r *remembered) refused() (all []outdated) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.of {
		if m.outdated != nil {
			all = append(all, *m.outdated)
		}
	}
	return all
}

// noteLed is called when this node hears of a leader. raft forgets the leader
// before it raises the term, so one that is there within one term led in that.
func (n *Node) noteLed() {
	term := n.raft.CurrentTerm()
	_, id := n.raft.LeaderWithID()
	if id == "" || id == n.id || n.raft.CurrentTerm() != term {
		return
	}
	n.remembered.mu.Lock()
	defer n.remembered.mu.Unlock()
	n.remembered.get(string(id)).led = term
}

// keepMade notes what members made when they led, as far as this node has it. It is
// called more often than the log is cut off at a snapshot.
func (n *Node) keepMade() {
	for _, id := range n.Voters() {
		if m := n.remembered.copyOf(id); m.led > 0 {
			committed := n.committed.get().index
			if p := n.lastOfTerm(m.led); p.index > m.had.index && (p.index > m.ahead.index || p.index <= committed) {
				n.remembered.acknowledged(id, p, committed)
			}
		}
	}
}

// lastOfTerm is the last entry of a term in this node's log, the zero position if
// there is none.
func (n *Node) lastOfTerm(term uint64) logPosition {
	first, err := n.stores.logs.FirstIndex()
	last, lastErr := n.stores.logs.LastIndex()
	if term == 0 || err != nil || lastErr != nil || first == 0 || last < first {
		return logPosition{}
	}
	later := sort.Search(int(last-first)+1, func(i int) bool { return n.termAt(first+uint64(i)) > term })
	if i := first + uint64(later) - 1; later > 0 && n.termAt(i) == term {
		return logPosition{i, term}
	}
	return logPosition{}
}

// termAt is the term of an entry of this node's log, 0 where the log has none.
func (n *Node) termAt(index uint64) uint64 {
	var l raft.Log
	if n.stores.logs.GetLog(index, &l) != nil {
		return 0
	}
	return l.Term
}

// remembers is the newest entry that a member is known to have had, the zero
// position if none is.
func (n *Node) remembers(id string) logPosition {
	if n.twins.are(id) {
		n.remembered.forget(func(other string) bool { return other == id })
		return logPosition{}
	}
	m := n.remembered.copyOf(id)
	if made := n.lastOfTerm(m.led); made.index > m.had.index {
		return made
	}
	// Whoever has this node's entry has all those before it, of which more may be
	// committed by now.
	if m.ahead.index > m.had.index && n.termAt(m.ahead.index) == m.ahead.term {
		if committed := n.committed.get(); committed.index < m.ahead.index {
			m.ahead = committed
		}
		if m.ahead.index > m.had.index {
			return m.ahead
		}
	}
	return m.had
}

// hasEntry says whether this node has an entry, by itself or in a snapshot, or a
// later leader took it back, which it does with nothing that is committed. The log
// of who has an entry of a later term has all that was committed before that.
func (n *Node) hasEntry(p logPosition) bool {
	if p.index <= n.committed.get().index {
		return true
	}
	if term := n.termAt(p.index); term > 0 {
		return term >= p.term
	}
	if last, err := n.stores.logs.LastIndex(); err == nil && p.term > 0 && n.termAt(last) > p.term {
		return true
	}
	return p.index <= n.lastSnapshot()
}

func (n *Node) lastSnapshot() uint64 {
	taken, err := n.snapshots.List() // the newest first
	if err != nil || len(taken) == 0 {
		return 0
	}
	return taken[0].Index
}

// lastEntry is the index of the last entry that this node has. It is said for
// people only.
func (n *Node) lastEntry() uint64 {
	last, _ := n.stores.logs.LastIndex()
	return max(last, n.committed.get().index, n.lastSnapshot())
}
