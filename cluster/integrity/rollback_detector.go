package integrity

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/mintmark-auth/mintmark/cluster/errcode"
)

// RollbackDetector is how members detect that the data folder of another one was rolled
// back, for example by restoring a snapshot of its virtual machine. Such a folder
// is consistent: nothing in it shows that the node once had more. The node would
// lose entries that it acknowledged, and together with another node that lags it
// could elect a leader that lacks decisions that were confirmed to clients.
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
//     lacks nothing that was committed; see HasEntry.
//   - Loss of power: a follower acknowledges only what it has synced. Its note of
//     the committed entry is not synced and may be old, so its log is compared too.
//   - Installation of a snapshot: the snapshot is on disk before the log that it
//     replaces is deleted, and it covers all entries up to its index; see HasEntry.
//   - A replaced node: its successor has another id. Members forget a node that was
//     removed.
//   - Recovery from one survivor: its process is new and remembers nothing. It is its
//     own only member, so it does not connect with the nodes that were given up.
//   - A copy that runs beside its original: the memory would mix two processes, so
//     members drop it; see duplicate_node.go.
type RollbackDetector struct {
	folder       *Folder
	incarnations *Incarnations

	mu    sync.Mutex // guards peers
	peers map[string]*peerProgress
}

// NewRollbackDetector returns a detector that remembers nothing yet. folder is this
// node's.
func NewRollbackDetector(f *Folder, i *Incarnations) *RollbackDetector {
	return &RollbackDetector{folder: f, incarnations: i, peers: make(map[string]*peerProgress)}
}

// peerProgress is what is known of one member.
type peerProgress struct {
	durable Position // newest entry that is committed and on the member's disk
	// uncommitted is an entry that the member acknowledged before it was known to be
	// committed. No later acknowledgement may come, so remembers compares it again
	// with what is committed by then.
	uncommitted Position
	ledTerm     uint64    // last term in which the member led, as far as this node knows; 0 for none
	rollback    *Rollback // result of the last comparison; nil if the member lacked nothing

	incarnation Incarnation // process of the member that last asked for this node's status
	exitReason  string      // why that process ended, as it reported; "" if it reported no end
}

// Rollback is a member whose data folder lacks entries that the member had.
type Rollback struct {
	ID  string `cbor:"1,keyasint"`
	Had uint64 `cbor:"2,keyasint"` // index of the newest entry that it is known to have had
	Has uint64 `cbor:"3,keyasint"` // index of the last entry in its folder
}

// ErrRolledBack reports that the folder of a member is an older copy.
var ErrRolledBack = errcode.New("folder_rolled_back", "its data folder is an older copy, so the other nodes refuse it")

// Err returns an error that wraps ErrRolledBack. Callers put the member's name beside it.
func (r *Rollback) Err() error {
	return fmt.Errorf("%w: it had log entry %d, and its log now ends at entry %d", ErrRolledBack, r.Had, r.Has)
}

// get is called with mu held.
func (r *RollbackDetector) get(id string) *peerProgress {
	m := r.peers[id]
	if m == nil {
		m = new(peerProgress)
		r.peers[id] = m
	}
	return m
}

// copyOf returns a copy of what is known of a member.
func (r *RollbackDetector) copyOf(id string) peerProgress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return *r.get(id)
}

// RecordAck records that a member has the log up to p on its disk, and that the
// log is committed up to the index committed.
func (r *RollbackDetector) RecordAck(id string, p Position, committed uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.get(id)
	if p.Index > committed {
		m.uncommitted = p
		p = Position{Index: committed}
	}
	m.advance(p)
}

func (m *peerProgress) advance(p Position) {
	if p.Index > m.durable.Index {
		m.durable = p
	}
}

// RecordApplied records how far a member reports to have applied the log.
func (r *RollbackDetector) RecordApplied(id string, p Position) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.get(id)
	if p.Index >= m.durable.Index {
		m.rollback = nil
	}
	m.advance(p)
}

// Forget drops what is known of the members for which gone returns true.
func (r *RollbackDetector) Forget(gone func(id string) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.peers {
		if gone(id) {
			delete(r.peers, id)
		}
	}
}

// RecordCheck records the result of a comparison, nil if the member lacks nothing. news
// reports that the member lacks something and that this was not known.
func (r *RollbackDetector) RecordCheck(id string, o *Rollback) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.get(id)
	news = o != nil && (m.rollback == nil || *m.rollback != *o)
	m.rollback = o
	return news
}

// RecordStatusRequest records which process of a member asked for this node's status, and why
// that process is about to end, if it is. It reports whether that end is news. A
// question from before the end may arrive after it, so only another process of the
// member drops the report.
func (r *RollbackDetector) RecordStatusRequest(id string, by Incarnation, ends string) (news bool) {
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

// Rollbacks returns the members that lacked entries when they last connected.
func (r *RollbackDetector) Rollbacks() (all []Rollback) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.peers {
		if m.rollback != nil {
			all = append(all, *m.rollback)
		}
	}
	return all
}

// RecordLed records that a member led in a term.
func (r *RollbackDetector) RecordLed(id string, term uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.get(id).ledTerm = term
}

// RecordLeaderEntries records the last entry of this node's log that each member created as
// leader. It runs more often than the log is truncated after a snapshot, which
// would delete these entries.
func (r *RollbackDetector) RecordLeaderEntries(voters []string) {
	for _, id := range voters {
		if m := r.copyOf(id); m.ledTerm > 0 {
			committed := r.folder.Marker.Get().Index
			if p := r.folder.lastOfTerm(m.ledTerm); p.Index > m.durable.Index && (p.Index > m.uncommitted.Index || p.Index <= committed) {
				r.RecordAck(id, p, committed)
			}
		}
	}
}

// KnownPosition returns the newest entry that a member is known to have had, or the
// zero position if none is known.
func (r *RollbackDetector) KnownPosition(id string) Position {
	if r.incarnations.hasDuplicate(id) {
		r.Forget(func(other string) bool { return other == id })
		return Position{}
	}
	m := r.copyOf(id)
	if made := r.folder.lastOfTerm(m.ledTerm); made.Index > m.durable.Index {
		return made
	}
	// A member that has the same entry as this node's log has all entries before it,
	// of which more may be committed by now.
	if m.uncommitted.Index > m.durable.Index && r.folder.termAt(m.uncommitted.Index) == m.uncommitted.Term {
		if committed := r.folder.Marker.Get(); committed.Index < m.uncommitted.Index {
			m.uncommitted = committed
		}
		if m.uncommitted.Index > m.durable.Index {
			return m.uncommitted
		}
	}
	return m.durable
}

// ExitReason returns why the process of a member that last asked for this node's
// status ended, as it reported; "" if it reported no end.
func (r *RollbackDetector) ExitReason(id string) string { return r.copyOf(id).exitReason }
