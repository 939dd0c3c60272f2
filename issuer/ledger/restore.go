package ledger

import (
	"slices"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// A Restore describes the last restore from a backup, or the last recovery of the only
// remaining node. Commands that the backup or that node doesn't have are lost. Some rules
// assume that no command is missing; they are relaxed once for each row that came out of
// the backup or of that node. There is one row; before the first restore or recovery it
// has only Timelines.
type Restore struct {
	ID    string     `cbor:"1,keyasint"` // always RestoreID
	Count uint32     `cbor:"2,keyasint"` // number of restores and recoveries, including this one
	Seq   uint64     `cbor:"3,keyasint"` // Meta.Seq of the command that began it: rows created at or before it came out of the backup or the remaining node
	At    Time       `cbor:"4,keyasint"` // time of the last restore, 0 before the first; a recovery doesn't set it, since it extends no expiry
	Last  command.ID `cbor:"5,keyasint"`

	// Replayed is the Seq of the last Record that was replayed since, in the numbering of
	// the cluster that wrote it.
	Replayed uint64 `cbor:"6,keyasint,omitempty"`

	// Timelines are those that led to this state, the current one last. Each restore or
	// recovery adds some thirty bytes.
	Timelines []Timeline `cbor:"7,keyasint,omitempty"`
}

// A Timeline is a history of commands, like a timeline of PostgreSQL. Restoring an older
// backup begins a new one, and so does recovering the only remaining node. Seqs are then
// reused for other commands, so a journal of one timeline doesn't describe another.
type Timeline struct {
	ID   command.ID `cbor:"1,keyasint"`
	From uint64     `cbor:"2,keyasint"` // Seq of its first command
}

// RestoreID is the id of the only Restore row.
const RestoreID = "restore"

// covers reports whether a row created at a Seq came out of the backup, or of the recovered
// node. No row is created at 0, so the zero Restore covers none.
func (r *Restore) covers(born uint64) bool { return born <= r.Seq }

// BeginRestore records that the state came out of a backup. An operator sends it as the
// first command in a restored cluster.
type BeginRestore struct {
	// Backup is the Seq of the last command in the backup. A new timeline begins after it.
	Backup uint64 `cbor:"1,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*BeginRestore) Kind() command.Kind { return KindBeginRestore }

// Decide starts a new count: idle times begin at the restore, and each grant may
// fast-forward once.
func (c *BeginRestore) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	old := v.Restore()
	if old.Count > 0 && old.Last == m.ID {
		return accept(Outcome{ID: RestoreID})
	}
	if c.Backup >= m.Seq {
		return badField("backup", "is later than the restore")
	}
	timelines := append(slices.Clip(old.Timelines), Timeline{ID: m.ID, From: c.Backup + 1})
	next := &Restore{ID: RestoreID, Count: old.Count + 1, Seq: m.Seq, At: stateTime(m), Last: m.ID, Timelines: timelines}
	return accept(Outcome{ID: RestoreID}, append(v.forgetBackups(), put(TableRestores, next),
		event(m, Event{Kind: EventRestored, Actor: Operator}))...)
}

// BeginTimeline gives a cluster without a timeline its first one. The leader sends it.
type BeginTimeline struct {
	// Next is the timeline that begins when the only remaining node is recovered. That
	// node may have lagged behind the lost ones, so each of its grants may fast-forward
	// once, and a Replay adds the records in the journals of the lost nodes. Unlike after
	// a restore, no expiry is extended: the remaining node ran all the time. Sending the
	// command again begins no further timeline.
	Next *Timeline `cbor:"1,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*BeginTimeline) Kind() command.Kind { return KindBeginTimeline }

// Decide changes nothing if the timeline Next has begun already or, without Next, if there
// is any timeline.
func (c *BeginTimeline) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	old := v.Restore()
	timelines := slices.Clip(old.Timelines)
	if len(timelines) == 0 {
		timelines = []Timeline{{ID: m.ID, From: 1}}
	}
	recovers := c.Next != nil && !slices.ContainsFunc(timelines, func(l Timeline) bool { return l.ID == c.Next.ID })
	if recovers {
		if c.Next.From == 0 || c.Next.From > m.Seq {
			return badField("next", "does not begin before this command")
		}
		timelines = append(timelines, *c.Next)
	}
	if len(timelines) == len(old.Timelines) {
		return accept(Outcome{ID: RestoreID})
	}
	next := *old
	next.ID, next.Timelines = RestoreID, timelines
	if !recovers {
		return accept(Outcome{ID: RestoreID}, put(TableRestores, &next))
	}
	next.Count, next.Seq, next.Last, next.Replayed = old.Count+1, m.Seq, m.ID, 0
	return accept(Outcome{ID: RestoreID}, append(v.forgetBackups(), put(TableRestores, &next), event(m, Event{Kind: EventRecovered, Actor: Operator}))...)
}

// Timelines returns the timelines that led to this state, the current one last; none before
// the first has begun.
func (v View) Timelines() []Timeline { return v.Restore().Timelines }

// restoredAt returns when a row created at a Seq came out of a backup, or 0 if it did not.
// For a row created between the last restore and a later recovery, it returns the time of
// that restore; this is earlier than the row and so has no effect.
func (v View) restoredAt(born uint64) Time {
	if r := v.Restore(); r.covers(born) {
		return r.At
	}
	return 0
}
