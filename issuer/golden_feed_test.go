package issuer_test

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// goldenFeed has the addresses of feeds.
func goldenFeed() []goldenStep {
	operator, alice, bob := ledger.Actor{Operator: true}, ledger.Actor{Session: [32]byte{1}}, ledger.Actor{Session: [32]byte{2}}
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
	set := func(who ledger.Actor, address string) *ledger.SetFeed {
		return &ledger.SetFeed{Actor: who, Digest: digestOf(address)}
	}
	return seconds(
		&ledger.Configure{Settings: s},
		&ledger.PutUser{ID: "u-alice", Username: "alice", Password: "hash"},
		&ledger.PutUser{ID: "u-bob", Username: "bob", Password: "hash"},
		&ledger.SignIn{Session: alice.Session, User: "u-alice", VerifiedHash: digestOf("hash")},
		&ledger.SignIn{Session: bob.Session, User: "u-bob", VerifiedHash: digestOf("hash")},
		set(alice, "first"),
		set(alice, "first"),        // changes nothing
		set(bob, "first"),          // refused
		set(operator, "of nobody"), // refused
		set(alice, "second"),
		set(bob, "of bob"),
		&ledger.SetFeed{Actor: alice},
		&ledger.SetFeed{Actor: alice}, // changes nothing
		set(alice, "third"),
		&ledger.SetUserState{Actor: operator, User: "u-bob", State: ledger.Disable},
	)
}
