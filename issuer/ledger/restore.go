package ledger

// A Restore is the last restore from a backup. There is one row, and none
// before the first: what a backup lacks is lost, so some rules that take the
// state for complete are softened once for what came out of it.
type Restore struct {
	ID    string    `cbor:"1,keyasint"` // always RestoreID
	Count uint32    `cbor:"2,keyasint"` // of restores, this one included
	Seq   uint64    `cbor:"3,keyasint"` // Meta.Seq of BeginRestore: whatever was born at or before it came out of the backup
	At    Time      `cbor:"4,keyasint"`
	Last  CommandID `cbor:"5,keyasint"`

	// Replayed is the Seq of the last Record that was replayed since, in the
	// counting of the cluster that wrote it.
	Replayed uint64 `cbor:"6,keyasint,omitempty"`
}

// RestoreID is the id of the one row of restores.
const RestoreID = "restore"

// covers reports whether a row that was born at seq came out of the backup.
// Nothing is born at 0, so the zero Restore covers nothing.
func (r *Restore) covers(born uint64) bool { return born <= r.Seq }

// BeginRestore says that the state came out of a backup. An operator's
// command, the first one in a restored cluster.
type BeginRestore struct{}

// Kind is KindBeginRestore.
func (*BeginRestore) Kind() Kind { return KindBeginRestore }

// Decide starts what is counted anew: waits for what was idle, and one leap
// of every grant.
func (c *BeginRestore) Decide(v View, m Meta) Decision {
	old := v.Restore()
	if old.Count > 0 && old.Last == m.ID {
		return accept(Outcome{ID: RestoreID})
	}
	next := &Restore{ID: RestoreID, Count: old.Count + 1, Seq: m.Seq, At: m.At, Last: m.ID}
	return accept(Outcome{ID: RestoreID}, put(TableRestores, next),
		event(m, Event{Kind: EventRestored, Actor: Operator}))
}

// Restore is the last restore from a backup, never nil: before the first it
// is the zero Restore, which covers nothing.
func (v View) Restore() *Restore {
	if r := first[Restore](v, TableRestores, indexID, RestoreID); r != nil {
		return r
	}
	return &Restore{}
}

// restored is when what was born at seq came out of a backup, 0 for what did
// not.
func (v View) restored(born uint64) Time {
	if r := v.Restore(); r.covers(born) {
		return r.At
	}
	return 0
}
