package cluster

import (
	"fmt"
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

// ledBy is who led in a term.
type ledBy struct {
	term uint64
	id   string
}

// noteLed is called when this node hears of a leader. raft forgets the leader
// before it raises the term, so one that is there within one term led in that.
func (n *Node) noteLed() {
	term := n.raft.CurrentTerm()
	_, id := n.raft.LeaderWithID()
	if id == "" || n.raft.CurrentTerm() != term {
		return
	}
	// What the one before had is kept before the next one's entries bury it.
	if led := n.led.Load(); led != nil && led.id != string(id) {
		if p := n.madeBy(led.id); p.index > 0 {
			n.remembered.acknowledged(led.id, p, n.committed.get().index)
		}
	}
	n.led.Store(&ledBy{term, string(id)})
}

// maxBuried bounds the entries of a new leader that madeBy looks below.
const maxBuried = 64

// madeBy is the last entry of this node's log that the last leader made, if that
// was a member; the zero position if not.
func (n *Node) madeBy(id string) logPosition {
	led := n.led.Load()
	last, err := n.stores.logs.LastIndex()
	if led == nil || led.id != id || err != nil {
		return logPosition{}
	}
	var l raft.Log
	for i := last; i > 0 && i+maxBuried > last; i-- {
		switch err := n.stores.logs.GetLog(i, &l); {
		case err != nil || l.Term < led.term:
			return logPosition{}
		case l.Term == led.term:
			return logPosition{l.Index, l.Term}
		}
	}
	return logPosition{}
}

// remembers is the newest entry that a member is known to have had, zero if none
// is. What it was ahead with counts once this node has applied it.
func (n *Node) remembers(id string) logPosition {
	if n.twins.are(id) {
		n.remembered.forget(func(other string) bool { return other == id })
		if led := n.led.Load(); led != nil && led.id == id {
			n.led.Store(nil)
		}
		return logPosition{}
	}
	n.remembered.mu.Lock()
	m := *n.remembered.get(id)
	n.remembered.mu.Unlock()
	if made := n.madeBy(id); made.index > m.had.index {
		return made
	}
	if m.ahead.index > m.had.index && m.ahead.index <= n.committed.get().index {
		var l raft.Log
		if err := n.stores.logs.GetLog(m.ahead.index, &l); err == nil && l.Term == m.ahead.term {
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
	var l raft.Log
	if err := n.stores.logs.GetLog(p.index, &l); err == nil {
		return p.term == 0 || l.Term >= p.term
	}
	if last, err := n.stores.logs.LastIndex(); err == nil && p.term > 0 && n.stores.logs.GetLog(last, &l) == nil && l.Term > p.term {
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
