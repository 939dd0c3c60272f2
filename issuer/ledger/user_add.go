package ledger

import (
	"cmp"
	"iter"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// AddUser creates an account that signs in by password, for an administrator.
type AddUser struct {
	Actor    Actor  `cbor:"1,keyasint"`
	ID       string `cbor:"2,keyasint"`
	Username string `cbor:"3,keyasint"`
	Person   Person `cbor:"4,keyasint"`
	Password string `cbor:"5,keyasint"` // argon2id, PHC form
	Admin    bool   `cbor:"6,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*AddUser) Kind() command.Kind { return KindAddUser }

// Decide refuses a name that another user has.
func (c *AddUser) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identifyAdministrator(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	if who.remoteChangeOf(nil, c.Admin) {
		return deny(LocalOnly)
	}
	if old := v.User(c.ID); old != nil {
		if old.Last == m.ID {
			return accept(Outcome{ID: c.ID})
		}
		return deny(AlreadyExists)
	}
	if note := cmp.Or(checkID(c.ID), v.reservedID(c.ID)); note != "" {
		return badField("id", note)
	}
	if field, note := v.checkAccount(&User{ID: c.ID}, c.Username, &c.Person); note != "" {
		return badField(field, note)
	}
	if c.Password == "" {
		return badField("password", "is empty")
	}
	if c.Admin && !who.fresh(m) {
		return deny(SignInTooOld)
	}
	u := &User{ID: c.ID, Username: c.Username, Person: c.Person, Password: c.Password, Admin: c.Admin, Created: stateTime(m), Last: m.ID}
	detail := ""
	if c.Admin {
		detail = "as an administrator"
	}
	return accept(Outcome{ID: c.ID}, put(TableUsers, u),
		event(m, Event{Kind: EventUserAdded, Actor: who.name(), User: c.ID, Detail: detail}))
}

// checkAccount returns what is wrong with a user's name and profile, or "".
func (v View) checkAccount(u *User, username string, p *Person) (field, note string) {
	for field, note := range v.AccountFaults(u, username, p) {
		return field, note
	}
	return "", ""
}

// AccountFaults returns every fault of the name and profile that a user is to have, by field, so
// that a page can show them all at once. A command reports only the first.
func (v View) AccountFaults(u *User, username string, p *Person) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		note := checkUsername(username)
		if other := v.UserByName(username); other != nil && other.ID != u.ID {
			note = "is taken"
		}
		if note == "" && username != u.Username {
			note = v.reservedName(username, u.ID)
		}
		if note != "" && !yield("username", note) {
			return
		}
		p.faults()(yield)
	}
}

// SetPerson changes a user's name and profile, for an administrator. For a user of an
// upstream provider, the next sign-in overwrites it with what the provider sends.
type SetPerson struct {
	Actor    Actor  `cbor:"1,keyasint"`
	User     string `cbor:"2,keyasint"`
	Username string `cbor:"3,keyasint"`
	Person   Person `cbor:"4,keyasint"`
	// ExpectedLast is the User.Last that the administrator saw. The command is refused if
	// the user has changed since. Zero matches any.
	ExpectedLast command.ID `cbor:"5,keyasint,omitzero"`
}

// Kind implements command.Command.
func (*SetPerson) Kind() command.Kind { return KindSetPerson }

// Decide ends no session, since a name carries no rights.
func (c *SetPerson) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identifyAdministrator(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	old := v.User(c.User)
	switch {
	case old == nil || old.Deleted:
		return deny(NotFound)
	case who.remoteChangeOf(old, old.Admin):
		return deny(LocalOnly)
	case old.Last == m.ID, old.Username == c.Username && old.Person == c.Person:
		return accept(Outcome{ID: c.User})
	case c.ExpectedLast != (command.ID{}) && c.ExpectedLast != old.Last:
		return deny(Conflict)
	}
	if field, note := v.checkAccount(old, c.Username, &c.Person); note != "" {
		return badField(field, note)
	}
	next := old.changed(m)
	next.Username, next.Person = c.Username, c.Person
	return accept(Outcome{ID: c.User}, put(TableUsers, next),
		event(m, Event{Kind: EventUserEdited, Actor: who.name(), User: c.User}))
}
