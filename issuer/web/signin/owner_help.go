package signin

import (
	"errors"
	"net/url"
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
	Name                 string
	Reason, By           string // what a reviewer wrote, and what it is about
	Check                string // what the owner can do
	Path, Open           string // where that is done, and the words of the link
	Received, Registered []oauth.Part
}

// Explains reports whether the help says something beside its link.
func (h *ownerHelp) Explains() bool { return h.Reason != "" || h.Check != "" || len(h.Received) > 0 }

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

const (
	// maxNext bounds the query of a request that a link to the sign-in page leads back to, in bytes.
	maxNext = 2048
	// signInPrefix begins what is sealed in that link: the page must not repeat the request, and
	// nobody else can make such a link.
	signInPrefix = "sign-in\x00"
)

// forOwner adds to a failure what the signed-in owner may know, or, if nobody is signed
// in, how the owner can see it.
func (w *Area) forOwner(f *site.Failure, v *site.Session, r oauth.AuthorizationRequest) *site.Failure {
	if v.User == nil && f.SignIn != "" {
		f.Detail += " " + f.SignIn
		if query := r.Query(); len(query) <= maxNext {
			f.SignInPath = site.PathSignIn + "?" + url.Values{"request": {w.Forms.SealForm([]byte(signInPrefix + query))}}.Encode()
		}
	}
	client := v.View.Client(r.ClientID)
	if v.User == nil || client == nil || client.State == ledger.Deleted || client.Owner != v.User.ID {
		return f
	}
	help := &ownerHelp{Name: client.Name, Path: parts.ClientPath(client.ID), Open: "Open the application"}
	f.Owner = help
	switch f.Cause {
	case ledger.ClientPending:
		f.Title, f.Text = client.Name+" is waiting for review", "Nobody can use it before it is approved. Nothing was shared with it."
		help.Check = "Submitted " + v.At(client.WaitingSince()).Text + "."
		if place := parts.QueuePlace(v.View.QueuePosition(ledger.QueueQuery{}, client.ID)); place != "" {
			help.Check = place + ", submitted " + v.At(client.WaitingSince()).Text + "."
		}
	case ledger.ClientRejected:
		f.Title = client.Name + " was not approved"
		help.Reason, help.By, help.Check = client.Reason, "The reviewer wrote", "Change what the reviewer asked for, and submit it again."
		help.Path, help.Open = parts.ClientPath(client.ID, "edit"), "Edit and resubmit"
	case ledger.ClientSuspended:
		f.Title = client.Name + " is suspended"
		help.Reason, help.By, help.Check = client.Reason, "Suspended by an administrator", "Only an administrator can resume it."
	case ledger.RedirectURIMissing:
		f.Title, f.Text = "Redirect URI missing", "The request has no redirect_uri. Nothing was shared."
		help.Check = "Add it to your authorization URL, with one of the registered redirect URIs."
		help.Path, help.Open = parts.ClientPath(client.ID, "connect"), "See the authorization URL"
	case ledger.RedirectURIUnregistered:
		helpWithURI(f, help, v, client, r.RedirectURI)
	}
	return f
}

// helpWithURI explains why a redirect URI is not accepted: it is in a proposed revision, in a
// refused one, or in none.
func helpWithURI(f *site.Failure, help *ownerHelp, v *site.Session, client *ledger.Client, uri string) {
	const sendAnother = " Send one of the registered redirect URIs, character for character"
	refused := client.Refused != nil && wouldRegister(client, &client.Refused.Profile, uri)
	switch near, ok := oauth.NearestRedirectURI(uri, client.RedirectURIs); {
	case wouldRegister(client, client.Proposed, uri):
		f.Title, f.Text = "Redirect URI waiting for review", "The redirect URI is in a change that no administrator has approved yet. Nothing was shared."
		help.Check = "Submitted " + v.At(client.WaitingSince()).Text + "." + sendAnother + ", until the change is approved."
		help.Open = "See the change"
	case refused:
		f.Title, f.Text = "Redirect URI refused", "The redirect URI is in a change that a reviewer refused. Nothing was shared."
		help.Reason, help.By, help.Check = client.Refused.Reason, "The reviewer wrote", strings.TrimSpace(sendAnother)+"."
		help.Open = "See the change"
	default:
		f.Title, f.Text = "Redirect URI not registered", "The redirect URI of the request isn’t registered. Nothing was shared."
		help.Path, help.Open = parts.ClientPath(client.ID, "scopes"), "See the registered URIs"
		if ok {
			help.Received, help.Registered = truncateParts(near.Received), near.Registered
			help.Check = "Differences are highlighted." + sendAnother + ", or register this one too."
		}
		return
	}
	help.Received = truncateParts([]oauth.Part{{Text: uri, Same: true}})
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
// existing client. code is "" if the application gets no response.
func (w *Area) recordRefusal(v *site.Session, r oauth.AuthorizationRequest, code oauth.Code, cause ledger.Cause) {
	if client := v.View.Client(r.ClientID); client != nil && client.State != ledger.Deleted {
		id := w.ErrorID(client.ClientID(), ledger.Refusal{Cause: cause})
		w.config.Refusals.RecordBrowser(client.ID, code, cause, id, refusedWord(client, &r, cause), w.Ledger.Now())
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
