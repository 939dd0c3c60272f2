package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/keys"
)

// TestConformance has one subtest for each statement about what is served
// here: the id of the statement begins its name.
func TestConformance(t *testing.T) {
	for _, group := range []func(*testing.T){
		conformAuthorize, conformSignIn, conformCodes,
		conformToken, conformClientAuthentication, conformCodeGrant, conformPKCE,
		conformRefresh, conformRefreshWithoutWindow, conformRefreshOverTime,
		conformAccessToken, conformKeySet, conformMetadata, conformResource,
		conformClients, conformSecrets, conformTransport, conformFailures,
	} {
		group(t)
	}
}

// A suite is one server for many subtests, with a browser in which alice has
// signed in: attempts to sign in are few, and each costs a password hash.
type suite struct {
	*testServer
	t     *testing.T
	alice *browser
}

// newSuite starts a server with the usual fixtures and more lines, which are
// clients or settings.
func newSuite(t *testing.T, more ...string) *suite {
	t.Helper()
	return suiteOf(t, newTestServer(t, append([]string{fixtureText}, more...)...))
}

func suiteOf(t *testing.T, ts *testServer) *suite {
	t.Helper()
	s := &suite{testServer: ts, t: t, alice: ts.browser()}
	page := s.alice.get("/auth/sign-in")
	require.Equal(t, http.StatusSeeOther, s.alice.submit(page, "password", "username", "alice", "password", passwords["alice"]).Status)
	return s
}

// run is t.Run with a suite that fails the subtest and not its parent.
func (s *suite) run(name string, f func(*suite)) {
	s.t.Run(name, func(t *testing.T) {
		ts := *s.testServer
		ts.t = t
		f(&suite{testServer: &ts, t: t, alice: &browser{&ts, s.alice.client}})
	})
}

// code is a fresh authorization code of a client for alice.
func (s *suite) code(client string, more ...string) string {
	s.t.Helper()
	code := s.alice.allow("alice", good(client, more...)).Query().Get("code")
	require.NotEmpty(s.t, code)
	return code
}

// redeem is a good exchange.
func (s *suite) redeem(client, code string) answer {
	s.t.Helper()
	if client == "native-app" {
		return s.exchange(client, code, "code_verifier", verifierText)
	}
	return s.exchange(client, code)
}

// tokens are those of a new grant of alice's.
func (s *suite) tokens(client string) tokens {
	s.t.Helper()
	return tokensOf(s.t, s.redeem(client, s.code(client)))
}

// refreshed are the tokens of a good refresh.
func (s *suite) refreshed(client, token string) tokens {
	s.t.Helper()
	return tokensOf(s.t, s.refresh(client, token))
}

// jsonBody posts JSON to the token endpoint.
func (s *suite) jsonBody(body string) answer {
	s.t.Helper()
	return s.request(http.MethodPost, oauth.PathToken, body, "Content-Type", "application/json")
}

var describing = regexp.MustCompile(`^[\x20\x21\x23-\x5b\x5d-\x7e]+$`)

// refused is TK08, for every refusal of every test: a JSON object with the
// three members, that nobody keeps.
func refused(t testing.TB, a answer, status int, code oauth.Code) {
	t.Helper()
	require.Equal(t, status, a.Status, a.Body)
	uncached(t, a)
	var m map[string]string
	require.NoError(t, json.Unmarshal([]byte(a.Body), &m), a.Body)
	require.Equal(t, string(code), m["error"], a.Body)
	require.Regexp(t, describing, m["error_description"])
	require.NotEmpty(t, m["error_id"])
	require.Len(t, m, 3, a.Body)
}

func uncached(t testing.TB, a answer) {
	t.Helper()
	require.Equal(t, "application/json", a.Header.Get("Content-Type"))
	require.Equal(t, "no-store", a.Header.Get("Cache-Control"))
	require.Equal(t, "no-cache", a.Header.Get("Pragma"))
	require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"))
}

