package ledger

import (
	"slices"
	"strings"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// EditProfile changes the profile of the user who allowed a client, for that client. The
// node that received the request has verified the access token and its scope.
type EditProfile struct {
	Token AccessRef `cbor:"1,keyasint"`
	// Fields are the fields to change, of ProfileFields, and Person has their new values.
	// An empty value clears a field.
	Fields []string `cbor:"2,keyasint,omitempty"`
	Person Person   `cbor:"3,keyasint"`
}

// ProfileFields are the names of the fields of a Person that a client may change. Fields
// that identify the user or carry rights are not among them. The order is that of the bits
// of Grant.EditedFields: names are appended, at most 8.
var ProfileFields = []string{"name", "bio", "avatar_url", "time_format", "week_start", "time_zone", "locale", "default_schedule_id"}

// set copies one of ProfileFields, and reports whether field is one. owned reports that a
// sign-in through an upstream provider overwrites the field: see merge.
func (p *Person) set(field string, from *Person) (ok, owned bool) {
	switch field {
	case "name":
		p.Name, owned = from.Name, true
	case "bio":
		p.Bio = from.Bio
	case "avatar_url":
		p.AvatarURL, owned = from.AvatarURL, true
	case "time_format":
		p.TimeFormat = from.TimeFormat
	case "week_start":
		p.WeekStart = from.WeekStart
	case "time_zone":
		p.TimeZone, owned = from.TimeZone, true
	case "locale":
		p.Locale, owned = from.Locale, true
	case "default_schedule_id":
		p.DefaultScheduleID = from.DefaultScheduleID
	default:
		return false, false
	}
	return true, owned
}

// Kind implements command.Command.
func (*EditProfile) Kind() command.Kind { return KindEditProfile }

// SingleRow implements command.SingleRow: of all grants an edit reads the token's.
func (c *EditProfile) SingleRow() (table string, id [16]byte, ok bool) {
	return TableGrants, c.Token.Grant, true
}

// Decide verifies that the token is not revoked. Outcome.ID is the id of the user.
func (c *EditProfile) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	g := v.Grant(c.Token.Grant)
	switch {
	case g == nil:
		return refuseToken(GrantGone)
	case v.Key(c.Token.Key) == nil:
		return refuseToken(KeyNotRecorded)
	case v.TokensRevoked(g.ID) != NoCause:
		return refuseToken(v.TokensRevoked(g.ID))
	case !g.Legacy && !scope.FromClaim(v.ScopeOf(g)).Covers(scope.ProfileWrite):
		return refuseToken(ScopeTooWide)
	}
	old := v.User(g.User)
	next := old.changed(m)
	var changed []string
	for _, field := range c.Fields {
		before := next.Person
		switch ok, owned := next.Person.set(field, &c.Person); {
		case !ok:
			return badField(field, "can't be changed by an application")
		case owned && old.Upstream != "":
			return badField(field, "comes from the provider that the user signs in with")
		case next.Person != before:
			changed = append(changed, field)
		}
	}
	if field, note := next.Person.check(); note != "" {
		return badField(field, note)
	}
	if len(changed) == 0 {
		return accept(Outcome{ID: old.ID})
	}
	changes := []command.Change{put(TableUsers, next)}
	if edited, first := g.withEdits(changed, m); len(first) > 0 {
		changes = append(changes, put(TableGrants, edited), event(m, Event{
			Kind: EventProfileEdited, Actor: g.Client, Client: g.Client, User: g.User, Grant: g.ID, Detail: strings.Join(first, " "),
		}))
	}
	return accept(Outcome{ID: old.ID}, changes...)
}

// refuseToken refuses a request because its access token is not valid any more. The refusal
// is confirmed, since the client would ask its user to allow it again.
func refuseToken(cause Cause) command.Decision {
	d := refuse(oauth.InvalidToken, cause)
	d.ConfirmFresh, d.Authenticated = true, true
	return d
}

// withEdits returns a copy of g after fields of the profile were edited, and those of them
// that are the first of their name on this day of state time (UTC). Only these are audited:
// the trail has who changed what and when, and a client that edits without end adds at
// most one event a field, grant and day (compare auditsRetry).
func (g *Grant) withEdits(fields []string, m command.Meta) (next *Grant, first []string) {
	edited := *g
	if today := uint16(stateTime(m).day()); edited.EditDay != today {
		edited.EditDay, edited.EditedFields = today, 0
	}
	for _, field := range fields {
		bit := uint8(1) << slices.Index(ProfileFields, field)
		if edited.EditedFields&bit == 0 {
			edited.EditedFields |= bit
			first = append(first, field)
		}
	}
	return &edited, first
}
