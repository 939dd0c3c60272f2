package cluster

import (
	"cmp"
	"fmt"
	"sort"
	"sync"

	"github.com/hashicorp/raft"
)

// rollbackDetector is how members detect that the data folder of another one was rolled
// back, for example by restoring a snapshot of its virtual machine. Such a folder
// is consistent: nothing in it shows that the node once had more. The node would
// lose entries that it acknowledged, and together with another node that lags it
// could elect a leader that lacks decisions that clients were told are committed.
//
// So each member keeps in memory, from its own start on, the newest entry (index
// and term) that it knows to be committed and on disk at each other member. It
// learns of it
//
//   - as the leader, from the acknowledgements of a follower (transport.go), which
//     it evaluates before it answers any client;
//   - as a follower, from its own log: a leader has each entry that it creates on
//     disk before it sends the entry;
//   - from the status that members exchange once a second, which has the index up
//     to which a member has applied the log: raft applies only what is on disk.
//
// Two nodes compare it when they connect for raft (log_handshake.go). A node that starts
// does so with all voters before raft gets any connection. Votes, entries and
// snapshots use no other connections, and a folder can't be replaced while its
// node's connections stay open. So single messages and votes need no check.
//
// These cases are not treated as a rollback:
//
//   - A new leader replaces the end of a log: a log with an entry of a later term
//     lacks nothing that was committed; see hasEntry.
//   - Loss of power: a follower acknowledges only what it has synced. Its note of
//     the committed entry is not synced and may be old, so its log is compared too.
//   - Installation of a snapshot: the snapshot is on disk before the log that it
//     replaces is deleted, and it covers all entries up to its index; see hasEntry.
//   - A replaced node: its successor has another id. Members forget a node that was
//     removed.
//   - Recovery from one survivor: its process is new and remembers nothing. It is its
//     own only member, so it does not connect with the nodes that were given up.
//   - A copy that runs beside its original: the memory would mix two processes, so
//     members drop it; see duplicate_node.go.
type rollbackDetector struct {
	mu    sync.Mutex
	peers map[string]*peerProgress
}

// peerProgress is what is known of one member.
type peerProgress struct {
	durable logPosition // newest entry that is committed and on the member's disk
	// uncommitted is an entry that the member acknowledged before it was known to be
	// committed. No later acknowledgement may come, so remembers compares it again
	// with what is committed by then.
	uncommitted logPosition
	ledTerm     uint64    // last term in which the member led, as far as this node knows; 0 for none
	rollback    *rollback // result of the last comparison; nil if the member lacked nothing

	incarnation incarnation // process of the member that last asked for this node's status
	exitReason  string      // why that process ended, as it reported; "" if it reported no end
}

// rollback is a member whose data folder lacks entries that the member had.
type rollback struct {
	ID  string `cbor:"1,keyasint"`
	Had uint64 `cbor:"2,keyasint"` // index of the newest entry that it is known to have had
	Has uint64 `cbor:"3,keyasint"` // index of the last entry in its folder
}

// String describes the member to operators. Callers put the member's name beside it.
func (o *rollback) String() string {
	return fmt.Sprintf("its data folder is an older copy: it had log entry %d, and its log now ends at entry %d, so the other nodes refuse it. "+
		"Start it with its newest folder, or replace it by a new node (mintmark cluster replace). "+
		"If no leader can be elected without it, start the node that has the data, or recover from a node that is left (mintmark cluster recover)",
		o.Had, o.Has)
}

// get is called with mu held.
func (r *rollbackDetector) get(id string) *peerProgress {
	m := r.peers[id]
	if m == nil {
		if r.peers == nil {
			r.peers = make(map[string]*peerProgress)
		}
		m = new(peerProgress)
		r.peers[id] = m
	}
	return m
}

// copyOf returns a copy of what is known of a member.
func (r *rollbackDetector) copyOf(id string) peerProgress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return *r.get(id)
}

// recordAck records that a member has the log up to p on its disk, and that the
// log is committed up to the index committed.
func (r *rollbackDetector) recordAck(id string, p logPosition, committed uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.get(id)
	if p.index > committed {
		m.uncommitted = p
		p = logPosition{index: committed}
	}
	m.advance(p)
}

func (m *peerProgress) advance(p logPosition) {
	if p.index > m.durable.index {
		m.durable = p
	}
}

