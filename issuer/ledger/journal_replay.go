package ledger

import (
	"fmt"
	"slices"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// Replay applies what was taken away after a backup to the state that was restored from
// it, before the cluster serves requests.
//
// A replayed revocation of grants covers the grants created before this command, not those
// up to the record's own Seq: Seqs continue from the backup's, so grants that are created
// after the restore may have a lower Seq than the record. A record's time is clamped to the
// current time: its cluster may have been abandoned because a wrong clock had set its time
// ahead.
type Replay struct {
	Backup uint64 `cbor:"1,keyasint"` // Meta.Seq of the last command in the backup
	// Records are in order of Seq. Those that the backup has, or that were replayed
	// before, are skipped. Replays splits a longer list.
	Records []Record `cbor:"2,keyasint"`
}

// MaxReplay is the maximum number of rows that the effects of one Replay may change.
const MaxReplay = 200

// maxReplayBytes keeps a Replay below the maximum size of a command.
const maxReplayBytes = 24 << 10

// Replays returns the commands that replay records, which are in order of Seq, onto a
// backup.
func Replays(backup uint64, records []Record) []*Replay {
	var all []*Replay
	rows, bytes := 0, 0
	for _, r := range records {
		if r.Seq <= backup {
			continue
		}
		rows, bytes = rows+r.rows(), bytes+r.size()
		if len(all) == 0 || rows > MaxReplay || bytes > maxReplayBytes {
			all = append(all, &Replay{Backup: backup})
			rows, bytes = r.rows(), r.size()
		}
		last := all[len(all)-1]
		last.Records = append(last.Records, r)
	}
	return all
}

// Kind implements command.Command.
func (*Replay) Kind() command.Kind { return KindReplay }

// Decide skips effects on rows that the state doesn't have: they were created after the
// backup.
func (c *Replay) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	restore := v.Restore()
	switch {
	case restore.Count == 0:
		return deny(NotRestored)
	case c.Backup >= restore.Seq:
		return badField("backup", "is later than the restore")
	}
	if refused := checkRecords(c.Records); refused != nil {
		return command.Decision{Outcome: Outcome{Refusal: refused}}
	}
	records := c.newRecords(restore)
	effects, rows, changed := 0, 0, 0
	for i := range records {
		effects, rows = effects+len(records[i].Effects), rows+records[i].rows()
	}
	switch {
	case rows > MaxReplay:
		return badField("records", "have too many effects for one command")
	case len(records) == 0:
		return accept(Outcome{ID: RestoreID})
	}
	s := newReplayState(v, m)
	for i := range records {
		for j := range records[i].Effects {
			e := &records[i].Effects[j]
			if s.apply(e, min(records[i].when(e), stateTime(m))) {
				changed++
			}
		}
	}
	if s.tooLate {
		return deny(ReplayTooLate)
	}
	next := *restore // Last stays the ID of the BeginRestore
	next.Replayed = records[len(records)-1].Seq
	return accept(Outcome{ID: RestoreID}, append(s.changes(), put(TableRestores, &next),
		event(m, Event{Kind: EventReplayed, Actor: Operator, Detail: fmt.Sprintf("%d effects, %d of them on what the backup has", effects, changed)}))...)
}

// newRecords returns the records that have not been applied yet.
func (c *Replay) newRecords(r *Restore) []Record {
	seen := max(c.Backup, r.Replayed)
	i := slices.IndexFunc(c.Records, func(r Record) bool { return r.Seq > seen })
	if i < 0 {
		return nil
	}
	return c.Records[i:]
}

// journal returns the effects under their new Seq, so that a second restore of the same
// backup finds them in the journal of this cluster.
func (c *Replay) journal(v View, m command.Meta) *Record {
	r := &Record{Seq: m.Seq, At: stateTime(m), Actor: Operator}
	for _, old := range c.newRecords(v.Restore()) {
		for _, e := range old.Effects {
			e.At = old.when(&e)
			if e.RevokedBefore > 0 {
				e.RevokedBefore = e.revokedBefore(m.Seq)
			}
			r.Effects = append(r.Effects, e)
		}
	}
	return r
}

// checkRecords refuses records that can't be replayed as a whole. Skipping a record
// silently would give back what it took away.
func checkRecords(records []Record) *Refusal {
	bad := func(note string) *Refusal { return outcome(badField("records", note)).Refusal }
	for i := range records {
		if i > 0 && records[i].Seq <= records[i-1].Seq {
			return bad("are not in order")
		}
		if records[i].At <= 0 {
			return bad("have no time")
		}
		if records[i].rows() > MaxReplay {
			return bad("have too many effects for one command")
		}
		for j := range records[i].Effects {
			if !records[i].Effects[j].complete() {
				return bad("have an effect that this version does not know")
			}
		}
	}
	return nil
}

// rows returns an upper bound of the rows that the effects of r change.
func (r *Record) rows() int {
	n := len(r.Effects)
	for i := range r.Effects {
		switch e := &r.Effects[i]; e.Kind {
		case EffectClientDeleted:
			n++ // its Usage
		case EffectKeyActivated, EffectKeyDropped:
			n++ // the key that retires, or has the highest number
		case EffectRewrapped:
			n += len(e.Sealed)
		}
	}
	return n
}

// size returns an upper bound of the bytes that r takes in a command.
func (r *Record) size() int {
	n := 32 + len(r.Actor)
	for i := range r.Effects {
		n += r.Effects[i].size()
	}
	return n
}

func (e *Effect) size() int {
	n := 128 + len(e.User) + len(e.Client) + len(e.Password) + len(e.PasswordCost.Kind) + len(e.State) + len(e.Reason) + len(e.ID) + len(e.Identity) + len(e.Resource)
	for _, s := range e.URIs {
		n += 3 + len(s)
	}
	for _, s := range e.Scopes {
		n += 3 + len(s)
	}
	for _, s := range e.Sealed {
		n += 16 + len(s.ID) + len(s.Sealed)
	}
	if s := e.Secret; s != nil {
		n += 64 + len(s.ID) + len(s.Tail) + len(s.Hash) + len(s.Name)
	}
	if k := e.Key; k != nil {
		n += 128 + len(k.ID) + len(k.Algorithm) + len(k.Public) + len(k.Sealed) + len(k.SealedUnder)
	}
	return n
}
