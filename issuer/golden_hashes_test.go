package issuer_test

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// goldenHashes has what becomes of hashes that another system made.
func goldenHashes() []goldenStep {
	operator := ledger.Actor{Operator: true}
	cost := func(units uint64) ledger.HashCost {
		return ledger.HashCost{Kind: "bcrypt", Units: units, Memory: 4, Lanes: 1}
	}
	upgrade := func(user, from string) *ledger.UpgradePassword {
		return &ledger.UpgradePassword{User: user, VerifiedHash: digestOf(from), Password: "own"}
	}
	return seconds(
		&ledger.PutUser{Actor: operator, ID: "u-alice", Username: "alice", Password: "$2a$one", PasswordCost: cost(1024), New: true},
		&ledger.PutUser{Actor: operator, ID: "u-bob", Username: "bob", Password: "$2a$two", PasswordCost: cost(4096), New: true},
		&ledger.PutUser{Actor: operator, ID: "u-bob", Username: "bob", Password: "$2a$three", PasswordCost: cost(2048)},
		upgrade("u-alice", "$2a$other"), // refused
		upgrade("u-alice", "$2a$one"),
		upgrade("u-alice", "$2a$one"), // refused
		&ledger.PutUser{Actor: operator, ID: "u-alice", Username: "alice", Password: "$2a$one", PasswordCost: cost(1024), Admin: true}, // the password stays
		&ledger.SignIn{Session: [32]byte{1}, User: "u-alice", VerifiedHash: digestOf("own")},
		&ledger.SetPassword{Actor: operator, User: "u-bob", Password: "own"},
	)
}
