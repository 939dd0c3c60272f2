package ledger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// checkProfile validates what a person may fill in. Scopes come back in
// catalogue order. scopes says how many there must be at least: none for a
// legacy client that has not selected any yet.
func checkProfile(p Profile, t ClientType, scopes int) (Profile, *Refusal) {
	bad := func(field, note string) (Profile, *Refusal) {
		return p, badField(field, note).Outcome.Refusal
	}
	if note := checkText(p.Name, 1, 80); note != "" {
		return bad("name", note)
	}
	if note := checkText(p.Purpose, 0, 500); note != "" {
		return bad("purpose", note)
	}
	if note := checkWebsite(p.Website); note != "" {
		return bad("website", note)
	}
	switch n := len(p.RedirectURIs); {
	case n == 0:
		return bad("redirect_uris", "needs at least one")
	case n > MaxRedirectURIs:
		r := deny(TooManyURIs).Outcome.Refusal
		r.Field, r.Note = "redirect_uris", "has more than 10"
		return p, r
	}
	for i, uri := range p.RedirectURIs {
		field := fmt.Sprintf("redirect_uris[%d]", i)
		if note := oauth.CheckRedirectURI(uri, t == Public); note != "" {
			return bad(field, note)
		}
		if slices.Contains(p.RedirectURIs[:i], uri) {
			return bad(field, "is there twice")
		}
	}
	set, _, err := scope.Parse(strings.Join(p.Scopes, " "))
	switch {
	case err != nil:
		return bad("scopes", "names a scope that does not exist")
	case set.Len() < scopes:
		return bad("scopes", "needs at least one")
	}
	p.Scopes = set.Names()
	return p, nil
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
