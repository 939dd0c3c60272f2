package apply

import (
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/declare"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// States of users and secrets, as package admin has them.
const (
	enabled = "enabled"
	deleted = "deleted"
	revoked = "revoked"
)

// existing returns the user whom an entry declares: the one with its id, or with its name
// if it has no id; nil if there is none yet.
func (p *planner) existing(u *declare.User) (*admin.DescribedUser, error) {
	named := p.named(u.Username)
	if u.ID == "" {
		return named, nil
	}
	have := p.state.Users[u.ID]
	switch {
	case have != nil && have.ID != u.ID:
		have = nil // a name that looks like this id
	case have != nil && have.State == deleted:
		return nil, u.Place.Errorf("id", "is that of a user who was deleted")
	}
	if named != nil && named.ID != u.ID {
		return nil, u.Place.Errorf("username", "is that of the user with the id %s", named.ID)
	}
	return have, nil
}

// named returns the user with a name, or nil.
func (p *planner) named(username string) *admin.DescribedUser {
	if u := p.state.Users[username]; u != nil && strings.EqualFold(u.Username, username) {
		return u
	}
	return nil
}

// user plans an entry. Users change their own profiles, so a field that the entry does not
// name stays as it is.
func (p *planner) user(u *declare.User) {
	have, err := p.existing(u)
	if err != nil {
		p.refuse(err)
		return
	}
	q := &admin.DeclaredUser{ID: u.ID}
	step := Step{Action: Add, Kind: KindUser, ID: u.Username, user: q}
	before := admin.UserProfile{}
	if have != nil {
		step.Action = Change
		before = have.Declaration()
		q.ID, q.Seen = have.ID, &before
	}
	q.UserProfile = overwrite(before, u)
	f := fields(nil)
	if have != nil {
		f.text("username", before.Username, q.Username)
	}
	for _, t := range profileTexts(&before, &q.UserProfile) {
		f.text(t.name, *t.before, *t.after)
	}
	f.text("time_format", number(before.TimeFormat), number(q.TimeFormat))
	if before.Admin != q.Admin {
		f.text("admin", strconv.FormatBool(before.Admin), strconv.FormatBool(q.Admin))
	}
	switch {
	case u.Password != "" && (have == nil || u.ResetPassword && !have.PasswordMatches):
		if fault := credential.PasswordFault(u.Password.Reveal(), q.Username, q.Name, q.Email); fault != "" {
			field := "password_file"
			if u.Place.Named("password") {
				field = "password"
			}
			p.refuse(u.Place.Errorf(field, "%s", fault))
		}
		q.Password = u.Password
		f = append(f, Field{Name: "password", After: "(set)"})
	case u.PasswordHash != "":
		if have == nil || u.ResetPassword && (have.Imported || !have.Password) && !have.PasswordMatches {
			q.PasswordHash = u.PasswordHash
			f = append(f, Field{Name: "password", After: "(imported)"})
		}
	case have == nil:
		p.warn(step.Subject(), "has no password, and can't sign in by one")
	}
	switch {
	case !p.Remote || have != nil && len(f) == 0:
	case before.Admin:
		p.refuse(u.Place.Errorf("", "is an administrator: %s", ledger.LocalOnly))
	case q.Admin:
		p.refuse(u.Place.Errorf("admin", "can't be set: %s", ledger.LocalOnly))
	}
	if have != nil && have.Upstream != "" && len(f) > 0 {
		p.warn(step.Subject(), "signs in through "+have.Upstream+", which sets name and profile again")
	}
	step.Fields = f
	p.step(step)
}

// overwrite returns a profile with the fields that an entry names.
func overwrite(p admin.UserProfile, u *declare.User) admin.UserProfile {
	p.Username = u.Username
	declared := admin.UserProfile{
		Name: u.Person.Name, Email: u.Person.Email, TimeZone: u.Person.TimeZone,
		Profile: admin.Profile{
			AvatarURL: u.Person.AvatarURL, Bio: u.Person.Bio, DefaultScheduleID: u.Person.DefaultScheduleID,
			WeekStart: u.Person.WeekStart, Locale: u.Person.Locale, OrganizationID: u.Person.OrganizationID,
		},
	}
	for _, t := range profileTexts(&p, &declared) {
		if u.Place.Named(t.name) {
			*t.before = *t.after
		}
	}
	if u.Place.Named("time_format") {
		p.TimeFormat = u.Person.TimeFormat
	}
	if u.Place.Named("admin") {
		p.Admin = u.Admin
	}
	return p
}

// A profileText is a text of a profile, by its key in a file.
type profileText struct {
	name          string
	before, after *string
}

func profileTexts(a, b *admin.UserProfile) []profileText {
	return []profileText{
		{"name", &a.Name, &b.Name},
		{"email", &a.Email, &b.Email},
		{"time_zone", &a.TimeZone, &b.TimeZone},
		{"avatar_url", &a.AvatarURL, &b.AvatarURL},
		{"bio", &a.Bio, &b.Bio},
		{"default_schedule_id", &a.DefaultScheduleID, &b.DefaultScheduleID},
		{"week_start", &a.WeekStart, &b.WeekStart},
		{"locale", &a.Locale, &b.Locale},
		{"organization_id", &a.OrganizationID, &b.OrganizationID},
	}
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
