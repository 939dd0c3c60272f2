package issuer_test

import (
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// goldenAgents has commands about publishers, and about clients with a metadata document.
func goldenAgents() []goldenStep {
	operator, alice := ledger.Actor{Operator: true}, ledger.Actor{Session: [32]byte{1}}
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience, s.Agents = "https://api.example.com", "https://app.example.com", "https://api.example.com", ledger.AgentsReviewed
	const host, listed, asked = "agent.example", "https://agent.example/client", "https://other.example/client"
	note := func(url string, digest byte, uris ...string) *ledger.NoteDocument {
		return &ledger.NoteDocument{Actor: alice, URL: url, Name: "Helper", RedirectURIs: uris, Digest: [32]byte{digest}, Age: time.Hour}
	}
	auth := ledger.ClientAuth{Client: ledger.ClientKey(listed)}
	const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	allow := func(id byte) *ledger.Allow {
		return &ledger.Allow{
			Actor: alice, User: "u", Grant: ledger.GrantID{id}, Revision: 1,
			Request: oauth.AuthorizationRequest{ClientID: listed, RedirectURI: "http://127.0.0.1:3000/cb", Scope: "BOOKING_READ", CodeChallenge: challenge},
		}
	}
	steps := seconds(
		&ledger.Configure{Settings: s},
		&ledger.AddKey{Key: ledger.Key{ID: "c1", Purpose: ledger.ForCredentials, Number: 1, Sealed: []byte("sealed")}},
		&ledger.AddKey{Key: ledger.Key{ID: "k1", Purpose: ledger.ForSigning, Sealed: []byte("sealed")}},
		&ledger.PutUser{ID: "u", Username: "alice", Password: "hash"},
		&ledger.SignIn{Session: [32]byte{1}, User: "u", VerifiedHash: digestOf("hash")},
		&ledger.PutPublisher{Actor: operator, Host: host, Name: "Agent", Scopes: []string{"BOOKING_READ", "BOOKING_WRITE"}, Defaults: []string{"BOOKING_READ"}, LongRetry: true, New: true},
		&ledger.PutPublisher{Actor: operator, Host: host, Scopes: []string{"BOOKING_READ"}, New: true}, // it is listed
		note(listed, 1, "http://127.0.0.1/cb"),
		note(asked, 1, "https://other.example/cb"),
		note("https://other.example/2", 1, "https://agent.example/cb"), // another host
		allow(1),
		&ledger.Exchange{ClientAuth: auth, Credential: &ledger.CredentialRef{Grant: ledger.GrantID{1}, Key: 1}, Challenge: challenge, Redirect: digestOf("http://127.0.0.1:3000/cb")},
		&ledger.Refresh{ClientAuth: auth, Credential: &ledger.CredentialRef{Grant: ledger.GrantID{1}, Generation: 1, Key: 1}},
		&ledger.EndPublisher{Actor: operator, Host: host, How: ledger.EndGrants},
		&ledger.Refresh{ClientAuth: auth, Credential: &ledger.CredentialRef{Grant: ledger.GrantID{1}, Generation: 2, Key: 1}}, // ended
	)
	steps = append(steps, goldenStep{2 * time.Hour, note(listed, 2, "http://127.0.0.1/cb", "https://agent.example/cb")})
	return append(steps, seconds(
		&ledger.PutPublisher{Actor: operator, Host: ledger.LocalPublisher, Scopes: []string{"BOOKING_READ"}, Defaults: []string{"BOOKING_READ"}, RedirectURIs: []string{"cursor://a/cb"}},
		&ledger.Allow{
			Actor: alice, User: "u", Grant: ledger.GrantID{2}, Revision: 1,
			Request: oauth.AuthorizationRequest{
				ClientID: "mmd_a", RedirectURI: "cursor://a/cb", CodeChallenge: challenge,
				Registration: &oauth.Registration{Name: "Program", RedirectURIs: []string{"cursor://a/cb"}},
			},
		},
		&ledger.PutPublisher{Actor: operator, Host: ledger.LocalPublisher, Scopes: []string{"BOOKING_READ"}, Defaults: []string{"BOOKING_READ"}}, // no private-use URIs
		&ledger.EndPublisher{Actor: operator, Host: host, How: ledger.EndReject, Reason: "not needed"},
		&ledger.PutPublisher{Actor: operator, Host: "other.example", Scopes: []string{"PROFILE_READ"}},
		&ledger.EndPublisher{Actor: operator, Host: "other.example", How: ledger.EndRemove},
		&ledger.Sweep{Documents: []string{ledger.ClientKey(asked)}},
		&ledger.ApplyPublisher{Actor: operator, Host: host, Name: "Agent", Scopes: []string{"BOOKING_READ"}, Manager: "apply"}, // it has changed
		&ledger.ApplyPublisher{
			Actor: operator, Host: ledger.LocalPublisher, Scopes: []string{"BOOKING_READ"}, MaxClients: 5, LongRetry: true, RedirectURIs: []string{"vscode://a/cb"},
			ExpectedLast: command.ID{19}, Manager: "apply", Adopt: true,
		},
		&ledger.ApplyPublisher{Actor: operator, Host: "other.example", Scopes: []string{"PROFILE_READ"}, Defaults: []string{"PROFILE_READ"}, Manager: "apply", Declared: []string{"digest"}},
	)...)
}
