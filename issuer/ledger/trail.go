package ledger

// A Trail is what is known of the audit trail as a whole. There is one row.
type Trail struct {
	ID string `cbor:"1,keyasint"` // always trailID

	// Logged is the Seq up to which each event is in the log of a node that led.
	// Later ones may be, too.
	Logged uint64 `cbor:"2,keyasint,omitempty"`

	// LostSeq and LostAt are of the latest event that was removed although it
	// tells of a revocation.
	LostSeq uint64 `cbor:"3,keyasint,omitempty"`
	LostAt  Time   `cbor:"4,keyasint,omitempty"`
}

const trailID = "trail"

// Trail is never nil.
func (v View) Trail() *Trail {
	if t := first[Trail](v, TableTrail, indexID, trailID); t != nil {
		return t
	}
	return &Trail{ID: trailID}
}

// Event is nil where there is none, or none any more.
func (v View) Event(seq uint64) *Event { return first[Event](v, TableAudit, indexID, sequence(seq)) }

// tellsRevocation reports whether whoever follows revocations needs an event.
func (v View) tellsRevocation(e *Event) bool {
	return e.Kind == EventReplayed || len(v.RevocationsOf(e)) > 0
}

// MarkLogged says that all events up to a Seq are in the log of the leader, from
// where the next leader goes on.
type MarkLogged struct {
	Seq uint64 `cbor:"1,keyasint"`
}

// Kind is KindMarkLogged.
func (*MarkLogged) Kind() Kind { return KindMarkLogged }

// Decide changes nothing where another leader is further.
func (c *MarkLogged) Decide(v View, m Meta) Decision {
	t := *v.Trail()
	if c.Seq <= t.Logged || c.Seq >= m.Seq {
		return accept(Outcome{})
	}
	t.Logged = c.Seq
	return accept(Outcome{Count: 1}, put(TableTrail, &t))
}

// removeEvents are the changes that remove events, at most so many, and note what
// revocations are lost with them. One that is in no log yet stays.
func (v View) removeEvents(seqs []uint64, most int) (changes []Change) {
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
		if seq > t.LostSeq && v.tellsRevocation(e) {
			t.LostSeq, t.LostAt = seq, e.At
		}
	}
	if t != *v.Trail() {
		changes = append(changes, put(TableTrail, &t))
	}
	return changes
}
