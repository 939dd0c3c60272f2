package ledger

import (
	"fmt"
	"iter"

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

// rows iterates in the order of the index. Without arguments it yields the
// whole table.
func rows[R any](v View, table, index string, args ...any) iter.Seq[*R] {
	var it memdb.ResultIterator
	var err error
	if len(args) == 0 {
		it, err = v.txn.LowerBound(table, index, least[table])
	} else {
		it, err = v.txn.Get(table, index, args...)
	}
	if err != nil {
		panic(fmt.Sprintf("ledger: walk %s by %s: %v", table, index, err))
	}
	return func(yield func(*R) bool) {
		for row := it.Next(); row != nil; row = it.Next() {
			if !yield(row.(*R)) {
				return
			}
		}
	}
}

// least is an argument below every id of a table.
var least = map[string]any{
	TableClients: "", TableUsers: "", TableKeys: "", TableNodes: "",
	TableSessions: []byte{}, TableGrants: []byte{}, TableAudit: []byte{},
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
func (v View) Clients() iter.Seq[*Client] { return rows[Client](v, TableClients, indexID) }

// ClientsOf are the clients that a user owns, deleted ones included.
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
func (v View) Users() iter.Seq[*User] { return rows[User](v, TableUsers, indexID) }

// Grant is nil where there is none, or none any more.
func (v View) Grant(id GrantID) *Grant { return first[Grant](v, TableGrants, indexID, id[:]) }

// Grants are all grants, by id. It walks the table: never on a request's path.
func (v View) Grants() iter.Seq[*Grant] { return rows[Grant](v, TableGrants, indexID) }

// GrantsOf are the grants of a user that still accept something, oldest first.
func (v View) GrantsOf(user string) []*Grant {
	u := v.User(user)
	if u == nil {
		return nil
	}
	var live []*Grant
	for _, id := range u.Grants {
		g := v.Grant(id)
		if g == nil {
			continue
		}
		if cause, _ := g.ended(u); cause == NoCause {
			if c := v.Client(g.Client); c != nil && c.State != Deleted {
				live = append(live, g)
			}
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

// Session is the session of a digest, live or not.
func (v View) Session(id [32]byte) *Session {
	return first[Session](v, TableSessions, indexID, id[:])
}

// Sessions are all sessions. It walks the table.
func (v View) Sessions() iter.Seq[*Session] { return rows[Session](v, TableSessions, indexID) }

// Key is nil where there is none.
func (v View) Key(id string) *Key { return first[Key](v, TableKeys, indexID, id) }

// Keys are all keys, by id.
func (v View) Keys() iter.Seq[*Key] { return rows[Key](v, TableKeys, indexID) }

// ActiveKey is the one key of a purpose to mint with, nil in a cluster that
// has made none yet.
func (v View) ActiveKey(p Purpose) *Key {
	return first[Key](v, TableKeys, "use", useKey(p, KeyActive))
}

// Node is nil where there is none.
func (v View) Node(id string) *Node { return first[Node](v, TableNodes, indexID, id) }

// Nodes are all nodes, by id.
func (v View) Nodes() iter.Seq[*Node] { return rows[Node](v, TableNodes, indexID) }

// Events are the audit trail, oldest first.
func (v View) Events() iter.Seq[*Event] { return rows[Event](v, TableAudit, indexID) }
