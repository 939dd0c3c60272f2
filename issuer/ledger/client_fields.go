package ledger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// checkProfile validates what a person may fill in. Scopes come back in
// catalogue order. scopes says how many there must be at least: none for a
// legacy client that has not selected any yet. What the client had before may stay
// as older rules let it in.
func (m Meta) checkProfile(p Profile, t ClientType, scopes int, had *Client) (Profile, *Refusal) {
	if faults := m.profileFaults(&p, t, scopes, had); len(faults) > 0 {
		return p, faults[0]
	}
	set, _ := p.set()
	p.Scopes = set.Names()
	return p, nil
}

// ProfileFaults is all that is wrong with a profile, for telling a person at
// once. A command is refused for the first. had is nil for a new client.
func ProfileFaults(p *Profile, t ClientType, scopes int, had *Client) []*Refusal {
	return Meta{Level: Level}.profileFaults(p, t, scopes, had)
}

func (m Meta) profileFaults(p *Profile, t ClientType, scopes int, had *Client) []*Refusal {
	var names, purposes, websites, uris []string
	for _, was := range had.profiles() {
		names, purposes, websites = append(names, was.Name), append(purposes, was.Purpose), append(websites, was.Website)
		uris = append(uris, was.RedirectURIs...)
	}
	var faults []*Refusal
	bad := func(field, note string) {
		if note != "" {
			faults = append(faults, badField(field, note).Outcome.Refusal)
		}
	}
	bad("name", m.checkText(p.Name, 1, 80, names...))
	bad("purpose", m.checkText(p.Purpose, 0, 500, purposes...))
	bad("website", m.checkWebsite(p.Website, websites...))
	switch n := len(p.RedirectURIs); {
	case n == 0:
		bad("redirect_uris", "needs at least one")
	case n > MaxRedirectURIs:
		r := deny(TooManyURIs).Outcome.Refusal
		r.Field, r.Note = "redirect_uris", "has more than 10"
		faults = append(faults, r)
	}
	for i, uri := range p.RedirectURIs {
		note := m.checkRedirectURI(uri, t == Public, uris...)
		if note == "" && slices.Contains(p.RedirectURIs[:i], uri) {
			note = "is there twice"
		}
		bad(fmt.Sprintf("redirect_uris[%d]", i), note)
	}
	set, err := p.set()
	switch {
	case err != nil:
		bad("scopes", "names a scope that does not exist")
	case set.Len() < scopes:
		bad("scopes", "needs at least one")
	}
	return faults
}

// profiles are what c is and what it is proposed to be.
func (c *Client) profiles() []*Profile {
	switch {
	case c == nil:
		return nil
	case c.Proposed == nil:
		return []*Profile{&c.Profile}
	}
	return []*Profile{&c.Profile, c.Proposed}
}

func (p *Profile) set() (scope.Set, error) {
	set, _, err := scope.Parse(strings.Join(p.Scopes, " "))
	return set, err
}

// without are the members of a that b does not have.
func without(a, b []string) []string {
	var rest []string
	for _, s := range a {
		if !slices.Contains(b, s) {
			rest = append(rest, s)
		}
	}
	return rest
}

// both are the members of a that b has too.
func both(a, b []string) []string { return without(a, without(a, b)) }

// orElse is list, or other where it is empty.
func orElse(list, other []string) []string {
	if len(list) == 0 {
		return other
	}
	return list
}

func (p *Profile) equal(o *Profile) bool {
	return p.Name == o.Name && p.Purpose == o.Purpose && p.Website == o.Website && string(p.Logo) == string(o.Logo) &&
		slices.Equal(p.RedirectURIs, o.RedirectURIs) && slices.Equal(p.Scopes, o.Scopes)
}
