package issuer_test

import (
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// goldenEveryCommand has every kind of command of a level, in an order in which each is
// accepted.
func goldenEveryCommand() []goldenStep {
	operator := ledger.Actor{Operator: true}
	id := func(n byte) (id [32]byte) { id[0] = n; return id }
	grant := func(n byte) ledger.GrantID { return ledger.GrantID{n} }
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
	s.RotateEvery = 0 // as in rows older than the schedule
	secret := func(n byte) ledger.NewSecret {
		return ledger.NewSecret{ID: fmt.Sprintf("s%d", n), Key: 1, Digest: id(n), Tail: "tail"}
	}
	proof := func(n byte) ledger.ClientAuth {
		return ledger.ClientAuth{Client: "app", Secret: true, Digests: []ledger.Digest{{Key: 1, MAC: id(n)}}}
	}
	profile := ledger.Profile{
		Name: "App", Purpose: "To test.", Website: "https://app.example", PrivacyURL: "https://app.example/privacy", TermsURL: "https://app.example/terms",
		RedirectURIs: []string{redirect}, Scopes: []string{"PROFILE_READ", "BOOKING_READ"},
	}
	renamed := profile
	renamed.Name = "Renamed"
	allow := func(n byte) *ledger.Allow {
		return &ledger.Allow{
			Actor: ledger.Actor{Session: id(1)}, User: "u-alice", Grant: grant(n), Revision: 3,
			Request: oauth.AuthorizationRequest{ClientID: "app", RedirectURI: redirect, Scope: "PROFILE_READ", ResponseType: "code"},
		}
	}
	scheduled := s
	scheduled.RotateEvery = 30 * 24 * time.Hour
	old := proof(3)
	old.Client = "old"
	verified := digestOf("hash")
	return seconds(
		&ledger.Configure{Settings: s},
		&ledger.AddKey{Key: ledger.Key{ID: "c1", Purpose: ledger.ForCredentials, Number: 1, Sealed: []byte("sealed")}},
		&ledger.AddKey{Key: ledger.Key{ID: "k1", Purpose: ledger.ForSigning, Algorithm: "ES256", Public: []byte("{}"), Sealed: []byte("sealed")}},
		&ledger.AddKey{Key: ledger.Key{ID: "k2", Purpose: ledger.ForSigning, Algorithm: "ES256", Public: []byte("{}"), Sealed: []byte("sealed")}},
		&ledger.AcknowledgeKeys{Node: "n1", Opened: []string{"c1", "k1", "k2"}, Version: "v1"},
		&ledger.ActivateKey{ID: "k2", Voters: []string{"n1"}, Emergency: true},
		&ledger.DropKey{ID: "k1", Emergency: true},
		&ledger.PutUser{ID: "u-alice", Username: "alice", Person: ledger.Person{Email: "alice@example.com", TimeFormat: 12}, Password: "hash"},
		&ledger.SignIn{Session: id(1), User: "u-alice", VerifiedHash: verified, Agent: "a browser"},
		&ledger.TouchSession{Session: id(1)},
		&ledger.Reauthenticate{Session: id(1), VerifiedHash: verified},
		&ledger.CreateClient{Actor: operator, ID: "app", Owner: "u-alice", Type: ledger.Confidential, Profile: profile, Secret: ptr(secret(1))},
		&ledger.ReviewClient{Actor: operator, ID: "app", Verdict: ledger.Approve, Revision: 1},
		&ledger.EditClient{Actor: ledger.Actor{Session: id(1)}, ID: "app", Revision: 2, Profile: renamed},
		&ledger.AddSecret{Actor: operator, Client: "app", Secret: secret(2)},
		allow(1), allow(2), allow(3),
		&ledger.Exchange{ClientAuth: proof(1), Credential: &ledger.CredentialRef{Grant: grant(1), Key: 1}, Redirect: digestOf(redirect)},
		&ledger.Refresh{ClientAuth: proof(2), Credential: &ledger.CredentialRef{Grant: grant(1), Key: 1, Generation: 1}},
		allow(5), allow(6),
		&ledger.Exchange{ClientAuth: proof(1), Credential: &ledger.CredentialRef{Grant: grant(5), Key: 1}, Redirect: digestOf(redirect)},
		&ledger.RevokeToken{ClientAuth: proof(1), Refresh: &ledger.CredentialRef{Grant: grant(5), Key: 1, Generation: 1}},
		&ledger.RevokeToken{ClientAuth: proof(1), Access: &ledger.AccessRef{Grant: grant(6), Key: "k2"}},
		&ledger.RevokeSecret{Actor: operator, Client: "app", Secret: "s1"},
		&ledger.Exchange{ClientAuth: proof(2), Credential: &ledger.CredentialRef{Grant: grant(1), Key: 1}, Redirect: digestOf(redirect)}, // reuse
		&ledger.RevokeGrant{Actor: operator, Grant: grant(2)},
		&ledger.Disconnect{Actor: operator, User: "u-alice", Client: "app"},
		&ledger.ImportClient{
			ID: "old", Owner: "u-alice", Type: ledger.Confidential, State: ledger.Approved, Legacy: true,
			Profile: ledger.Profile{Name: "Old", RedirectURIs: []string{redirect}}, Secrets: []ledger.NewSecret{secret(3)}, Declared: []string{"d"},
		},
		&ledger.SetPassword{Actor: operator, User: "u-alice", Password: "another hash"},
		&ledger.SignIn{Session: id(2), User: "u-alice", VerifiedHash: digestOf("another hash")},
		&ledger.SignOut{Session: id(2), Everywhere: true},
		&ledger.SetUserState{Actor: operator, User: "u-alice", State: ledger.Disable},
		&ledger.DeleteClient{Actor: operator, ID: "app"},
		&ledger.MarkLogged{Seq: 3},
		&ledger.Sweep{Grants: []ledger.GrantID{grant(1), grant(2), grant(3)}, Sessions: [][32]byte{id(1), id(2)}, Events: []uint64{1, 2, 2, 3}},

		// A grant of a backup uses its fast-forward.
		&ledger.SetUserState{Actor: operator, User: "u-alice", State: ledger.Enable},
		&ledger.SignIn{Session: id(3), User: "u-alice", VerifiedHash: digestOf("another hash")},
		&ledger.Allow{
			Actor: ledger.Actor{Session: id(3)}, User: "u-alice", Grant: grant(4), Revision: 1,
			Request: oauth.AuthorizationRequest{ClientID: "old", RedirectURI: redirect},
		},
		&ledger.EditProfile{
			Token: ledger.AccessRef{Grant: grant(4), Key: "k2"}, Fields: []string{"name", "time_format"},
			Person: ledger.Person{Name: "Alice", TimeFormat: 24},
		},
		&ledger.BeginRestore{},
		&ledger.Refresh{ClientAuth: old, Credential: &ledger.CredentialRef{Grant: grant(4), Key: 1, Generation: 5}},
		&ledger.Refresh{ClientAuth: old, Credential: &ledger.CredentialRef{Grant: grant(4), Key: 1, Generation: 8}},

		&ledger.Configure{Settings: scheduled},
		&ledger.AcknowledgeKeys{Node: "n1", Opened: []string{"c1", "k2"}, ClusterKeys: []string{"ck2"}, Version: "v2"},
		&ledger.Rewrap{To: "ck2", Voters: []string{"n1"}, Keys: []ledger.SealedKey{
			{ID: "c1", Sealed: []byte("resealed")}, {ID: "k2", Sealed: []byte("resealed")},
		}},
		&ledger.AddKey{Key: ledger.Key{ID: "c2", Purpose: ledger.ForCredentials, Number: 2, Sealed: []byte("sealed"), SealedUnder: "ck2"}},
		&ledger.ForgetNode{Node: "n1"},
		goldenReplay(secret(9)),
	)
}

// goldenReplay has every kind of effect. Those on missing rows change nothing, but must
// stay readable.
func goldenReplay(secret ledger.NewSecret) *ledger.Replay {
	c := &ledger.Replay{Backup: 1}
	for kind := ledger.EffectGrantEnded; kind <= ledger.EffectClientTransferred; kind++ {
		e := ledger.Effect{Kind: kind}
		switch kind {
		case ledger.EffectGrantEnded:
			e.Grant, e.Cause, e.At = ledger.GrantID{4}, ledger.GrantEnded, 1_800_000_000_000
		case ledger.EffectSignedOut:
			e.User, e.Session = "u-alice", [32]byte{3}
		case ledger.EffectPassword:
			e.User, e.Password = "u-alice", "a third hash"
		case ledger.EffectUserDeleted, ledger.EffectClientTransferred:
			e.User, e.Client = "u-bob", "app"
		case ledger.EffectClientState:
			e.Client, e.State, e.Reason = "old", ledger.Suspended, "a reason"
		case ledger.EffectClientDeleted:
			e.Client = "app"
		case ledger.EffectClientNarrowed:
			e.Client, e.URIs, e.Scopes = "old", []string{redirect}, []string{"PROFILE_READ"}
		case ledger.EffectScopesSelected:
			e.Client, e.Scopes = "old", []string{"PROFILE_READ"}
		case ledger.EffectSecretRevoked:
			e.Client, e.ID = "old", "s3"
		case ledger.EffectSecretAdded:
			e.Client, e.Secret = "old", &secret
		case ledger.EffectKeyAdded:
			e.Key = &ledger.Key{
				ID: "k3", Purpose: ledger.ForSigning, Algorithm: "ES256", Public: []byte("{}"), Sealed: []byte("sealed"),
				State: ledger.KeyAnnounced, Announced: 1_800_000_000_000, SealedUnder: "ck2",
			}
		case ledger.EffectKeyActivated:
			e.ID = "k3"
		case ledger.EffectKeyDropped:
			e.ID, e.Emergency = "k2", true
		case ledger.EffectRewrapped:
			e.ID, e.Sealed = "ck3", []ledger.SealedKey{{ID: "k3", Sealed: []byte("sealed again")}}
		default:
			e.User, e.Client = "u-alice", "old"
		}
		c.Records = append(c.Records, ledger.Record{Seq: uint64(kind) + 1, At: 1_800_000_000_000, Actor: "u-alice", Effects: []ledger.Effect{e}})
	}
	return c
}
