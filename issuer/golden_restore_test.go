package issuer_test

import (
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// goldenRestore has the timelines of a cluster, ended grants without limits, and a keyring
// that a gap in a journal left under two cluster keys.
func goldenRestore() []goldenStep {
	session := [32]byte{1}
	digest := func(n byte) [32]byte { return [32]byte{n} }
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
	allow := func(n byte, scope string) *ledger.Allow {
		return &ledger.Allow{
			Actor: ledger.Actor{Session: session}, User: "u-alice", Grant: ledger.GrantID{n}, Revision: 1,
			Request: oauth.AuthorizationRequest{ClientID: "old", RedirectURI: redirect, Scope: scope},
		}
	}
	refresh := func(n byte, generation uint32) *ledger.Refresh {
		return &ledger.Refresh{
			ClientAuth: ledger.ClientAuth{Client: "old", Secret: true, Digests: []ledger.Digest{{Key: 1, MAC: digest(3)}}},
			Credential: &ledger.CredentialRef{Grant: ledger.GrantID{n}, Key: 1, Generation: generation},
		}
	}
	record := func(seq uint64, e ledger.Effect) ledger.Record {
		return ledger.Record{Seq: seq, At: 1_800_000_000_000, Effects: []ledger.Effect{e}}
	}
	return seconds(
		&ledger.Configure{Settings: s},
		&ledger.AddKey{Key: ledger.Key{ID: "c1", Purpose: ledger.ForCredentials, Number: 1, Sealed: []byte("sealed")}},
		&ledger.AddKey{Key: ledger.Key{ID: "k1", Purpose: ledger.ForSigning, Algorithm: "ES256", Public: []byte("{}"), Sealed: []byte("sealed")}},
		&ledger.PutUser{ID: "u-alice", Username: "alice", Password: "hash"},
		&ledger.SignIn{Session: session, User: "u-alice", VerifiedHash: digestOf("hash")},
		&ledger.ImportClient{
			ID: "old", Owner: "u-alice", Type: ledger.Confidential, State: ledger.Approved, Legacy: true,
			Profile: ledger.Profile{Name: "Old", RedirectURIs: []string{redirect}},
			Secrets: []ledger.NewSecret{{ID: "s1", Key: 1, Digest: digest(3), Tail: "tail"}},
		},
		&ledger.BeginTimeline{},
		&ledger.BeginTimeline{},
		allow(1, ""), allow(2, "PROFILE_READ"), allow(3, ""),
		&ledger.BeginRestore{Backup: 10},
		&ledger.Replay{Backup: 10, Records: []ledger.Record{
			record(12, ledger.Effect{Kind: ledger.EffectLegacyEnded, User: "u-alice", Client: "old", RevokedBefore: 9}),
			record(13, ledger.Effect{Kind: ledger.EffectKeyAdded, Key: &ledger.Key{
				ID: "a2", Purpose: ledger.ForSigning, Algorithm: "ES256", Public: []byte("{}"), Sealed: []byte("sealed"),
				State: ledger.KeyAnnounced, Announced: 1_800_000_000_000, SealedUnder: "ck2",
			}}),
		}},
		refresh(1, 1), refresh(3, 1),
		&ledger.AcknowledgeKeys{Node: "n1", ClusterKeys: []string{"ck2"}, Version: "v2"},
		&ledger.Rewrap{To: "ck2", Voters: []string{"n1"}, Keys: []ledger.SealedKey{
			{ID: "a2", Sealed: []byte("resealed")}, {ID: "c1", Sealed: []byte("resealed")}, {ID: "k1", Sealed: []byte("resealed")},
		}},
		allow(4, ""),
		&ledger.Replay{Backup: 10, Records: []ledger.Record{
			record(14, ledger.Effect{Kind: ledger.EffectLegacyEnded, User: "u-alice", Client: "old", RevokedBefore: 1 << 40}),
			record(15, ledger.Effect{Kind: ledger.EffectLegacyEnded, User: "u-alice", Client: "old"}),
		}},
		&ledger.BeginRestore{Backup: 12},
		&ledger.BeginRestore{},
		&ledger.BeginTimeline{Next: &ledger.Timeline{ID: command.ID{200}, From: 20}},
		&ledger.BeginTimeline{Next: &ledger.Timeline{ID: command.ID{200}, From: 20}},
	)
}
