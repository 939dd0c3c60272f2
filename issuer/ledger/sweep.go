package ledger

import (
	"slices"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// MaxSweep is the maximum number of rows of one kind in a Sweep. A Sweep may change a grant,
// its user and at most 256 rows in all.
const MaxSweep = 100

// MaxSweepEvents is the maximum number of events that one Sweep may remove. The other rows
// that it removes count as well.
const MaxSweepEvents = 255

// endedRetention is how long an ended grant is kept, so that its access tokens are still
// recognised here and the client's owner can learn why it ended.
const endedRetention = 24 * time.Hour

// Sweepable reports whether a grant can be removed: none of its credentials will ever be
// accepted again, since at least endedRetention.
func (v View) Sweepable(g *Grant, at Time) bool {
	since, over := v.finishedSince(g, at)
	if !over || at < since.Add(endedRetention) {
		return false
	}
	// The wait begins at a restore, since everything after the backup is unknown.
	return at >= v.restoredAt(g.CreatedSeq).Add(endedRetention)
}

// finishedSince reports whether no credential of g's chain will ever be accepted again, and
// since when.
func (v View) finishedSince(g *Grant, at Time) (since Time, over bool) {
	if g.Ended != 0 {
		return g.Ended, true
	}
	if cause, when := v.expired(g, v.Settings(), v.latestPresentable(g), at); cause != NoCause {
		return when, true
	}
	// Deleted rows and revocations have no time, so the last use is taken instead. They
	// are looked up only if that is long ago.
	since = max(g.Created, g.Used)
	if at < since.Add(endedRetention) {
		return since, false
	}
	if c := v.Client(g.Client); c == nil || c.State == Deleted {
		return since, true
	}
	cause, _ := v.ended(g, v.User(g.User))
	return since, cause != NoCause
}

// SessionSweepable reports whether a session can be removed.
func (v View) SessionSweepable(s *Session, at Time) bool {
	u, _ := v.SignedIn(s.ID, at)
	return u == nil
}

// SweepableGrants reads up to limit grants, starting at an id, and returns those to sweep and
// where to continue, which is the beginning once the end of the table is reached.
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

// SweepableSessions is like SweepableGrants, for sessions.
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

// UnusedLogos is like SweepableGrants, for logos.
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

// Sweep removes rows that have no effect any more. The leader finds them on its own state,
// in small pieces; Decide checks each again.
type Sweep struct {
	Grants   []GrantID  `cbor:"1,keyasint,omitempty"` // at most MaxSweep
	Sessions [][32]byte `cbor:"2,keyasint,omitempty"` // at most MaxSweep
	Events   []uint64   `cbor:"3,keyasint,omitempty"` // Seqs of events to remove, at most MaxSweepEvents: see Shares.Surplus
	Logos    [][32]byte `cbor:"4,keyasint,omitempty"` // at most MaxSweep
	// Publishers are hosts, Documents ids of clients with a document.
	Publishers []string `cbor:"5,keyasint,omitempty"`
	Documents  []string `cbor:"6,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*Sweep) Kind() command.Kind { return KindSweep }

// Decide skips rows that are still needed.
func (c *Sweep) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	var changes []command.Change
	lists := map[string]*User{} // users whose lists of grants change
	var order []string          // keys of lists in order, since decisions must be deterministic
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
		v.forgetRevokedBefore(lists[id])
		changes = append(changes, put(TableUsers, lists[id]))
	}
	// All kinds share one bound; what exceeds it is left to the next Sweep.
	at := stateTime(m)
	changes = sweepRows(changes, TableSessions, c.Sessions, v.Session, func(s *Session) bool { return v.SessionSweepable(s, at) })
	changes = sweepRows(changes, TableLogos, c.Logos, v.Logo, func(l *Logo) bool { return !v.logoInUse(l) })
	for _, id := range c.Documents {
		if one := v.Client(id); one != nil && v.documentSweepable(one, at) && len(changes) < 2*MaxSweep {
			changes = append(append(changes, remove(TableClients, one)), v.withoutUsage(id)...)
		}
	}
	changes = sweepRows(changes, TablePublishers, c.Publishers, v.Publisher, func(p *Publisher) bool { return p.sweepable(at) })
	if len(c.Events) > 0 {
		changes = append(changes, v.removeEvents(c.Events, max(0, MaxSweepEvents-len(changes)))...)
	}
	return accept(Outcome{Count: len(changes)}, changes...)
}

// forgetRevokedBefore removes u's entries for clients that u has no grants for, not even ended
// ones. The grants that they ended are gone, and later ones are not affected.
func (v View) forgetRevokedBefore(u *User) {
	clients := map[string]bool{}
	for _, id := range u.Grants {
		if g := v.Grant(id); g != nil {
			clients[g.Client] = true
		}
	}
	u.RevokedBeforeByClient = slices.DeleteFunc(slices.Clone(u.RevokedBeforeByClient), func(r RevokedBefore) bool { return !clients[r.Client] })
}

// sweepRows appends the removal of those rows that can be removed, as far as the bound allows.
func sweepRows[ID, R any](changes []command.Change, table string, ids []ID, row func(ID) *R, sweepable func(*R) bool) []command.Change {
	for _, id := range ids {
		if len(changes) >= 2*MaxSweep {
			break
		}
		if r := row(id); r != nil && sweepable(r) {
			changes = append(changes, remove(table, r))
		}
	}
	return changes
}
