package issuer_test

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// goldenKeys has keys that rotate and leak, credentials under them, settings of two
// operators, an edit, and a slow node.
func goldenKeys() []goldenStep {
	operator := ledger.Actor{Operator: true}
	session := [32]byte{1}
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
	hasty := s
	hasty.JWKSMaxAge = time.Minute
	late := s
	late.RetryWindow = 20 * time.Second
	digest := func(key uint32) [32]byte { return sha256.Sum256(fmt.Append(nil, "secret under ", key)) }
	proof := func(opened ...uint32) ledger.ClientAuth {
		p := ledger.ClientAuth{Client: "app", Secret: true}
		for _, key := range opened {
			p.Digests = append(p.Digests, ledger.Digest{Key: key, MAC: digest(key)})
		}
		return p
	}
	grant := func(n byte) ledger.GrantID { return ledger.GrantID{n} }
	allow := func(n byte) command.Command {
		return &ledger.Allow{
			Actor: ledger.Actor{Session: session}, User: "u-alice", Grant: grant(n), Revision: 1,
			Request: oauth.AuthorizationRequest{ClientID: "app", RedirectURI: redirect, Scope: "PROFILE_READ"},
		}
	}
	exchange := func(n byte, key uint32, opened ...uint32) command.Command {
		return &ledger.Exchange{ClientAuth: proof(opened...), Credential: &ledger.CredentialRef{Grant: grant(n), Key: key}, Redirect: digestOf(redirect)}
	}
	refresh := func(n byte, generation, key uint32, opened ...uint32) *ledger.Refresh {
		return &ledger.Refresh{ClientAuth: proof(opened...), Credential: &ledger.CredentialRef{Grant: grant(n), Generation: generation, Key: key}}
	}
	slow := func(r *ledger.Refresh) command.Command { r.Unspent = true; return r }
	narrowed := ledger.Profile{Name: "App", RedirectURIs: []string{redirect}, Scopes: []string{"BOOKING_READ"}}
	sealed := []byte("sealed")
	signing := func(id string) command.Command {
		return &ledger.AddKey{Key: ledger.Key{ID: id, Purpose: ledger.ForSigning, Algorithm: "ES256", Public: []byte("{}"), Sealed: sealed}}
	}
	credentials := func(number uint32) command.Command {
		return &ledger.AddKey{Key: ledger.Key{ID: fmt.Sprint("c", number), Purpose: ledger.ForCredentials, Number: number, Sealed: sealed}}
	}
	steps := seconds(
		&ledger.Configure{Settings: s}, credentials(1), signing("k1"),
		&ledger.AcknowledgeKeys{Node: "n1", Opened: []string{"c1", "c2", "c4", "k1", "k2"}, Version: "v1"},
		&ledger.PutUser{ID: "u-alice", Username: "alice", Password: "hash"},
		&ledger.SignIn{Session: session, User: "u-alice", VerifiedHash: digestOf("hash")},
		&ledger.ImportClient{
			ID: "app", Owner: "u-alice", Type: ledger.Confidential, State: ledger.Approved,
			Profile: ledger.Profile{Name: "App", RedirectURIs: []string{redirect}, Scopes: []string{"PROFILE_READ"}},
			Secrets: []ledger.NewSecret{{ID: "s1", Key: 1, Digest: digest(1), Tail: "tail"}},
		},
		allow(1), allow(2), allow(3), allow(4), allow(5),
		exchange(1, 1, 1), exchange(2, 1, 1), exchange(3, 1, 1), exchange(4, 1, 1),
		credentials(2), &ledger.ActivateKey{ID: "c2", Voters: []string{"n1"}},
		refresh(1, 1, 1, 1, 2), refresh(2, 1, 1, 1, 2), refresh(2, 1, 1, 1, 2), // the last is a retry
		refresh(3, 1, 1, 1, 2), refresh(3, 2, 2, 1, 2), slow(refresh(3, 1, 1, 1, 2)),
		refresh(4, 1, 1, 1, 2), refresh(4, 2, 2, 1, 2), refresh(4, 1, 1, 1, 2), // the last is reuse
		&ledger.Configure{Settings: hasty, ExpectedLast: command.ID{1}},
		&ledger.Configure{Settings: late, ExpectedLast: command.ID{1}},
		signing("k2"),
	)
	waits := goldenStep{after: 3 * time.Minute, command: &ledger.ActivateKey{ID: "k2", Voters: []string{"n1"}}}
	steps = append(steps, waits)
	waits.after = 7 * time.Minute
	steps = append(steps, waits, goldenStep{after: 31 * time.Minute, command: &ledger.DropKey{ID: "k1"}})
	return append(steps, seconds(
		&ledger.AddSecret{Actor: operator, Client: "app", Secret: ledger.NewSecret{ID: "s2", Key: 2, Digest: digest(2), Tail: "tail"}},
		&ledger.DropKey{ID: "c1", Emergency: true},
		exchange(5, 1, 2), exchange(1, 1, 2), refresh(2, 1, 1, 2), // under a dropped key
		refresh(1, 2, 2, 2), refresh(1, 2, 2, 1),
		credentials(3), &ledger.DropKey{ID: "c3", Emergency: true}, credentials(3), credentials(4),
		&ledger.ActivateKey{ID: "c4", Voters: []string{"n1"}},
		refresh(2, 2, 2, 2, 4), refresh(2, 2, 2, 2, 4),
		&ledger.DropKey{ID: "c2", Emergency: true},
		refresh(2, 3, 4, 4),
		&ledger.EditClient{Actor: ledger.Actor{Session: session}, ID: "app", Revision: 1, Profile: narrowed},
		&ledger.RevokeGrant{Actor: operator, Grant: grant(5)},
	)...)
}
