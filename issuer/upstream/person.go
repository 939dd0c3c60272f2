package upstream

import (
	"slices"
	"strings"
	"time"
)

// A Person is a person whom the provider has authenticated. Only issuer and subject
// identify the person. The other fields are descriptive, and empty if the provider did not
// send them.
type Person struct {
	Issuer, Subject string

	Username string // preferred
	Name     string
	Email    string // unless the provider marks it as unverified
	Picture  string
	TimeZone string
	Locale   string

	Admin *bool // nil if the provider does not decide

	Authenticated time.Time // auth_time: when the person signed in at the provider, which may be long ago; zero if it sent none
}

// claims are the claims of one source.
type claims map[string]any

// text returns a claim, or "" if it is not a string.
func (c claims) text(name string) string {
	s, _ := c[name].(string)
	return s
}

// time returns a claim as a time, or zero if it is absent or not a NumericDate (RFC 7519
// §2).
func (c claims) time(name string) time.Time {
	seconds, ok := c[name].(float64)
	if !ok || seconds <= 0 || seconds > 1<<40 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0)
}

// isTrue also accepts a string, which some providers send.
func (c claims) isTrue(name string) bool { return c[name] == true || c[name] == "true" }

// has reports whether a claim equals a value, or is a list that contains it.
func (c claims) has(name, value string) bool {
	is := func(v any) bool { return v == value || v == true && value == "true" }
	if list, ok := c[name].([]any); ok {
		return slices.ContainsFunc(list, is)
	}
	return is(c[name])
}

// person combines the claims of the ID token and the profile. The signed ID token has
// priority.
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
			verified, said = source.isTrue("email_verified"), true // otherwise it refers to another address
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

// admin returns nil if nothing was configured. Otherwise the result both grants and
// removes the role.
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

// lower folds ASCII only: folding all of Unicode would make addresses of different people
// equal.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}
