package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/keys"
)

// answered returns the query of the redirect that ends an authorization request, after
// alice has clicked Allow or where the request is refused.
func (s *suite) answered(path string) url.Values { return s.answeredTo("alice", path) }

func (s *suite) answeredTo(user, path string) url.Values {
	s.t.Helper()
	return s.browserOf(user).allow(user, path).Query()
}

// codeFor returns a new authorization code for alice.
func (s *suite) codeFor(path string) string {
	s.t.Helper()
	q := s.answered(path)
	require.NotEmpty(s.t, q.Get("code"), q)
	return q.Get("code")
}

// granted returns the tokens of a new grant of alice.
func (s *suite) granted(path string) tokens { return s.grantedBy("alice", path) }

func (s *suite) grantedBy(user, path string) tokens {
	s.t.Helper()
	u, err := url.Parse(path)
	require.NoError(s.t, err)
	q := u.Query()
	code := s.answeredTo(user, path).Get("code")
	require.NotEmpty(s.t, code)
	var verifier []string
	if q.Get("code_challenge") != "" {
		verifier = []string{"code_verifier", verifierText}
	}
	return tokensOf(s.t, s.exchange(q.Get("client_id"), code, verifier...))
}

// showsPage requires that an authorization request ends on a page, without a redirect and
// without a code.
func (s *suite) showsPage(a answer, status int) {
	s.t.Helper()
	require.Equal(s.t, status, a.Status, a.Body)
	require.Contains(s.t, a.Header.Get("Content-Type"), "text/html")
	require.Empty(s.t, a.Header.Get("Location"))
	require.NotContains(s.t, a.Body, `name="decision"`)
}

// cli returns the command line of this server's operator.
func (s *suite) cli() *testkit.CLI {
	return operatorOf(s.t, filepath.Join(s.dir, "data"))
}

// client returns the JSON that the command line prints for a client.
func (s *suite) client(id string) map[string]any {
	s.t.Helper()
	return s.cli().Object("client", "show", id)
}

// profile returns a valid profile of a client with these scopes.
func profile(scopes ...string) ledger.Profile {
	return ledger.Profile{Name: "Made By Its Owner", RedirectURIs: []string{callback}, Scopes: scopes}
}

// newest returns the secret at the top of the list that the client's owner sees.
func (s *suite) newest(client string) string {
	s.t.Helper()
	return s.s.Issuer.View().Client(client).NewestSecret()
}

// decided returns the cause with which a command was refused.
func (s *suite) decided(c command.Command) ledger.Cause {
	s.t.Helper()
	if r := s.propose(c).Refusal; r != nil {
		return r.Cause
	}
	return ledger.NoCause
}

// code returns a new authorization code of a client for alice.
func (s *suite) code(client string, more ...string) string {
	s.t.Helper()
	code := s.browserOf("alice").allow("alice", good(client, more...)).Query().Get("code")
	require.NotEmpty(s.t, code)
	return code
}

// redeem exchanges a code with a valid request.
func (s *suite) redeem(client, code string) answer {
	s.t.Helper()
	if client == "native-app" {
		return s.exchange(client, code, "code_verifier", verifierText)
	}
	return s.exchange(client, code)
}

// tokens returns the tokens of a new grant of alice.
func (s *suite) tokens(client string) tokens {
	s.t.Helper()
	return tokensOf(s.t, s.redeem(client, s.code(client)))
}

// refreshed returns the tokens of a successful refresh.
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

// oneText is the description of each error code that must not reveal its cause: an
// unauthenticated caller must not learn which clients, secrets, codes and tokens exist.
var oneText = map[oauth.Code]string{
	oauth.InvalidClient:        "Client authentication failed.",
	oauth.UnauthorizedClient:   "The client can not be used now.",
	oauth.InvalidGrant:         "The code or refresh token is not valid for this request.",
	oauth.InvalidScope:         "The scope is unknown, or wider than what was granted.",
	oauth.UnsupportedGrantType: "The grant types are authorization_code and refresh_token.",
}

var errorID = regexp.MustCompile(`"error_id":"mme_[A-Za-z0-9_-]{144}"`)

// exactly compares the body of a refusal byte by byte, except for the value of error_id,
// which always has the same length.
func exactly(t testing.TB, a answer, code oauth.Code, text string) {
	t.Helper()
	require.Equal(t, `{"error":"`+string(code)+`","error_description":"`+text+`","error_id":"…"}`, errorID.ReplaceAllString(a.Body, `"error_id":"…"`))
}

// refused verifies TK08, which every refusal in the tests must satisfy: a JSON object
// with the three members, not cacheable.
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
	if text, ok := oneText[code]; ok {
		exactly(t, a, code, text)
		require.Empty(t, a.Header.Values("Retry-After"))
	}
}

func uncached(t testing.TB, a answer) {
	t.Helper()
	require.Equal(t, "application/json", a.Header.Get("Content-Type"))
	require.Equal(t, "no-store", a.Header.Get("Cache-Control"))
	require.Equal(t, "no-cache", a.Header.Get("Pragma"))
	require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"))
}

// sentTo returns the query of a redirect to exactly that redirection URI.
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

// grants returns the number of grants.
func (s *suite) grants() int {
	n := 0
	for range s.s.Issuer.View().Grants() {
		n++
	}
	return n
}

// operate runs an operator's operation over the node's socket.
func operate[Q, A any](s *suite, o admin.Operation[Q, A], q Q) (A, error) {
	s.t.Helper()
	c, err := admin.NewCaller(filepath.Join(s.dir, "data"))
	require.NoError(s.t, err)
	defer c.Close()
	return o.Call(s.t.Context(), c, q)
}

// operated is operate for an operation that must succeed.
func operated[Q, A any](s *suite, o admin.Operation[Q, A], q Q) A {
	s.t.Helper()
	a, err := operate(s, o, q)
	require.NoError(s.t, err)
	return a
}

// signer returns the server's own signing key, opened as the server opens it. Its tokens
// are genuine except for the claims that a test changes.
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

// mint returns a token signed with the server's key and valid except for the change.
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

// loseTheLeader stops the cluster node under the running server.
func (s *suite) loseTheLeader() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	require.NoError(s.t, s.s.Node.Close(ctx))
}

// restarted returns a server started again on the same data.
func (s *suite) restarted() *suite {
	s.t.Helper()
	dir, listen := s.dir, strings.TrimPrefix(s.Base, "http://")
	s.close()
	text := fixtureText
	ts := startTestServer(s.t, dir, text, func(c *server.Config) { c.Listen = listen })
	return &suite{ts, s.t, s.people}
}

// altered returns a token that differs from it in one character, never the same one by
// chance.
func altered(token string) string {
	b := []byte(token)
	i := len(b) - 10 // within the MAC of a refresh token, and the signature of an access token
	if b[i] == 'A' {
		b[i] = 'B'
	} else {
		b[i] = 'A'
	}
	return string(b)
}
