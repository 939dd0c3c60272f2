package issuer_test

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// goldenHashes has commands about imported hashes, of passwords and of secrets.
func goldenHashes() []goldenStep {
	operator := ledger.Actor{Operator: true}
	cost := func(units uint64) ledger.HashCost {
		return ledger.HashCost{Kind: "bcrypt", Units: units, Memory: 4, Lanes: 1}
	}
	upgrade := func(user, from string) *ledger.UpgradePassword {
		return &ledger.UpgradePassword{User: user, VerifiedHash: digestOf(from), Password: "own"}
	}
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
	hashed := func(hash string) ledger.DeclaredSecret {
		return ledger.DeclaredSecret{New: ledger.NewSecret{ID: "s_" + hash[4:], Hash: hash}}
	}
	own := func(id string) ledger.NewSecret {
		return ledger.NewSecret{ID: id, Key: 1, Digest: [32]byte{1}, Tail: "tail"}
	}
	use := func(id, from string) *ledger.UpgradeSecret {
		return &ledger.UpgradeSecret{Client: "app", VerifiedHash: digestOf(from), Secret: own(id)}
	}
	return seconds(
		&ledger.Configure{Settings: s},
		&ledger.AddKey{Key: ledger.Key{ID: "c1", Purpose: ledger.ForCredentials, Number: 1, Sealed: []byte("sealed")}},
		&ledger.PutUser{Actor: operator, ID: "u-alice", Username: "alice", Password: "$2a$one", PasswordCost: cost(1024), New: true},
		&ledger.PutUser{Actor: operator, ID: "u-bob", Username: "bob", Password: "$2a$two", PasswordCost: cost(4096), New: true},
		&ledger.PutUser{Actor: operator, ID: "u-bob", Username: "bob", Password: "$2a$three", PasswordCost: cost(2048)},
		upgrade("u-alice", "$2a$other"), // refused
		upgrade("u-alice", "$2a$one"),
		upgrade("u-alice", "$2a$one"), // refused
		&ledger.PutUser{Actor: operator, ID: "u-alice", Username: "alice", Password: "$2a$one", PasswordCost: cost(1024), Admin: true}, // the password stays
		&ledger.SignIn{Session: [32]byte{1}, User: "u-alice", VerifiedHash: digestOf("own")},
		&ledger.SetPassword{Actor: operator, User: "u-bob", Password: "own"},
		&ledger.ApplyClient{
			Actor: operator, ID: "app", Owner: "u-alice", Type: ledger.Confidential, Manager: "apply", NamesSecrets: true,
			Profile: ledger.Profile{Name: "App", RedirectURIs: []string{redirect}, Scopes: []string{"PROFILE_READ"}},
			Secrets: []ledger.DeclaredSecret{hashed("$2a$one"), hashed("$2a$two")},
		},
		use("s_one", "$2a$two"), // refused
		use("s_one", "$2a$one"),
		use("s_one", "$2a$one"), // nothing is left to do
		&ledger.RevokeSecret{Actor: operator, Client: "app", Secret: "s_two"},
		use("s_two", "$2a$two"), // refused
		&ledger.ImportClient{
			Actor: operator, ID: "old", Owner: "u-alice", Type: ledger.Confidential, State: ledger.Approved, Legacy: true,
			Profile: ledger.Profile{Name: "Old", RedirectURIs: []string{redirect}}, Secrets: []ledger.NewSecret{hashed("$2a$three").New},
		},
	)
}
