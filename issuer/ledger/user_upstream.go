package ledger

import (
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// SignInUpstream creates a session for a person whom an upstream OpenID Connect provider has
// signed in. Only issuer and subject identify the person; e-mail addresses link no accounts.
// The first sign-in creates the account.
type SignInUpstream struct {
	Session [32]byte `cbor:"1,keyasint"`
	Issuer  string   `cbor:"2,keyasint"`
	Subject string   `cbor:"3,keyasint"`

	// Person is the profile that the provider sent. Empty fields change nothing; fields
	// that can't be displayed are ignored.
	Person   Person `cbor:"4,keyasint"`
	Username string `cbor:"5,keyasint,omitempty"` // preferred name of a new account
	ID       string `cbor:"6,keyasint"`           // id of a new account
	Admin    *bool  `cbor:"7,keyasint,omitempty"` // nil if the provider does not decide

	Agent    string   `cbor:"8,keyasint,omitempty"`
	Replaces [32]byte `cbor:"9,keyasint,omitempty"` // like SignIn.Replaces

	// Authenticated is the provider's auth_time: when the person signed in there, which
	// may be long ago. 0 if the provider sent none.
	Authenticated Time `cbor:"10,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*SignInUpstream) Kind() command.Kind { return KindSignInUpstream }

// Decide refuses a user whose account was disabled or deleted: the provider can't override
// that.
func (c *SignInUpstream) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	if s := v.Session(c.Session); s != nil {
		if s.Last == m.ID {
			return accept(Outcome{ID: s.User})
		}
		return deny(AlreadyExists)
	}
	if field, note := c.check(); note != "" {
		return badField(field, note)
	}
	old := v.UserBySubject(c.Issuer, c.Subject)
	next := &User{ID: c.ID, Created: stateTime(m)}
	if old != nil {
		if cause := old.inactiveCause(); cause != NoCause {
			return deny(cause)
		}
		*next = *old
	} else {
		if v.User(c.ID) != nil {
			return deny(AlreadyExists)
		}
		if next.Username = v.availableName(c.Username, identityOf(c.Issuer, c.Subject)); next.Username == "" {
			return badField("username", "is taken")
		}
	}
	next.Upstream, next.Subject, next.FormerIdentity = c.Issuer, c.Subject, nil
	next.Person.merge(c.Person)
	if c.Admin != nil {
		next.Admin = *c.Admin
	}
	s := &Session{ID: c.Session, User: next.ID, Agent: clip(c.Agent, 200), Authenticated: authenticatedAt(c.Authenticated, m)}
	changes := v.beginSession(s, c.Replaces, c.event(old, next), m)
	if old == nil || next.differs(old) {
		next.Last = m.ID
		changes = append(changes, put(TableUsers, next))
	}
	return accept(Outcome{ID: next.ID}, changes...)
}

func (c *SignInUpstream) check() (field, note string) {
	if note := checkText(c.Issuer, 1, 1024); note != "" {
		return "issuer", note
	}
	if note := checkText(c.Subject, 1, 255); note != "" { // OpenID Connect Core §2
		return "subject", note
	}
	return "id", checkID(c.ID)
}

// event returns the most important event of the sign-in, since a command makes only one.
func (c *SignInUpstream) event(old, next *User) Event {
	by := "by " + c.Issuer
	switch {
	case old == nil && next.Admin:
		return Event{Kind: EventUserAdded, Detail: by + ", as an administrator"}
	case old == nil:
		return Event{Kind: EventUserAdded, Detail: by}
	case next.Admin && !old.Admin:
		return Event{Kind: EventUserState, Detail: string(Promote) + ", " + by}
	case old.Admin && !next.Admin:
		return Event{Kind: EventUserState, Detail: string(Demote) + ", " + by}
	}
	return Event{Kind: EventSignedIn, Detail: by}
}

// differs reports whether a sign-in through a provider changed u.
func (u *User) differs(old *User) bool {
	return u.Person != old.Person || u.Admin != old.Admin || u.Upstream != old.Upstream
}

// merge takes each field of another source that is set and can be displayed.
func (p *Person) merge(said Person) {
	said.Name = displayable(said.Name, 100)
	for _, f := range []struct {
		to   *string
		said string
	}{
		{&p.Email, said.Email},
		{&p.Name, said.Name},
		{&p.AvatarURL, said.AvatarURL},
		{&p.TimeZone, said.TimeZone},
		{&p.Locale, said.Locale},
	} {
		before := *f.to
		if f.said != "" {
			*f.to = f.said
		}
		if _, note := p.check(); note != "" {
			*f.to = before
		}
	}
}

// displayable returns a text of another source without what can't be displayed, with at
// most that many characters.
func displayable(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) || private(r) {
			return -1
		}
		return r
	}, s)
	runes := limitMarks(visible([]rune(s)))
	return strings.TrimSpace(string(visible(runes[:min(len(runes), most)])))
}

// availableName returns an unused user name close to the preferred one. It is "" only if
// somebody has deliberately taken every candidate.
func (v View) availableName(wish string, id Identity) string {
	base := displayable(strings.Map(func(r rune) rune {
		if checkUsername(string(r)) != "" {
			return '-'
		}
		return r
	}, wish), maxUsername)
	ends := []string{"", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9"}
	for n := 4; n <= 16; n *= 2 {
		ends = append(ends, "-"+hex.EncodeToString(id[:n]))
	}
	for _, base := range []string{base, "user"} {
		if strings.Trim(base, "-") == "" || v.reservedName(base, "") != "" {
			continue // it would still be mistaken for it with a suffix
		}
		for _, end := range ends {
			name := displayable(base, maxUsername-len(end)) + end
			if checkUsername(name) == "" && v.UserByName(name) == nil && v.reservedName(name, "") == "" {
				return name
			}
		}
	}
	return ""
}
