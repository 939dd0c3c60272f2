package signin

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// ownerHelp is what an error page of the authorization step shows to the owner of the
// client. Others don't see it, since it repeats values of the request.
type ownerHelp struct {
	Name, Reason         string
	Check                string // what the owner can do
	Path, Open           string // where that is done, and the words of the link
	Missing              bool   // the request had no redirect URI
	Waits, Refused       bool   // the URI is in a proposed revision, or in a refused one
	Received, Registered []oauth.Part
}

// OnlyReceived and OnlyRegistered return the differing parts, for users who can't see the marks.
func (h *ownerHelp) OnlyReceived() []string { return differing(h.Received) }

func (h *ownerHelp) OnlyRegistered() []string { return differing(h.Registered) }

func differing(parts []oauth.Part) []string {
	var pieces []string
	for _, p := range parts {
		if !p.Same {
			pieces = append(pieces, p.Text)
		}
	}
	return pieces
}

// forOwner adds to a failure what the signed-in owner may know, or, if nobody is signed
// in, how the owner can see it.
func forOwner(f *site.Failure, v *site.Session, r oauth.AuthorizationRequest) *site.Failure {
	if v.User == nil && f.SignIn != "" {
		f.Detail += " " + f.SignIn
	}
	client := v.View.Client(r.ClientID)
	if v.User == nil || client == nil || client.State == ledger.Deleted || client.Owner != v.User.ID {
		return f
	}
	help := &ownerHelp{Name: client.Name, Path: parts.ClientPath(client.ID), Open: "Open the application"}
	f.Owner = help
	switch f.Cause {
	case ledger.ClientPending:
		help.Check = "People can be sent here as soon as an administrator has approved it."
	case ledger.ClientRejected:
		help.Reason, help.Check = client.Reason, "Change what the reviewer asked for, and submit it again."
		help.Path, help.Open = parts.ClientPath(client.ID, "edit"), "Edit and resubmit"
	case ledger.ClientSuspended:
		help.Reason, help.Check = client.Reason, "Only an administrator can resume it."
	case ledger.RedirectURIMissing:
		f.Title = "Redirect URI missing"
		help.Missing, help.Check = true, "Add it to your authorization URL, with one of the registered redirect URIs."
		help.Path, help.Open = parts.ClientPath(client.ID, "connect"), "See the authorization URL"
	case ledger.RedirectURIUnregistered:
		f.Title = "Redirect URI not registered"
		help.Path, help.Open = parts.ClientPath(client.ID, "scopes"), "See the registered URIs"
		help.Waits = wouldRegister(client, client.Proposed, r.RedirectURI)
		if client.Refused != nil {
			help.Refused = wouldRegister(client, &client.Refused.Profile, r.RedirectURI)
		}
		if near, ok := oauth.NearestRedirectURI(r.RedirectURI, client.RedirectURIs); ok {
			help.Received, help.Registered = truncateParts(near.Received), near.Registered
			help.Check = "Send one of the registered redirect URIs, character for character, or register this one too."
		}
	}
	return f
}

// wouldRegister reports whether a redirect URI would be registered with another profile.
func wouldRegister(client *ledger.Client, p *ledger.Profile, uri string) bool {
	if p == nil {
		return false
	}
	then := *client
	then.Profile = *p
	return then.Registered(uri)
}

// maxReceived bounds how much of a received URI is shown, in bytes. It exceeds the length
// of registered URIs.
const maxReceived = oauth.MaxRedirectURI + 256

// truncateParts returns parts up to maxReceived.
func truncateParts(parts []oauth.Part) []oauth.Part {
	var short []oauth.Part
	room := maxReceived
	for _, p := range parts {
		if len(p.Text) > room {
			for room > 0 && !utf8.RuneStart(p.Text[room]) {
				room--
			}
			return append(short, oauth.Part{Text: p.Text[:room] + "…", Same: p.Same})
		}
		room -= len(p.Text)
		short = append(short, p)
	}
	return short
}

// recordRefusal records why the authorization step was refused, for the owner of an
// existing client.
func (w *Area) recordRefusal(v *site.Session, r oauth.AuthorizationRequest, cause ledger.Cause) {
	if client := v.View.Client(r.ClientID); client != nil && client.State != ledger.Deleted {
		w.config.Refusals.RecordBrowser(client.ID, cause, refusedWord(client, &r, cause), w.Ledger.Now())
	}
}

// How much of a request is kept, in bytes.
const (
	maxRefusedScope = 64
	maxRefusedURI   = 256
)

// refusedWord returns the first refused scope of a request, or its refused redirect URI. It is
// "" if the request was refused for another reason, or the text is not valid or long.
func refusedWord(client *ledger.Client, r *oauth.AuthorizationRequest, cause ledger.Cause) string {
	set, _, err := scope.Parse(r.Scope)
	switch unknown, is := errors.AsType[*scope.UnknownError](err); {
	case cause == ledger.ScopeUnknown && is && len(unknown.Name) <= maxRefusedScope && !strings.ContainsFunc(unknown.Name, notInScope):
		return unknown.Name
	case cause == ledger.RedirectURIUnregistered && len(r.RedirectURI) <= maxRefusedURI && !strings.ContainsFunc(r.RedirectURI, notInScope):
		return r.RedirectURI
	case cause == ledger.ScopeTooWide && err == nil:
		for _, name := range set.Names() {
			if !slices.Contains(client.Scopes, name) {
				return name
			}
		}
	}
	return ""
}

// notInScope reports whether r is not permitted in a scope (RFC 6749 §3.3).
func notInScope(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }
