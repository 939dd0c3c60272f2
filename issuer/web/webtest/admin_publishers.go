package webtest

import (
	"fmt"
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

const (
	PublishersPage = "/admin/publishers"
	AddPublisher   = "/admin/new-publisher"
	PublisherPage  = PublishersPage + "/agent.example"
	LocalPage      = PublishersPage + "/local"
)

var AboutPublisher = "agent.example\x00" + AnySeen // what a form's token is bound to

// Document records a metadata document that ada's authorization led to.
func (w *Env) Document(clientID string, uris ...string) {
	w.T.Helper()
	if uris == nil {
		uris = []string{"http://127.0.0.1/cb"}
	}
	w.Must(&ledger.NoteDocument{
		Actor: ledger.Actor{Session: credential.SessionDigest(w.SignedIn().Session())}, URL: clientID, Name: "The agent",
		RedirectURIs: uris, Digest: [32]byte{byte(len(uris))},
	})
}

// AllowAgent lets ada allow a client with a document.
func (w *Env) AllowAgent(clientID string) {
	w.T.Helper()
	request := oauth.AuthorizationRequest{
		ClientID: clientID, RedirectURI: "http://127.0.0.1/cb", CodeChallenge: Challenge, CodeChallengeMethod: "S256", Scope: "BOOKING_READ",
	}
	w.Must(&ledger.Allow{
		Actor: ledger.Actor{Session: credential.SessionDigest(w.SignedIn().Session())}, User: "u-ada", Request: request,
		Revision: w.View().ClientNamed(clientID).Revision, Grant: ledger.GrantID{7, byte(w.Index)},
	})
}

func (w *Env) Publisher(host string) *ledger.Publisher { return w.View().Publisher(host) }

// Submitted sends a form of the reject page without having seen it.
func (b *Browser) Submitted(path string) Answer {
	p := b.Env.Publisher("agent.example")
	last := fmt.Sprintf("%x", p.Last)
	s := Sent{Purpose: "reject publisher", About: p.Host + "\x00" + last, Fields: url.Values{"expected_last": {last}, "reason": {"another"}}}
	return b.Post(path, s.Values(b))
}
