package ledger

import (
	"slices"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// MaxSweep bounds one Sweep: it may touch a grant, its user and no more than
// 256 rows in all.
const MaxSweep = 100

// MaxSweepEvents is the most events that one Sweep may remove. The other rows that it
// removes count as well.
const MaxSweepEvents = 255

// endedRetention is how long a grant that ended stays, so that an access token of
// it is still recognised here and its owner can be told why it ended.
const endedRetention = 24 * time.Hour

// Sweepable reports whether a grant can be removed: nothing of its chain will
// ever be accepted again, and has not been for a while.
func (v View) Sweepable(g *Grant, at Time) bool {
	since, over := v.finishedSince(g, at)
	if !over || at < since.Add(endedRetention) {
		return false
	}
	// The wait starts anew at a restore, as all that happened since the
	// backup is unknown.
	return at >= v.restoredAt(g.CreatedSeq).Add(endedRetention)
}

// finishedSince reports whether nothing of g's chain will ever be accepted again, and
// since when.
func (v View) finishedSince(g *Grant, at Time) (since Time, over bool) {
	if g.Ended != 0 {
		return g.Ended, true
	}
	if cause, when := v.expired(g, v.Settings(), v.latestPresentable(g), at); cause != NoCause {
		return when, true
	}
	// Tombstones and cuts bear no time; the last use stands in for it. They
	// are looked for only where that is long ago.
	since = max(g.Created, g.Used)
	if at < since.Add(endedRetention) {
		return since, false
	}
	if c := v.Client(g.Client); c == nil || c.State == Deleted {
		return since, true
	}
	cause, _ := g.ended(v.User(g.User))
	return since, cause != NoCause
}

// SessionSweepable reports whether a session can be removed.
func (v View) SessionSweepable(s *Session, at Time) bool {
	u, _ := v.SignedIn(s.ID, at)
	return u == nil
}

// SweepableGrants looks at up to limit grants from an id on, and returns
// those to sweep and where to go on; at the end of the table that is the
// beginning.
func (v View) SweepableGrants(from GrantID, limit int, at Time) (ids []GrantID, next GrantID) {
	for g := range rowsFrom[Grant](v, TableGrants, from[:]) {
		if limit--; limit < 0 {
			return ids, g.ID
		}
		if v.Sweepable(g, at) {
			ids = append(ids, g.ID)
		}
	}
	return ids, GrantID{}
}

// SweepableSessions does for sessions what SweepableGrants does for grants.
func (v View) SweepableSessions(from [32]byte, limit int, at Time) (ids [][32]byte, next [32]byte) {
	for s := range rowsFrom[Session](v, TableSessions, from[:]) {
		if limit--; limit < 0 {
			return ids, s.ID
		}
		if v.SessionSweepable(s, at) {
			ids = append(ids, s.ID)
		}
	}
	return ids, [32]byte{}
}

// UnusedLogos does for logos what SweepableGrants does for grants.
func (v View) UnusedLogos(from [32]byte, limit int) (ids [][32]byte, next [32]byte) {
	for l := range rowsFrom[Logo](v, TableLogos, from[:]) {
		if limit--; limit < 0 {
			return ids, l.ID
		}
		if !v.logoInUse(l) {
			ids = append(ids, l.ID)
		}
	}
	return ids, [32]byte{}
}

// Sweep removes rows that have no effect any more. The leader finds them on
// its own copy, in small chunks; each is judged again here.
type Sweep struct {
	Grants   []GrantID  `cbor:"1,keyasint,omitempty"` // at most MaxSweep
	Sessions [][32]byte `cbor:"2,keyasint,omitempty"` // at most MaxSweep
	Events   []uint64   `cbor:"3,keyasint,omitempty"` // Seqs of events to remove, at most MaxSweepEvents: see Shares.Surplus
	Logos    [][32]byte `cbor:"4,keyasint,omitempty"` // at most MaxSweep
}

// Kind is KindSweep.
func (*Sweep) Kind() command.Kind { return KindSweep }

// Decide skips what turns out to be alive.
func (c *Sweep) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	var changes []command.Change
	lists := map[string]*User{} // users whose lists of grants change
	var order []string          // maps have no order, and decisions must
	for _, id := range c.Grants[:min(len(c.Grants), MaxSweep)] {
		g := v.Grant(id)
		if g == nil || !v.Sweepable(g, stateTime(m)) {
			continue
		}
		changes = append(changes, remove(TableGrants, g))
		u := lists[g.User]
		if u == nil {
			if old := v.User(g.User); old != nil {
				next := *old
				next.Grants = slices.Clone(old.Grants)
				u = &next
				lists[g.User] = u
				order = append(order, g.User)
			}
		}
		if u != nil {
			u.Grants = slices.DeleteFunc(u.Grants, func(other GrantID) bool { return other == id })
		}
	}
	for _, id := range order {
		changes = append(changes, put(TableUsers, lists[id]))
	}
	// All kinds share one bound; what does not fit waits for the next.
	for _, id := range c.Sessions {
		if len(changes) >= 2*MaxSweep {
			break
		}
		if s := v.Session(id); s != nil && v.SessionSweepable(s, stateTime(m)) {
			changes = append(changes, remove(TableSessions, s))
		}
	}
	for _, id := range c.Logos {
		if len(changes) >= 2*MaxSweep {
			break
		}
		if l := v.Logo(id); l != nil && !v.logoInUse(l) {
			changes = append(changes, remove(TableLogos, l))
		}
	}
	if len(c.Events) > 0 {
		changes = append(changes, v.removeEvents(c.Events, max(0, MaxSweepEvents-len(changes)))...)
	}
	return accept(Outcome{Count: len(changes)}, changes...)
}
