package ledger

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// PutUser creates or changes a user, for an operator. An empty Password keeps the existing
// one.
type PutUser struct {
	ID       string `cbor:"1,keyasint"`
	Username string `cbor:"2,keyasint"`
	Person   Person `cbor:"3,keyasint"`
	Password string `cbor:"4,keyasint,omitempty"` // argon2id, PHC form, or with PasswordCost a hash that another system made
	Admin    bool   `cbor:"5,keyasint,omitempty"`
	New      bool   `cbor:"6,keyasint,omitempty"` // refuse to change an existing user
	// Declared is like ImportClient.Declared.
	Declared []string `cbor:"7,keyasint,omitempty"`
	// Seen is what the operator saw of an existing user, nil if the command replaces
	// anything. The command is refused if the user has another name, profile or role now.
	Seen  *UserSeen `cbor:"8,keyasint,omitempty"`
	Actor Actor     `cbor:"9,keyasint,omitzero"` // an operator; zero is the local one
	// PasswordCost is like User.PasswordCost. Such a Password replaces only one that was
	// imported too and has not been used yet; another one stays.
	PasswordCost HashCost `cbor:"10,keyasint,omitzero"`
}

// A UserSeen is the part of a user that PutUser replaces.
type UserSeen struct {
	Username string `cbor:"1,keyasint"`
	Person   Person `cbor:"2,keyasint"`
	Admin    bool   `cbor:"3,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*PutUser) Kind() command.Kind { return KindPutUser }

// Decide refuses a name that another user has.
func (c *PutUser) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identifyOperator(c.Actor.orOperator(), m)
	if cause != NoCause {
		return deny(cause)
	}
	old := v.User(c.ID)
	switch {
	case who.remoteChangeOf(old, c.Admin) && (old == nil || !c.isPut(old)):
		return deny(LocalOnly)
	case old != nil && (old.Last == m.ID || slices.Contains(c.Declared, old.Declared)):
		return accept(Outcome{ID: c.ID})
	case old != nil && (c.New || old.Deleted):
		return deny(AlreadyExists)
	case c.Seen != nil && (old == nil || *c.Seen != old.seen()):
		if old != nil && c.isPut(old) {
			return accept(Outcome{ID: c.ID})
		}
		return deny(Conflict)
	}
	if note := checkID(c.ID); note != "" {
		return badField("id", note)
	}
	if note := checkUsername(c.Username); note != "" {
		return badField("username", note)
	}
	if other := v.UserByName(c.Username); other != nil && other.ID != c.ID {
		return taken("username")
	}
	if field, note := c.checkReserved(v, old); note != "" {
		return badField(field, note)
	}
	if field, note := c.Person.check(); note != "" {
		return badField(field, note)
	}
	if note := checkHash(c.Password); c.PasswordCost.Kind != "" && note != "" {
		return badField("password", note)
	}
	next := &User{ID: c.ID, Created: stateTime(m)}
	if old != nil {
		*next = *old
	}
	next.Username, next.Person, next.Admin, next.Last = c.Username, c.Person, c.Admin, m.ID
	next.Declared = newest(c.Declared)
	if !c.keepsPassword(next) {
		next.setPassword(c.Password, c.PasswordCost)
		if old != nil {
			next.SessionsRevokedBefore = m.Seq // a password change ends sessions
		}
	}
	return accept(Outcome{ID: c.ID, Count: 1}, put(TableUsers, next),
		event(m, Event{Kind: EventUserPut, Actor: who.name(), User: c.ID, Detail: putDetail(old, next)}))
}

func (u *User) seen() UserSeen { return UserSeen{u.Username, u.Person, u.Admin} }

// isPut reports whether a user is what the command would make of it.
func (c *PutUser) isPut(u *User) bool {
	return u.seen() == UserSeen{c.Username, c.Person, c.Admin} && c.keepsPassword(u)
}

// keepsPassword reports whether the command leaves the password of a user as it is.
func (c *PutUser) keepsPassword(u *User) bool {
	imported := c.PasswordCost.Kind != "" && u.Password != "" && u.PasswordCost.Kind == ""
	return c.Password == "" || c.Password == u.Password || imported
}

// putDetail names the fields that a PutUser changed. Their values are personal.
func putDetail(old, next *User) string {
	if old == nil {
		return ""
	}
	var fields []string
	for _, f := range []struct {
		name    string
		changed bool
	}{
		{"username", old.Username != next.Username},
		{"profile", old.Person != next.Person},
		{"password", old.Password != next.Password},
	} {
		if f.changed {
			fields = append(fields, f.name)
		}
	}
	if old.Admin != next.Admin {
		fields = append(fields, fmt.Sprintf("admin: %t → %t", old.Admin, next.Admin))
	}
	return strings.Join(fields, ", ")
}

// checkReserved returns which of a new identifier and name is reserved, and why, or "".
func (c *PutUser) checkReserved(v View, old *User) (field, note string) {
	switch {
	case old == nil && v.reservedID(c.ID) != "":
		return "id", v.reservedID(c.ID)
	case old == nil || old.Username != c.Username:
		return "username", v.reservedName(c.Username, c.ID)
	}
	return "", ""
}

const maxUsername = 64 // characters

func checkUsername(s string) string {
	if note := checkText(s, 1, maxUsername); note != "" {
		return note
	}
	if strings.ContainsAny(s, " \t/\\\"<>:") {
		return `may not hold spaces or any of / \ " < > :`
	}
	return ""
}

// check returns the first of p's faults, or "".
func (p *Person) check() (field, note string) {
	for field, note := range p.faults() {
		return field, note
	}
	return "", ""
}

func (p *Person) faults() iter.Seq2[string, string] {
	return func(yield func(field, note string) bool) {
		for _, f := range []struct {
			name, value string
			most        int
		}{
			{"email", p.Email, 254},
			{"name", p.Name, 100},
			{"bio", strings.ReplaceAll(p.Bio, "\n", " "), 1000}, // the only field that may have lines
			{"default_schedule_id", p.DefaultScheduleID, 64},
			{"week_start", p.WeekStart, 16},
			{"time_zone", p.TimeZone, 64},
			{"locale", p.Locale, 35},
			{"organization_id", p.OrganizationID, 64},
		} {
			if note := checkText(f.value, 0, f.most); note != "" && !yield(f.name, note) {
				return
			}
		}
		if note := checkWebsite(p.AvatarURL); note != "" && !yield("avatar_url", note) {
			return
		}
		if p.TimeFormat != 0 && p.TimeFormat != 12 && p.TimeFormat != 24 {
			yield("time_format", "must be 12 or 24")
		}
	}
}
