package issuer_test

import (
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// goldenOperators has what operators on other machines do, and their tokens.
func goldenOperators() []goldenStep {
	operator := ledger.Actor{Operator: true}
	token := ledger.Actor{Operator: true, Token: "ot_1"}
	certificate := ledger.Actor{Operator: true, Certificate: "alice"}
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
	add := func(id, name string, lifetime time.Duration, scopes ...ledger.OperatorScope) *ledger.AddOperatorToken {
		return &ledger.AddOperatorToken{Actor: operator, ID: id, Name: name, Key: 1, Digest: [32]byte{7}, Scopes: scopes, Lifetime: lifetime}
	}
	profile := ledger.Profile{Name: "App", RedirectURIs: []string{redirect}, Scopes: []string{"PROFILE_READ"}}
	return seconds(
		&ledger.Configure{Settings: s},
		&ledger.AddKey{Key: ledger.Key{ID: "c1", Purpose: ledger.ForCredentials, Number: 1, Sealed: []byte("sealed")}},
		add("ot_1", "ci", time.Hour, ledger.ScopeUsers, ledger.ScopeClients),
		add("ot_2", "ci", time.Hour, ledger.ScopeRead), // the name is taken
		add("ot_2", "short", time.Minute, ledger.ScopeRead),
		&ledger.PutUser{Actor: token, ID: "u-alice", Username: "alice", Password: "hash"},
		&ledger.PutUser{Actor: token, ID: "u-bob", Username: "bob", Password: "hash", Admin: true}, // refused
		&ledger.SetUserState{Actor: certificate, User: "u-alice", State: ledger.Promote},           // refused
		&ledger.SetUserState{Actor: operator, User: "u-alice", State: ledger.Promote},
		&ledger.SetPassword{Actor: token, User: "u-alice", Password: "other"}, // refused
		&ledger.ImportClient{Actor: certificate, ID: "app", Owner: "u-alice", Type: ledger.Confidential, State: ledger.Approved, Profile: profile},
		&ledger.Configure{Actor: token, Settings: ledger.Settings{}}, // refused
		&ledger.RecordOperation{Actor: token, Operation: "cluster.remove node n3"},
		&ledger.RecordOperation{Actor: token}, // used recently
		&ledger.RevokeOperatorToken{Actor: certificate, ID: "ot_1"},
		&ledger.RevokeOperatorToken{Actor: operator, ID: "ot_1"},
		&ledger.RecordOperation{Actor: token, Operation: "cluster.transfer cluster"}, // refused
	)
}