// sentTo is the query of a redirect to exactly that redirection URI.
func sentTo(t testing.TB, a answer, uri string) url.Values {
	t.Helper()
	require.Equal(t, http.StatusSeeOther, a.Status, a.Body)
	location := a.Header.Get("Location")
	base, query, _ := strings.Cut(location, "?")
	require.Equal(t, uri, base)
	require.NotContains(t, location, "#")
	values, err := url.ParseQuery(query)
	require.NoError(t, err)
	for name, list := range values {
		require.Len(t, list, 1, name)
	}
	return values
}

// namesOf returns the parameters of a query, in any order.
func namesOf[V any](m map[string]V) []string {
	var list []string
	for name := range m {
		list = append(list, name)
	}
	return list
}

// grants counts them all.
func (s *suite) grants() int {
	n := 0
	for range s.s.Issuer.View().Grants() {
		n++
	}
	return n
}

// A clock is the real one, moved by hand.
type clock struct{ ahead atomic.Int64 }

func (c *clock) Now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) forward(d time.Duration) { c.ahead.Add(int64(d)) }

// newClocked is newSuite with a clock to move.
func newClocked(t *testing.T, more ...string) (*suite, *clock) {
	t.Helper()
	c := new(clock)
	text := strings.Join(append([]string{fixtureText}, more...), "\n")
	return suiteOf(t, startTestServer(t, t.TempDir(), text, func(config *server.Config) { config.Now = c.Now })), c
}

// operate runs one of the operators' operations over the node's socket.
func operate[Q, A any](s *suite, o admin.Operation[Q, A], q Q) (A, error) {
	s.t.Helper()
	c, err := admin.NewCaller(filepath.Join(s.dir, "data"))
	require.NoError(s.t, err)
	defer c.Close()
	return o.Call(s.t.Context(), c, q)
}

// operated is operate where it must work.
func operated[Q, A any](s *suite, o admin.Operation[Q, A], q Q) A {
	s.t.Helper()
	a, err := operate(s, o, q)
	require.NoError(s.t, err)
	return a
}

// signer is the server's own signing key, opened as the server opens it: what
// it signs is genuine in all but what it says.
func (s *suite) signer() *keys.Signer {
	s.t.Helper()
	key, err := keys.ReadClusterKey(filepath.Join(s.dir, "data", "cluster.key"))
	require.NoError(s.t, err)
	row := s.s.Issuer.View().ActiveKey(ledger.ForSigning)
	plain, err := key.Open("mintmark/"+string(row.Purpose)+"/"+row.ID, row.Sealed)
	require.NoError(s.t, err)
	signer, err := keys.ParseSigner(plain)
	require.NoError(s.t, err)
	return signer
}

// mint makes a token with the server's key that is good but for the change.
func (s *suite) mint(change func(*credential.AccessClaims)) string {
	s.t.Helper()
	now := time.Now().Unix()
	c := credential.AccessClaims{
		Issuer: s.Base, Audience: s.Base, Subject: "u-alice", ClientID: "cal-app", Scope: "PROFILE_READ BOOKING_READ",
		GrantID: strings.Repeat("0", 32), ID: strings.Repeat("1", 32), IssuedAt: now, ExpiresAt: now + 1800,
	}
	change(&c)
	token, err := credential.MintAccess(s.signer(), c)
	require.NoError(s.t, err)
	return token.Reveal()
}

// loseTheLeader stops the cluster under the running server.
func (s *suite) loseTheLeader() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	require.NoError(s.t, s.s.Node.Close(ctx))
}

// restarted is the same data under a new process, as far as one test can.
func (s *suite) restarted() *suite {
	s.t.Helper()
	dir, listen := s.dir, strings.TrimPrefix(s.Base, "http://")
	s.close()
	text := fixtureText
	ts := startTestServer(s.t, dir, text, func(c *server.Config) { c.Listen = listen })
	return &suite{testServer: ts, t: s.t, alice: &browser{ts, s.alice.client}}
}
