package ledger

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/hashicorp/go-memdb"
)

// A View reads one consistent state. Rows are shared: a command copies a row before it
// changes it.
type View struct {
	txn     *memdb.Txn
	current *current
}

// first returns the first match, or nil. It panics on an error of memdb, which can only mean
// that the schema and its use here disagree.
func first[R any](v View, table, index string, arg any) *R {
	row, err := v.txn.First(table, index, arg)
	if err != nil {
		panic(fmt.Sprintf("ledger: read %s by %s: %v", table, index, err))
	}
	if row == nil {
		return nil
	}
	return row.(*R)
}

// rows returns the rows that an index has under one value.
func rows[R any](v View, table, index string, value any) iter.Seq[*R] {
	it, err := v.txn.Get(table, index, value)
	return walk[R](it, err, table)
}

// rowsFrom returns the rows of a table in order of id, starting at one.
func rowsFrom[R any](v View, table string, from any) iter.Seq[*R] {
	it, err := v.txn.LowerBound(table, indexID, from)
	return walk[R](it, err, table)
}

// allRows returns all rows of a table.
func allRows[R any](v View, table string) iter.Seq[*R] {
	it, err := v.txn.Get(table, indexID)
	return walk[R](it, err, table)
}

func walk[R any](it memdb.ResultIterator, err error, table string) iter.Seq[*R] {
	if err != nil {
		panic(fmt.Sprintf("ledger: walk %s: %v", table, err))
	}
	return func(yield func(*R) bool) {
		for row := it.Next(); row != nil; row = it.Next() {
			if !yield(row.(*R)) {
				return
			}
		}
	}
}

// count returns the number of rows.
func count[R any](all iter.Seq[*R]) (n int) {
	for range all {
		n++
	}
	return n
}

// Client returns a client, deleted ones included, or nil.
func (v View) Client(id string) *Client {
	if id == "" {
		return nil
	}
	return first[Client](v, TableClients, indexID, id)
}

// Clients returns all clients by id, deleted ones included.
func (v View) Clients() iter.Seq[*Client] { return rowsFrom[Client](v, TableClients, "") }

// ClientsOf returns the clients that a user owns by name, deleted ones included.
func (v View) ClientsOf(user string) iter.Seq[*Client] {
	return rows[Client](v, TableClients, "owner", user)
}

// User returns a user, deleted ones included, or nil.
func (v View) User(id string) *User {
	if id == "" {
		return nil
	}
	return first[User](v, TableUsers, indexID, id)
}

// UserByName returns the user with a user name, ignoring case, or nil.
func (v View) UserByName(name string) *User {
	if name == "" {
		return nil
	}
	return first[User](v, TableUsers, "username", fold(name))
}

// Users returns all users by id, deleted ones included.
func (v View) Users() iter.Seq[*User] { return rowsFrom[User](v, TableUsers, "") }

// Grant returns a grant, or nil if there is none or it was swept.
func (v View) Grant(id GrantID) *Grant { return first[Grant](v, TableGrants, indexID, id) }

// Grants returns all grants by id. It walks the table, so it must not run for each request.
func (v View) Grants() iter.Seq[*Grant] { return rowsFrom[Grant](v, TableGrants, []byte{}) }

// GrantsOf returns the grants of a user that are live at a time, oldest first.
func (v View) GrantsOf(user string, at Time) []*Grant {
	u := v.User(user)
	if u == nil {
		return nil
	}
	return v.grantsOf(u, "", v.Settings(), at)
}

// HasAllowed reports whether a user has a grant for a client, live or ended, that is not swept yet.
func (v View) HasAllowed(user, client string) bool {
	u := v.User(user)
	return u != nil && slices.ContainsFunc(u.Grants, func(id GrantID) bool {
		g := v.Grant(id)
		return g != nil && g.Client == client
	})
}

// grantsOf returns a user's live grants for one client, or for all if client is "".
func (v View) grantsOf(u *User, client string, settings *Settings, at Time) (live []*Grant) {
	for _, id := range u.Grants {
		g := v.Grant(id)
		if g == nil || client != "" && g.Client != client || v.redeemable(g) != NoCause {
			continue
		}
		if cause, _ := v.ended(g, u); cause != NoCause {
			continue
		}
		if cause, _ := v.expired(g, settings, v.latestPresentable(g), at); cause != NoCause {
			continue
		}
		if c := v.Client(g.Client); c != nil && c.State != Deleted {
			live = append(live, g)
		}
	}
	return live
}

// GrantEnded returns why a grant has ended, or NoCause if it is live or unknown.
func (v View) GrantEnded(id GrantID) Cause {
	g := v.Grant(id)
	if g == nil {
		return NoCause
	}
	if c := v.Client(g.Client); c == nil || c.State == Deleted {
		return ClientDeleted
	}
	cause, _ := v.ended(g, v.User(g.User))
	return cause
}

// TokensRevoked returns why issued access tokens of a grant are revoked, or NoCause. Those of
// a suspended client are valid again when it is resumed.
func (v View) TokensRevoked(id GrantID) Cause {
	if g := v.Grant(id); g != nil {
		if c := v.Client(g.Client); c != nil && c.State == Suspended {
			return ClientSuspended
		}
	}
	return v.GrantEnded(id)
}

// Session returns the session with a digest, live or not, or nil.
func (v View) Session(id [32]byte) *Session {
	return first[Session](v, TableSessions, indexID, id[:])
}

// Sessions returns all sessions. It walks the table.
func (v View) Sessions() iter.Seq[*Session] { return rowsFrom[Session](v, TableSessions, []byte{}) }

// Key returns a key, or nil.
func (v View) Key(id string) *Key { return first[Key](v, TableKeys, indexID, id) }

// Keys returns all keys by id.
func (v View) Keys() iter.Seq[*Key] { return rowsFrom[Key](v, TableKeys, "") }

// Node returns a node, or nil.
func (v View) Node(id string) *Node { return first[Node](v, TableNodes, indexID, id) }

// Nodes returns all nodes by id.
func (v View) Nodes() iter.Seq[*Node] { return rowsFrom[Node](v, TableNodes, "") }

// Events returns the audit trail, oldest first.
func (v View) Events() iter.Seq[*Event] { return rowsFrom[Event](v, TableAudit, []byte{}) }

// LastEvent returns the newest event, or nil.
func (v View) LastEvent() *Event { return v.lastEvent(math.MaxUint64) }

// EventsAfter returns the events with a Seq above seq, oldest first.
func (v View) EventsAfter(seq uint64) iter.Seq[*Event] {
	return rowsFrom[Event](v, TableAudit, sequence(seq+1))
}
