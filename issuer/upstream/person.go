package upstream

import (
	"slices"
	"strings"
	"time"
)

// A Person is who the provider says somebody is: that is issuer and subject, and
// nothing else. The rest describes them, and is empty where the provider does not
// say it.
type Person struct {
	Issuer, Subject string

	Username string // that they would like
	Name     string
	Email    string // not one that the provider calls unverified
	Picture  string
	TimeZone string
	Locale   string

	Admin *bool // nil: the provider does not decide it

	Authenticated time.Time // auth_time: when the person signed in at the provider, maybe long ago; zero if it sent none
}

// claims are those of one source.
type claims map[string]any

// text is "" for what is no text.
func (c claims) text(name string) string {
	s, _ := c[name].(string)
	return s
}

// time returns a claim as a time, or zero if it is absent or no NumericDate (RFC 7519
// §2).
func (c claims) time(name string) time.Time {
	seconds, ok := c[name].(float64)
	if !ok || seconds <= 0 || seconds > 1<<40 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0)
}

// isTrue takes the text as well, which some providers send.
func (c claims) isTrue(name string) bool { return c[name] == true || c[name] == "true" }

// has reports whether a claim is a value, or has it in its list.
func (c claims) has(name, value string) bool {
	is := func(v any) bool { return v == value || v == true && value == "true" }
	if list, ok := c[name].([]any); ok {
		return slices.ContainsFunc(list, is)
	}
	return is(c[name])
}

// person puts together what the ID token and the profile say. The ID token goes
// first, since it is signed.
func (p *Provider) person(subject string, id, profile claims) Person {
	say := func(name string) string {
		if s := id.text(name); s != "" {
			return s
		}
		return profile.text(name)
	}
	who := Person{
		Issuer: p.config.Issuer, Subject: subject,
		Username: say("preferred_username"), Name: say("name"), Email: say("email"),
		Picture: say("picture"), TimeZone: say("zoneinfo"), Locale: say("locale"),
		Authenticated: id.time("auth_time"),
	}
	verified, said := false, false
	for _, source := range []claims{id, profile} {
		if _, says := source["email_verified"]; says && !said && source.text("email") == who.Email {
			verified, said = source.isTrue("email_verified"), true // else it is about another address
		}
	}
	verified = verified && who.Email != ""
	if who.Username == "" {
		who.Username, _, _ = strings.Cut(who.Email, "@")
	}
	who.Admin = p.admin(id, profile, who.Email, verified)
	if said && !verified {
		who.Email = ""
	}
	return who
}

// admin is nil where nothing was configured. Else it decides both ways: who has
// lost the claim has lost the role.
func (p *Provider) admin(id, profile claims, email string, verified bool) *bool {
	c := p.config
	if c.AdminClaim == "" && len(c.AdminEmails) == 0 {
		return nil
	}
	from := id
	if _, said := id[c.AdminClaim]; !said {
		from = profile
	}
	yes := c.AdminClaim != "" && from.has(c.AdminClaim, c.AdminValue) ||
		verified && slices.ContainsFunc(c.AdminEmails, func(a string) bool { return lower(a) == lower(email) })
	return &yes
}

// lower folds ASCII only: with all of Unicode folded, addresses of different
// people become one.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}
