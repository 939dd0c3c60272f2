package issuer_test

import (
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// goldenUsage has the figures of clients: Allows and reports of two nodes, and what ends them.
func goldenUsage() []goldenStep {
	operator := ledger.Actor{Operator: true}
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
	start := int64(1_800_000_000 / 3600)
	client := func(id string) command.Command {
		return &ledger.ImportClient{
			ID: id, Owner: "u-1", Type: ledger.Public, State: ledger.Approved,
			Profile: ledger.Profile{Name: id, RedirectURIs: []string{redirect}, Scopes: []string{"PROFILE_READ"}},
		}
	}
	allow := func(user, client string, grant byte) command.Command {
		return &ledger.Allow{
			Actor: ledger.Actor{Session: digestOf(user)}, User: user, Grant: ledger.GrantID{grant}, Revision: 1,
			Request: oauth.AuthorizationRequest{ClientID: client, RedirectURI: redirect, Scope: "PROFILE_READ", CodeChallenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", CodeChallengeMethod: "S256"},
		}
	}
	signIn := func(user string) command.Command {
		return &ledger.SignIn{Session: digestOf(user), User: user, VerifiedHash: digestOf("hash")}
	}
	report := func(node string, hour int64, counts ...ledger.UsageCount) command.Command {
		return &ledger.ReportUsage{Node: node, Hour: start + hour, Counts: counts}
	}
	count := func(client string, refreshes, refusals uint32) ledger.UsageCount {
		return ledger.UsageCount{Client: client, Refreshes: refreshes, Refusals: refusals}
	}
	steps := seconds(
		&ledger.Configure{Settings: s},
		&ledger.AddKey{Key: ledger.Key{ID: "c1", Purpose: ledger.ForCredentials, Number: 1, Sealed: []byte("sealed")}},
		&ledger.PutUser{ID: "u-1", Username: "alice", Password: "hash"},
		&ledger.PutUser{ID: "u-2", Username: "bob", Password: "hash"},
		signIn("u-1"), signIn("u-2"), client("a"), client("b"),
		allow("u-1", "a", 1), allow("u-1", "a", 2), allow("u-2", "a", 3), allow("u-2", "b", 4),
		report("n1", 0, count("a", 1, 0)), // the node is not known yet
		&ledger.AcknowledgeKeys{Node: "n1"},
		&ledger.AcknowledgeKeys{Node: "n2"},
		report("n1", 0, count("a", 3, 1), count("b", 0, 2), count("c", 9, 9)),
		report("n2", 0, count("a", 4, 0)),
		report("n2", 1, count("a", 5, 0)),
		report("n2", 2, count("a", 6, 0)), // to come
		&ledger.AcknowledgeKeys{Node: "n1", Opened: []string{"c1"}},
		&ledger.DeleteClient{Actor: operator, ID: "b"},
		report("n1", 0, count("a", 0, 1), count("b", 1, 1)),
	)
	return append(steps,
		goldenStep{25 * time.Hour, report("n1", 0, count("a", 1, 0))}, // too late
		goldenStep{time.Second, report("n1", 25, count("a", 7, 0))},
		goldenStep{29 * 24 * time.Hour, signIn("u-1")},
		goldenStep{time.Second, allow("u-1", "a", 5)},
	)
}
