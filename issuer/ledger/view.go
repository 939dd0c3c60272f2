package ledger

import (
	"fmt"
	"iter"
	"math"

	"github.com/hashicorp/go-memdb"
)

// A View reads one consistent state. Rows are shared: a command copies what
// it changes.
type View struct{ txn *memdb.Txn }

// At is the view of a transaction.
func At(txn *memdb.Txn) View { return View{txn} }

// first panics on an error of memdb, which can only mean that the schema and
// its use here disagree.
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

// rows are those that an index has under one value.
func rows[R any](v View, table, index string, value any) iter.Seq[*R] {
	it, err := v.txn.Get(table, index, value)
	return walk[R](it, err, table)
}

// rowsFrom are the rows of a table in order of id, from one on.
func rowsFrom[R any](v View, table string, from any) iter.Seq[*R] {
	it, err := v.txn.LowerBound(table, indexID, from)
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

// Settings are never nil: before the first Configure they are the defaults.
func (v View) Settings() *Settings {
	if s := first[Settings](v, TableSettings, indexID, SettingsID); s != nil {
		return s
	}
	s := DefaultSettings()
	return &s
}

// Client is nil where there is none; a deleted one is returned.
func (v View) Client(id string) *Client {
	if id == "" {
		return nil
	}
	return first[Client](v, TableClients, indexID, id)
}

// Clients are all clients, deleted ones included, by id.
func (v View) Clients() iter.Seq[*Client] { return rowsFrom[Client](v, TableClients, "") }

// ClientsOf are the clients that a user owns, by name, deleted ones included.
func (v View) ClientsOf(user string) iter.Seq[*Client] {
	return rows[Client](v, TableClients, "owner", user)
}

// User is nil where there is none; a deleted one is returned.
func (v View) User(id string) *User {
	if id == "" {
		return nil
	}
	return first[User](v, TableUsers, indexID, id)
}

// UserByName finds a user by user name, whatever its case.
func (v View) UserByName(name string) *User {
	if name == "" {
		return nil
	}
	return first[User](v, TableUsers, "username", fold(name))
}

// Users are all users, deleted ones included, by id.
func (v View) Users() iter.Seq[*User] { return rowsFrom[User](v, TableUsers, "") }

// Grant is nil where there is none, or none any more.
func (v View) Grant(id GrantID) *Grant { return first[Grant](v, TableGrants, indexID, id[:]) }

// Grants are all grants, by id. It walks the table: never on a request's path.
func (v View) Grants() iter.Seq[*Grant] { return rowsFrom[Grant](v, TableGrants, []byte{}) }

// GrantsOf are the grants of a user that still accept something at a time,
// oldest first.
func (v View) GrantsOf(user string, at Time) []*Grant {
	u := v.User(user)
	if u == nil {
		return nil
	}
	return v.grantsOf(u, "", v.Settings(), at)
}

// grantsOf are those for one client, or for all.
func (v View) grantsOf(u *User, client string, settings *Settings, at Time) (live []*Grant) {
	for _, id := range u.Grants {
		g := v.Grant(id)
		if g == nil || client != "" && g.Client != client || !v.redeemable(g) {
			continue
		}
		if cause, _ := g.ended(u); cause != NoCause {
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

// GrantEnded says why a grant accepts nothing any more, or NoCause for one
// that lives and for one that is not known here.
func (v View) GrantEnded(id GrantID) Cause {
	g := v.Grant(id)
	if g == nil {
		return NoCause
	}
	if c := v.Client(g.Client); c == nil || c.State == Deleted {
		return ClientDeleted
	}
	cause, _ := g.ended(v.User(g.User))
	return cause
}

// TokensRevoked says why access tokens of a grant that are out do not count, or
// NoCause where they do. Those of a suspended client count again when it is
// resumed.
func (v View) TokensRevoked(id GrantID) Cause {
	if g := v.Grant(id); g != nil {
		if c := v.Client(g.Client); c != nil && c.State == Suspended {
			return ClientSuspended
		}
	}
	return v.GrantEnded(id)
}

// Session is the session of a digest, live or not.
func (v View) Session(id [32]byte) *Session {
	return first[Session](v, TableSessions, indexID, id[:])
}

// Sessions are all sessions. It walks the table.
func (v View) Sessions() iter.Seq[*Session] { return rowsFrom[Session](v, TableSessions, []byte{}) }

// Key is nil where there is none.
func (v View) Key(id string) *Key { return first[Key](v, TableKeys, indexID, id) }

// Keys are all keys, by id.
func (v View) Keys() iter.Seq[*Key] { return rowsFrom[Key](v, TableKeys, "") }

// ActiveKey is the one key of a purpose to mint with, nil in a cluster that
// has made none yet.
func (v View) ActiveKey(p Purpose) *Key {
	return first[Key](v, TableKeys, "use", useKey(p, KeyActive))
}

// Node is nil where there is none.
func (v View) Node(id string) *Node { return first[Node](v, TableNodes, indexID, id) }

// Nodes are all nodes, by id.
func (v View) Nodes() iter.Seq[*Node] { return rowsFrom[Node](v, TableNodes, "") }

// Events are the audit trail, oldest first.
func (v View) Events() iter.Seq[*Event] { return rowsFrom[Event](v, TableAudit, []byte{}) }

// LastEvent returns the newest event, or nil.
func (v View) LastEvent() *Event { return v.lastEvent(math.MaxUint64) }

// EventsAfter returns the events with a Seq above seq, oldest first.
func (v View) EventsAfter(seq uint64) iter.Seq[*Event] {
	return rowsFrom[Event](v, TableAudit, sequence(seq+1))
}
