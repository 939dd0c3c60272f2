package clientdoc

import (
	"slices"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// unnamed is the name of a registered client that has none.
const unnamed = "An unnamed program"

// ParseRegistration parses a registration request (RFC 7591 §3.1), whose members are those of a
// document. What this service does not offer is left out, not refused: RFC 7591 §3.2.1 lets a
// server replace it. The caller checks the redirection URIs and the name.
func ParseRegistration(body []byte) (oauth.Registration, *Error) {
	var r oauth.Registration
	members, ok := object(body)
	if !ok {
		return r, &Error{Reason: NotJSON}
	}
	var grants, responses []string
	if !member(members, "client_name", &r.Name) || !member(members, "redirect_uris", &r.RedirectURIs) ||
		!member(members, "grant_types", &grants) || !member(members, "response_types", &responses) {
		return r, &Error{Reason: NotJSON}
	}
	switch {
	case !lists(grants, string(oauth.AuthorizationCode)) || !lists(responses, "code"):
		return r, &Error{Reason: GrantNotOffered}
	case len(r.RedirectURIs) == 0:
		return r, &Error{Reason: RedirectURIsMissing}
	}
	if r.Name == "" {
		r.Name = unnamed
	}
	r.RedirectURIs = oauth.RegistrableURIs(r.RedirectURIs)
	return r, nil
}

// lists reports whether a list has a value, or is absent.
func lists(all []string, value string) bool { return len(all) == 0 || slices.Contains(all, value) }
