package ledger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// checkProfile validates a profile that a user submitted, and returns it with its scopes
// in catalogue order. scopes is the minimum number of scopes: 0 for a legacy client that
// has not selected any yet.
func (v View) checkProfile(p Profile, t ClientType, scopes int) (Profile, *Refusal) {
	if faults := v.ProfileFaults(&p, t, scopes); len(faults) > 0 {
		return p, faults[0]
	}
	set, _ := p.set()
	p.Scopes = set.Names()
	return p, nil
}

// ProfileFaults returns every fault of a profile, so that a page can show them all at
// once. A command reports only the first fault.
func (v View) ProfileFaults(p *Profile, t ClientType, scopes int) []*Refusal {
	var faults []*Refusal
	bad := func(field, note string) {
		if note != "" {
			faults = append(faults, outcome(badField(field, note)).Refusal)
		}
	}
	bad("name", checkText(p.Name, 1, 80))
	bad("purpose", checkText(p.Purpose, 0, 500))
	bad("website", checkWebsite(p.Website))
	bad("privacy_url", checkWebsite(p.PrivacyURL))
	bad("terms_url", checkWebsite(p.TermsURL))
	switch n := len(p.RedirectURIs); {
	case n == 0:
		bad("redirect_uris", "needs at least one")
	case n > MaxRedirectURIs:
		r := outcome(deny(TooManyURIs)).Refusal
		r.Field, r.Note = "redirect_uris", "has more than 10"
		faults = append(faults, r)
	}
	for i, uri := range p.RedirectURIs {
		bad(fmt.Sprintf("redirect_uris[%d]", i), v.uriFault(p.RedirectURIs, i, oauth.CheckRedirectURI(uri, t == Public)))
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

// uriFault returns note, the fault of a list's i-th redirection URI by itself. If that is "", it
// returns why the URI is not valid here or in the list, or "".
func (v View) uriFault(uris []string, i int, note string) string {
	switch {
	case note != "":
		return note
	case v.isOwn(uris[i]):
		return "is an address of this service, not of the application"
	case slices.Contains(uris[:i], uris[i]):
		return "is there twice"
	}
	return ""
}

// isOwn reports whether a redirection URI points to this service itself. If a registered
// URI leaves the port free (RFC 8252 §7.3), only the request's URI can tell.
func (v View) isOwn(uri string) bool {
	own := v.Settings()
	return oauth.SameOrigin(uri, own.BaseURL) || oauth.SameOrigin(uri, own.AppURL)
}

func (p *Profile) set() (scope.Set, error) {
	set, _, err := scope.Parse(strings.Join(p.Scopes, " "))
	return set, err
}

// subtract returns the members of a that are not in b.
func subtract(a, b []string) []string {
	var rest []string
	for _, s := range a {
		if !slices.Contains(b, s) {
			rest = append(rest, s)
		}
	}
	return rest
}

// intersect returns the members of a that are also in b.
func intersect(a, b []string) []string { return subtract(a, subtract(a, b)) }

// orElse returns list, or other if list is empty.
func orElse(list, other []string) []string {
	if len(list) == 0 {
		return other
	}
	return list
}

func (p *Profile) equal(o *Profile) bool {
	return p.Name == o.Name && p.Purpose == o.Purpose && p.Website == o.Website && p.PrivacyURL == o.PrivacyURL && p.TermsURL == o.TermsURL &&
		string(p.Logo) == string(o.Logo) &&
		slices.Equal(p.RedirectURIs, o.RedirectURIs) && slices.Equal(p.Scopes, o.Scopes)
}
