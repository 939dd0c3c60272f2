package ledger

import (
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// A Trail has the properties of the audit trail as a whole, in one row.
type Trail struct {
	ID string `cbor:"1,keyasint"` // always trailID

	// Logged is the Seq up to which every event is known to be in the log output of a
	// node that was the leader. Later events may be in one too.
	Logged uint64 `cbor:"2,keyasint,omitempty"`

	// TrimmedRevocationSeq and TrimmedRevocationAt are the Seq and At of the latest
	// removed event that caused a revocation.
	TrimmedRevocationSeq uint64 `cbor:"3,keyasint,omitempty"`
	TrimmedRevocationAt  Time   `cbor:"4,keyasint,omitempty"`
}

const trailID = "trail"

// Trail returns the row of the audit trail as a whole. It is never nil.
func (v View) Trail() *Trail {
	if t := first[Trail](v, TableTrail, indexID, trailID); t != nil {
		return t
	}
	return &Trail{ID: trailID}
}

// Event returns the event with a Seq, or nil if there is none or it was removed.
func (v View) Event(seq uint64) *Event { return first[Event](v, TableAudit, indexID, sequence(seq)) }

// affectsFeed reports whether readers of the revocation feed need the event.
func (v View) affectsFeed(e *Event) bool {
	return e.Kind == EventReplayed || len(v.RevocationsOf(e)) > 0
}

// MarkLogged records that all events up to a Seq are in the leader's log output. The next
// leader logs the events after that Seq.
type MarkLogged struct {
	Seq uint64 `cbor:"1,keyasint"`
}

// Kind implements command.Command.
func (*MarkLogged) Kind() command.Kind { return KindMarkLogged }

// Decide changes nothing if a higher Seq was recorded before, or if Seq is not that of an
// earlier command.
func (c *MarkLogged) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	t := *v.Trail()
	if c.Seq <= t.Logged || c.Seq >= m.Seq {
		return accept(Outcome{})
	}
	t.Logged = c.Seq
	return accept(Outcome{Count: 1}, put(TableTrail, &t))
}

// removeEvents returns the changes that remove at most that many of the events and that
// record the last revocation among them. Events that are not logged yet stay.
func (v View) removeEvents(seqs []uint64, most int) (changes []command.Change) {
	t := *v.Trail()
	removed := make(map[uint64]bool, len(seqs))
	for _, seq := range seqs {
		e := v.Event(seq)
		if len(changes) >= most {
			break
		}
		if e == nil || seq > t.Logged || removed[seq] {
			continue
		}
		removed[seq] = true
		changes = append(changes, remove(TableAudit, e))
		if seq > t.TrimmedRevocationSeq && v.affectsFeed(e) {
			t.TrimmedRevocationSeq, t.TrimmedRevocationAt = seq, e.At
		}
	}
	if t != *v.Trail() {
		changes = append(changes, put(TableTrail, &t))
	}
	return changes
}
