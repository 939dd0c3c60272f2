package issuer_test

import (
	"fmt"
	"strings"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// goldenResources has what administrators do with resource servers, and the use of their
// secrets.
func goldenResources() []goldenStep {
	operator := ledger.Actor{Operator: true}
	const api, calendar = "https://api.example.com/v2", "https://calendar.example.com"
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
	secret := func(n byte) ledger.NewSecret {
		return ledger.NewSecret{ID: fmt.Sprintf("s%d", n), Key: 1, Digest: [32]byte{n}, Tail: "tail"}
	}
	first, second := secret(1), secret(2)
	use := func(n byte) *ledger.RecordSecretUse {
		return &ledger.RecordSecretUse{ClientAuth: ledger.ClientAuth{Client: api, Secret: true, Digests: []ledger.Digest{{Key: 1, MAC: [32]byte{n}}}}}
	}
	session, challenge := [32]byte{1}, strings.Repeat("a", 43)
	allow := func(n byte, resource, scope string) *ledger.Allow {
		return &ledger.Allow{
			Actor: ledger.Actor{Session: session}, User: "u-alice", Grant: ledger.GrantID{n}, Revision: 1,
			Request: oauth.AuthorizationRequest{ClientID: "app", RedirectURI: redirect, Scope: scope, CodeChallenge: challenge, Resource: resource},
		}
	}
	exchange := func(n byte, resource string) *ledger.Exchange {
		return &ledger.Exchange{
			ClientAuth: ledger.ClientAuth{Client: "app"}, Credential: &ledger.CredentialRef{Grant: ledger.GrantID{n}, Key: 1},
			Redirect: digestOf(redirect), Challenge: challenge, Resource: resource,
		}
	}
	refresh := func(n byte, resource string) *ledger.Refresh {
		return &ledger.Refresh{
			ClientAuth: ledger.ClientAuth{Client: "app"}, Credential: &ledger.CredentialRef{Grant: ledger.GrantID{n}, Key: 1, Generation: 1}, Resource: resource,
		}
	}
	declared := func(n byte) ledger.DeclaredSecret {
		return ledger.DeclaredSecret{New: secret(n), Digests: []ledger.Digest{{Key: 1, MAC: [32]byte{n}}}}
	}
	return seconds(
		&ledger.Configure{Settings: s},
		&ledger.AddKey{Key: ledger.Key{ID: "c1", Purpose: ledger.ForCredentials, Number: 1, Sealed: []byte("sealed")}},
		&ledger.PutResourceServer{Actor: operator, ID: api, Name: "api", Scopes: []string{"BOOKING_READ", "PROFILE_READ"}, Secret: &first, New: true},
		&ledger.PutResourceServer{Actor: operator, ID: api, Name: "api", New: true},      // it exists
		&ledger.PutResourceServer{Actor: operator, ID: calendar, Name: "api", New: true}, // the name is taken
		&ledger.PutResourceServer{Actor: operator, ID: calendar, Name: "calendar", Secret: &second, New: true},
		&ledger.PutResourceServer{Actor: operator, ID: api, Name: "api", Scopes: []string{"BOOKING_READ"}},
		use(1), use(9), // refused
		&ledger.AddResourceSecret{Actor: operator, Resource: api, Secret: secret(3)},
		&ledger.AddResourceSecret{Actor: operator, Resource: api, Secret: secret(4)}, // too many
		&ledger.RevokeResourceSecret{Actor: operator, Resource: api, Secret: "s1"},
		use(1), // refused
		use(3),
		&ledger.AddKey{Key: ledger.Key{ID: "k1", Purpose: ledger.ForSigning, Algorithm: "ES256", Public: []byte("{}"), Sealed: []byte("sealed")}},
		&ledger.PutUser{ID: "u-alice", Username: "alice", Password: "hash"},
		&ledger.SignIn{Session: session, User: "u-alice", VerifiedHash: digestOf("hash")},
		&ledger.ImportClient{
			ID: "app", Owner: "u-alice", Type: ledger.Public, State: ledger.Approved,
			Profile: ledger.Profile{Name: "App", RedirectURIs: []string{redirect}, Scopes: []string{"BOOKING_READ", "PROFILE_READ"}},
		},
		allow(1, calendar, "PROFILE_READ"), allow(2, api, "BOOKING_READ"), allow(3, "", "BOOKING_READ"),
		allow(4, api, "PROFILE_READ"),     // not one of its scopes
		allow(4, api+"/", "BOOKING_READ"), // not what the page showed
		exchange(1, calendar), exchange(2, api), exchange(3, ""),
		refresh(1, ""), refresh(2, api+"/"), refresh(3, api), // refused
		&ledger.RemoveResourceServer{Actor: operator, ID: calendar},
		&ledger.PutResourceServer{Actor: operator, ID: calendar, Name: "calendar", New: true}, // with the same number
		refresh(1, ""), // refused
		&ledger.ApplyResourceServer{
			Actor: operator, ID: api, Name: "api", Scopes: []string{"PROFILE_READ"}, Manager: "apply", NamesSecrets: true,
			Secrets: []ledger.DeclaredSecret{declared(3), declared(5)}, ExpectedLast: command.ID{12},
		},
		&ledger.ApplyResourceServer{Actor: operator, ID: api, Name: "other", Manager: "apply"}, // it has changed
		&ledger.ApplyResourceServer{Actor: operator, ID: api + "/new", Name: "new", Manager: "apply", Declared: []string{"digest"}},
		&ledger.RemoveResourceServer{Actor: operator, ID: calendar},
		&ledger.RemoveResourceServer{Actor: operator, ID: calendar}, // gone
	)
}