// recordApplied records how far a member reports to have applied the log.
func (r *rollbackDetector) recordApplied(id string, p logPosition) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.get(id)
	if p.index >= m.durable.index {
		m.rollback = nil
	}
	m.advance(p)
}

// forget drops what is known of the members for which gone returns true.
func (r *rollbackDetector) forget(gone func(id string) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.peers {
		if gone(id) {
			delete(r.peers, id)
		}
	}
}

// recordCheck records the result of a comparison, nil if the member lacks nothing. news
// reports that the member lacks something and that this was not known.
func (r *rollbackDetector) recordCheck(id string, o *rollback) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.get(id)
	news = o != nil && (m.rollback == nil || *m.rollback != *o)
	m.rollback = o
	return news
}

// recordStatusRequest records which process of a member asked for this node's status, and why
// that process is about to end, if it is. It reports whether that end is news. A
// question from before the end may arrive after it, so only another process of the
// member drops the report.
func (r *rollbackDetector) recordStatusRequest(id string, by incarnation, ends string) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.get(id)
	if m.incarnation != by {
		m.incarnation, m.exitReason = by, ""
	}
	news = ends != "" && m.exitReason == ""
	m.exitReason = cmp.Or(ends, m.exitReason)
	return news
}

// rollbacks returns the members that lacked entries when they last connected.
func (r *rollbackDetector) rollbacks() (all []rollback) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.peers {
		if m.rollback != nil {
			all = append(all, *m.rollback)
		}
	}
	return all
}

// recordLeaderTerm records the term of the present leader. Raft clears the leader before it
// raises the term: if the term is the same before and after the leader is read,
// that leader led in that term.
func (n *Node) recordLeaderTerm() {
	term := n.raft.CurrentTerm()
	_, id := n.raft.LeaderWithID()
	if id == "" || id == n.id || n.raft.CurrentTerm() != term {
		return
	}
	n.rollbackDetector.mu.Lock()
	defer n.rollbackDetector.mu.Unlock()
	n.rollbackDetector.get(string(id)).ledTerm = term
}

// recordLeaderEntries records the last entry of this node's log that each member created as
// leader. It runs more often than the log is truncated after a snapshot, which
// would delete these entries.
func (n *Node) recordLeaderEntries() {
	for _, id := range n.Voters() {
		if m := n.rollbackDetector.copyOf(id); m.ledTerm > 0 {
			committed := n.commitMarker.get().index
			if p := n.lastOfTerm(m.ledTerm); p.index > m.durable.index && (p.index > m.uncommitted.index || p.index <= committed) {
				n.rollbackDetector.recordAck(id, p, committed)
			}
		}
	}
}

// lastOfTerm returns the last entry of a term in this node's log, or the zero
// position if there is none.
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

// termAt returns the term of an entry of this node's log, or 0 if the log does not
// have the entry.
func (n *Node) termAt(index uint64) uint64 {
	var l raft.Log
	if n.stores.logs.GetLog(index, &l) != nil {
		return 0
	}
	return l.Term
}

// knownPosition returns the newest entry that a member is known to have had, or the
// zero position if none is known.
func (n *Node) knownPosition(id string) logPosition {
	if n.incarnations.hasDuplicate(id) {
		n.rollbackDetector.forget(func(other string) bool { return other == id })
		return logPosition{}
	}
	m := n.rollbackDetector.copyOf(id)
	if made := n.lastOfTerm(m.ledTerm); made.index > m.durable.index {
		return made
	}
	// A member that has the same entry as this node's log has all entries before it,
	// of which more may be committed by now.
	if m.uncommitted.index > m.durable.index && n.termAt(m.uncommitted.index) == m.uncommitted.term {
		if committed := n.commitMarker.get(); committed.index < m.uncommitted.index {
			m.uncommitted = committed
		}
		if m.uncommitted.index > m.durable.index {
			return m.uncommitted
		}
	}
	return m.durable
}

// hasEntry reports whether this node lacks nothing that was committed up to p. It
// has the entry in its log or covered by a snapshot, or its log has an entry of a
// later term: the leader of that term had all that was committed before it, and a
// leader replaces only entries that are not committed.
func (n *Node) hasEntry(p logPosition) bool {
	if p.index <= n.commitMarker.get().index {
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

// lastEntry returns the index of the last entry that this node has, in its log or
// in a snapshot. It is used in messages only.
func (n *Node) lastEntry() uint64 {
	last, _ := n.stores.logs.LastIndex()
	return max(last, n.commitMarker.get().index, n.lastSnapshot())
}
