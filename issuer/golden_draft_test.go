package issuer_test

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// goldenDraft has the scopes that the owner of a legacy client means to select.
func goldenDraft() []goldenStep {
	alice := ledger.Actor{Session: [32]byte{1}}
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
	old := func(id string) *ledger.ImportClient {
		return &ledger.ImportClient{
			ID: id, Owner: "u-alice", Type: ledger.Public, State: ledger.Approved, Legacy: true,
			Profile: ledger.Profile{Name: id, RedirectURIs: []string{redirect}},
		}
	}
	keep := func(id string, scopes ...string) *ledger.KeepDraft {
		return &ledger.KeepDraft{Actor: alice, Client: id, Scopes: scopes}
	}
	moved := ledger.Profile{Name: "old", RedirectURIs: []string{redirect}, Scopes: []string{"PROFILE_READ"}}
	return seconds(
		&ledger.Configure{Settings: s},
		&ledger.PutUser{ID: "u-alice", Username: "alice", Password: "hash"},
		&ledger.SignIn{Session: alice.Session, User: "u-alice", VerifiedHash: digestOf("hash")},
		old("old"), old("older"),
		keep("old", "PROFILE_READ", "BOOKING_READ"),
		keep("old", "NONE"), // refused
		keep("older", "PROFILE_READ"),
		&ledger.EditClient{Actor: alice, ID: "old", Revision: 1, Profile: moved},
		keep("old", "PROFILE_READ"), // refused
		&ledger.DeleteClient{Actor: alice, ID: "older", Revision: 1},
	)
}
