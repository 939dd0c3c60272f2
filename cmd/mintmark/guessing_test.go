package main

import (
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// counting returns a server that trusts X-Forwarded-For from the tests. Its clock only
// moves if forward is called, so that no limit recovers while the test runs.
func counting(t *testing.T) (ts *testServer, forward func(time.Duration)) {
	t.Helper()
	var now atomic.Int64
	now.Store(time.Now().UnixMilli())
	ts = startTestServer(t, t.TempDir(), fixtureText, func(c *server.Config) {
		var err error
		c.Now = func() time.Time { return time.UnixMilli(now.Load()) }
		c.Proxies, err = proxy.Parse([]string{"127.0.0.0/8"})
		require.NoError(t, err)
	})
	return ts, func(d time.Duration) { now.Add(d.Milliseconds()) }
}

// forwarded is form from another address.
func (ts *testServer) forwarded(address string, pairs ...string) answer {
	ts.t.Helper()
	return ts.request(http.MethodPost, oauth.PathToken, encode(pairs...),
		"Content-Type", "application/x-www-form-urlencoded", "X-Forwarded-For", address)
}

// TestWeakSecretsAreNotGuessed: guesses are limited to a hundred, then one a second, over
// all addresses together. Beyond the limit a correct secret gets the same response as a
// wrong one.
func TestWeakSecretsAreNotGuessed(t *testing.T) {
	ts, forward := counting(t)
	const office, elsewhere = "198.51.100.7", "192.0.2.99"
	held := ts.tokens("cal-app")
	guess := func(client, secret, address string, more ...string) answer {
		return ts.forwarded(address, append([]string{"grant_type", "refresh_token", "refresh_token", held.Refresh, "client_id", client, "client_secret", secret}, more...)...)
	}
	tokensOf(t, guess("cal-app", "cal-app-secret", office))
	decide := func(client string, tries, expected int) {
		t.Helper()
		decided := 0
		var last answer
		for i := range tries {
			last = guess(client, fmt.Sprint("guess-", i), fmt.Sprintf("203.0.113.%d", i%250))
			if last.Status == http.StatusUnauthorized {
				decided++
				continue
			}
			refused(t, last, http.StatusTooManyRequests, oauth.TemporarilyUnavailable)
		}
		require.Equal(t, expected, decided, client)
		require.NotEmpty(t, last.Header.Get("Retry-After"))
	}
	for _, client := range []string{"cal-app", "nobody", "native-app"} {
		decide(client, 400, 100)
	}
	forward(10 * time.Second)
	for _, client := range []string{"cal-app", "nobody", "native-app"} {
		decide(client, 40, 10) // one a second
	}

	for _, more := range [][]string{{}, {"scope", "NO_SUCH"}, {"scope", "SCHEDULE_READ"}} {
		refused(t, guess("cal-app", "cal-app-secret", elsewhere, more...), http.StatusTooManyRequests, oauth.TemporarilyUnavailable)
	}
	refused(t, guess("cal-app", credential.NewSecret(zeros{}).Reveal(), elsewhere), http.StatusUnauthorized, oauth.InvalidClient)
	tokensOf(t, guess("cal-app", generatedSecret, elsewhere)) // a secret in the generated format is always verified
	tokensOf(t, guess("cal-app", "cal-app-secret", office))   // guesses from elsewhere do not lock out a client at its usual address
}

// TestGuessesAtTheRevocationEndpoint: with a token of one client, the secrets of another
// can't be guessed faster at the revocation endpoint. Guesses there count at the other
// endpoints too.
func TestGuessesAtTheRevocationEndpoint(t *testing.T) {
	ts, _ := counting(t)
	post := func(path string, pairs ...string) answer {
		return ts.request(http.MethodPost, path, encode(append([]string{"client_id", "cal-app"}, pairs...)...),
			"Content-Type", "application/x-www-form-urlencoded", "X-Forwarded-For", "203.0.113.9")
	}
	held := ts.tokens("native-app")
	guesses := 0
	for guesses < 300 {
		a := post(oauth.PathRevoke, "token", []string{held.Access, held.Refresh}[guesses%2], "client_secret", fmt.Sprint("guess-", guesses))
		if a.Status == http.StatusTooManyRequests {
			break
		}
		refused(t, a, http.StatusUnauthorized, oauth.InvalidClient)
		guesses++
	}
	require.Equal(t, 100, guesses)
	for _, path := range []string{oauth.PathRevoke, oauth.PathIntrospect} {
		refused(t, post(path, "token", held.Refresh, "client_secret", "cal-app-secret"), http.StatusTooManyRequests, oauth.TemporarilyUnavailable)
	}
	tokensOf(t, ts.refresh("native-app", held.Refresh))
}

// zeros is a source of zeros instead of randomness.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestRightSecretsBesideFaultsAreCounted: a correct weak secret counts as a guess if the
// request is refused for another reason.
func TestRightSecretsBesideFaultsAreCounted(t *testing.T) {
	for name, fault := range map[string]func(ts *testServer) []string{
		"invalid_scope": func(ts *testServer) []string {
			return []string{"grant_type", "refresh_token", "refresh_token", ts.tokens("cal-app").Refresh, "scope", "SCHEDULE_READ"}
		},
		"invalid_request": func(ts *testServer) []string {
			return []string{"grant_type", "authorization_code", "code", ts.code("cal-app"), "redirect_uri", callback, "code_verifier", verifierText}
		},
	} {
		t.Run(name, func(t *testing.T) {
			ts, _ := counting(t)
			pairs := append(fault(ts), credentials("cal-app")...)
			decided := 0
			for decided < 1000 {
				a := ts.forwarded("127.0.0.1", pairs...)
				if a.Status == http.StatusTooManyRequests {
					break
				}
				require.Equal(t, name, a.ErrorCode())
				decided++
			}
			require.InDelta(t, 500, decided, 1, "the limit at an address where the client has authenticated")
		})
	}
}

// TestNeighboursJunkHidesNoTruth: a client learns that its own token is no longer valid,
// even if other clients at the same address have used up the limit.
func TestNeighboursJunkHidesNoTruth(t *testing.T) {
	ts, _ := counting(t)
	const address = "198.51.100.7"
	ended := map[string]tokens{"native-app": ts.tokens("native-app"), "cal-app": ts.tokens("cal-app")}
	ts.propose(&ledger.Disconnect{Actor: ledger.Actor{Operator: true}, User: "u-alice"})
	for client, held := range ended {
		authentication := []string{"grant_type", "refresh_token", "client_id", client}
		if client != "native-app" {
			authentication = append(authentication, "client_secret", generatedSecret)
		}
		junk := slices.Concat(authentication, []string{"refresh_token", "junk"})
		limited := ts.forwarded(address, junk...)
		for n := 0; limited.Status != http.StatusTooManyRequests && n < 3000; n++ {
			limited = ts.forwarded(address, junk...)
		}
		require.Equal(t, http.StatusTooManyRequests, limited.Status)
		for range 20 {
			refused(t, ts.forwarded(address, slices.Concat(authentication, []string{"refresh_token", held.Refresh})...), http.StatusBadRequest, oauth.InvalidGrant)
		}
		refused(t, ts.forwarded(address, junk...), http.StatusTooManyRequests, oauth.TemporarilyUnavailable)
	}
}
