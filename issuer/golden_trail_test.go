package issuer_test

import (
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// goldenTrail has a client that refreshes and repeats in turn, on two days.
func goldenTrail() []goldenStep {
	session := [32]byte{1}
	grant := ledger.GrantID{1}
	s := ledger.DefaultSettings()
	s.BaseURL, s.AppURL, s.Audience = "https://api.example.com", "https://app.example.com", "https://api.example.com"
	proof := ledger.ClientAuth{Client: "app"}
	refresh := func(generation uint32) command.Command {
		return &ledger.Refresh{ClientAuth: proof, Credential: &ledger.CredentialRef{Grant: grant, Generation: generation, Key: 1}}
	}
	steps := seconds(
		&ledger.Configure{Settings: s},
		&ledger.AddKey{Key: ledger.Key{ID: "c1", Purpose: ledger.ForCredentials, Number: 1, Sealed: []byte("sealed")}},
		&ledger.AddKey{Key: ledger.Key{ID: "k1", Purpose: ledger.ForSigning, Algorithm: "ES256", Public: []byte("{}"), Sealed: []byte("sealed")}},
		&ledger.PutUser{ID: "u-alice", Username: "alice", Password: "hash"},
		&ledger.SignIn{Session: session, User: "u-alice", VerifiedHash: digestOf("hash")},
		&ledger.ImportClient{
			ID: "app", Owner: "u-alice", Type: ledger.Public, State: ledger.Approved,
			Profile: ledger.Profile{Name: "App", RedirectURIs: []string{redirect}, Scopes: []string{"PROFILE_READ"}},
		},
		&ledger.Allow{
			Actor: ledger.Actor{Session: session}, User: "u-alice", Grant: grant, Revision: 1,
			Request: oauth.AuthorizationRequest{
				ClientID: "app", RedirectURI: redirect, Scope: "PROFILE_READ",
				CodeChallenge: goldenChallenge, CodeChallengeMethod: "S256",
			},
		},
		&ledger.Exchange{ClientAuth: proof, Credential: &ledger.CredentialRef{Grant: grant, Key: 1}, Redirect: digestOf(redirect), Challenge: goldenChallenge},
		refresh(1), refresh(1), refresh(1),
		refresh(2), refresh(2),
	)
	steps = append(steps, goldenStep{after: 24 * time.Hour, command: refresh(3)})
	steps = append(steps, seconds(refresh(3), refresh(4), refresh(4))...)

	// Two nodes report failures, and two leaders sum them.
	hour := ledger.HourOf(ledger.Time(newGoldenEnv(1).now.UnixMilli())) + 24
	failed := ledger.FailureCounts{
		SignIns: 9, Users: map[string]int64{"u-alice": 5, "u-nobody": 2}, Authentications: 3, Clients: map[string]int64{"app": 3},
	}
	steps = append(steps, seconds(
		ledger.NewReportFailures("n1", hour, failed), ledger.NewReportFailures("n2", hour, failed), ledger.NewReportFailures("n1", hour, failed),
		&ledger.SumFailures{Hour: hour},
	)...)
	return append(steps, goldenStep{after: 2 * time.Hour, command: &ledger.SumFailures{Hour: hour}}, goldenStep{command: &ledger.SumFailures{Hour: hour}})
}

// goldenChallenge is the code_challenge of RFC 7636, appendix B.
const goldenChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
