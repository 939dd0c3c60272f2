package ledger

import (
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
	Password string `cbor:"4,keyasint,omitempty"` // argon2id, PHC form
	Admin    bool   `cbor:"5,keyasint,omitempty"`
	New      bool   `cbor:"6,keyasint,omitempty"` // refuse to change an existing user
	// Declared is like ImportClient.Declared.
	Declared []string `cbor:"7,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*PutUser) Kind() command.Kind { return KindPutUser }

// Decide refuses a name that another user has.
func (c *PutUser) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	old := v.User(c.ID)
	switch {
	case old != nil && (old.Last == m.ID || slices.Contains(c.Declared, old.Declared)):
		return accept(Outcome{ID: c.ID})
	case old != nil && (c.New || old.Deleted):
		return deny(AlreadyExists)
	}
	if note := checkID(c.ID); note != "" {
		return badField("id", note)
	}
	if note := checkUsername(c.Username); note != "" {
		return badField("username", note)
	}
	if other := v.UserByName(c.Username); other != nil && other.ID != c.ID {
		d := deny(AlreadyExists)
		outcome(d).Refusal.Field, outcome(d).Refusal.Note = "username", "is taken"
		return d
	}
	if field, note := c.checkReserved(v, old); note != "" {
		return badField(field, note)
	}
	if field, note := c.Person.check(); note != "" {
		return badField(field, note)
	}
	next := &User{ID: c.ID, Created: stateTime(m)}
	if old != nil {
		*next = *old
	}
	next.Username, next.Person, next.Admin, next.Last = c.Username, c.Person, c.Admin, m.ID
	next.Declared = newest(c.Declared)
	if c.Password != "" && c.Password != next.Password {
		next.Password = c.Password
		if old != nil {
			next.SessionsRevokedBefore = m.Seq // a password change ends sessions
		}
	}
	return accept(Outcome{ID: c.ID, Count: 1}, put(TableUsers, next),
		event(m, Event{Kind: EventUserPut, Actor: Operator, User: c.ID}))
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

func (p *Person) check() (field, note string) {
	for _, f := range []struct {
		name, value string
		most        int
	}{
		{"email", p.Email, 254},
		{"name", p.Name, 100},
		{"bio", p.Bio, 1000},
		{"default_schedule_id", p.DefaultScheduleID, 64},
		{"week_start", p.WeekStart, 16},
		{"time_zone", p.TimeZone, 64},
		{"locale", p.Locale, 35},
		{"organization_id", p.OrganizationID, 64},
	} {
		if note := checkText(oneLine(f.value), 0, f.most); note != "" {
			return f.name, note
		}
	}
	if note := checkWebsite(p.AvatarURL); note != "" {
		return "avatar_url", note
	}
	if p.TimeFormat != 0 && p.TimeFormat != 12 && p.TimeFormat != 24 {
		return "time_format", "must be 12 or 24"
	}
	return "", ""
}

// oneLine returns s without line feeds, which checkText refuses and these fields may have.
func oneLine(s string) string { return strings.ReplaceAll(s, "\n", " ") }
