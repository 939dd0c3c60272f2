package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/dev"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// A testServer is the server of "mintmark dev" in this process, with the same wiring, a
// real log on disk and real HTTP.
type testServer struct {
	t   testing.TB
	s   *server.Server
	dir string

	Base, App, Ops string
}

// fixtureText has the users and clients of most tests. Each client has a secret that is
// its id followed by "-secret".
const fixtureText = `
users:
  - {id: u-alice, username: alice, email: alice@example.com, name: Alice Example, password: "correct horse", time_zone: Europe/London}
  - {id: u-bob, username: bob, email: bob@example.com, name: Bob Example, password: "battery staple"}
  - {id: u-admin, username: admin, password: "admin password", admin: true}
clients:
  - id: cal-app
    name: Calendar App
    owner: alice
    redirect_uris: ["http://127.0.0.1:9999/callback", "https://cal.example/callback"]
    scopes: [PROFILE_READ, BOOKING_READ, BOOKING_WRITE, ORG_PROFILE_READ]
    secrets: [cal-app-secret, mms_second-secret-of-cal-app-as-if-it-were-ranA]
    revoked_secrets: [old-secret]
  - {id: other-app, name: Other App, owner: bob, redirect_uris: ["http://127.0.0.1:9999/callback"], scopes: [PROFILE_READ, BOOKING_READ], secrets: [other-app-secret]}
  - {id: native-app, name: Native App, owner: alice, type: public, redirect_uris: ["http://127.0.0.1/callback"], scopes: [PROFILE_READ, BOOKING_READ]}
  - {id: pending-app, name: Pending App, owner: alice, redirect_uris: ["http://127.0.0.1:9999/callback"], scopes: [PROFILE_READ], secrets: [pending-app-secret], state: pending}
  - {id: rejected-app, name: Rejected App, owner: alice, redirect_uris: ["http://127.0.0.1:9999/callback"], scopes: [PROFILE_READ], secrets: [rejected-app-secret], state: rejected}
  - {id: suspended-app, name: Suspended App, owner: alice, redirect_uris: ["http://127.0.0.1:9999/callback"], scopes: [PROFILE_READ], secrets: [suspended-app-secret], state: suspended}
  - {id: legacy-app, name: Legacy App, owner: alice, redirect_uris: ["http://127.0.0.1:9999/callback"], secrets: [legacy-app-secret], legacy: true}
`

// generatedSecret is the second secret of cal-app. Unlike the others, it has the format
// of a generated secret.
const generatedSecret = "mms_second-secret-of-cal-app-as-if-it-were-ranA"

const callback = "http://127.0.0.1:9999/callback"

// newTestServer starts a server with the fixtures above, or with others.
func newTestServer(t testing.TB, fixtures ...string) *testServer {
	t.Helper()
	text := fixtureText
	if len(fixtures) > 0 {
		text = strings.Join(fixtures, "\n")
	}
	return startTestServer(t, t.TempDir(), text)
}

// startTestServer starts a server on a folder that may have data. change is applied to
// the configuration last.
func startTestServer(t testing.TB, dir, fixtures string, change ...func(*server.Config)) *testServer {
	t.Helper()
	file := filepath.Join(dir, "fixtures.yaml")
	require.NoError(t, os.WriteFile(file, []byte(fixtures), 0o600))
	o := dev.Options{
		Listen: "127.0.0.1:0", OpsListen: "127.0.0.1:0",
		DataDir: filepath.Join(dir, "data"), Fixtures: file,
	}
	c, err := o.Config(io.Discard)
	require.NoError(t, err)
	for _, f := range change {
		f(&c)
	}
	s, err := server.Start(t.Context(), c)
	require.NoError(t, err)
	ts := &testServer{t: t, s: s, dir: dir, Base: s.Settings.BaseURL, App: s.Settings.AppURL, Ops: "http://" + s.OpsAddr.String()}
	t.Cleanup(ts.close)
	return ts
}

func (ts *testServer) close() {
	if ts.s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(ts.t, ts.s.Close(ctx))
	ts.s = nil
}

// propose proposes a command as an operator.
func (ts *testServer) propose(c command.Command) ledger.Outcome {
	ts.t.Helper()
	o, _, err := ts.s.Issuer.Propose(ts.t.Context(), c)
	require.NoError(ts.t, err)
	return o
}

type answer = testkit.Answer

// noRedirects returns a client that does not follow redirects.
func noRedirects(jar http.CookieJar) *http.Client {
	return &http.Client{
		Jar:           jar,
		Timeout:       20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func do(t testing.TB, c *http.Client, r *http.Request) answer {
	t.Helper()
	a, err := testkit.Send(c, r)
	require.NoError(t, err)
	return a
}

// request sends one request without cookies. Headers are pairs.
func (ts *testServer) request(method, path, body string, headers ...string) answer {
	ts.t.Helper()
	if strings.HasPrefix(path, "/") {
		path = ts.Base + path
	}
	r, err := http.NewRequestWithContext(ts.t.Context(), method, path, strings.NewReader(body))
	require.NoError(ts.t, err)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return do(ts.t, noRedirects(nil), r)
}

// form posts a form to the token endpoint: pairs of name and value.
func (ts *testServer) form(pairs ...string) answer {
	ts.t.Helper()
	return ts.request(http.MethodPost, oauth.PathToken, encode(pairs...), "Content-Type", "application/x-www-form-urlencoded")
}

// basicForm is form with HTTP Basic credentials.
func (ts *testServer) basicForm(id, secret string, pairs ...string) answer {
	ts.t.Helper()
	return ts.request(http.MethodPost, oauth.PathToken, encode(pairs...),
		"Content-Type", "application/x-www-form-urlencoded", "Authorization", basicAuth(id, secret))
}

func basicAuth(id, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(id)+":"+url.QueryEscape(secret)))
}

func encode(pairs ...string) string {
	var list []string
	for i := 0; i+1 < len(pairs); i += 2 {
		list = append(list, url.QueryEscape(pairs[i])+"="+url.QueryEscape(pairs[i+1]))
	}
	return strings.Join(list, "&")
}

type tokens = testkit.Tokens

func tokensOf(t testing.TB, a answer) tokens {
	t.Helper()
	tokens, err := a.Tokens()
	require.NoError(t, err)
	require.Contains(t, a.JSON(t), "scope")
	return tokens
}

// exchange and refresh send valid requests of a client whose secret is its id followed by
// "-secret". A public client has no secret.
func (ts *testServer) exchange(client, code string, more ...string) answer {
	ts.t.Helper()
	pairs := append([]string{"grant_type", "authorization_code", "code", code, "redirect_uri", callback}, credentials(client)...)
	return ts.form(append(pairs, more...)...)
}

func (ts *testServer) refresh(client, token string, more ...string) answer {
	ts.t.Helper()
	pairs := append([]string{"grant_type", "refresh_token", "refresh_token", token}, credentials(client)...)
	return ts.form(append(pairs, more...)...)
}

func credentials(client string) []string {
	if client == "native-app" {
		return []string{"client_id", client}
	}
	return []string{"client_id", client, "client_secret", client + "-secret"}
}

// me calls GET /v2/me.
func (ts *testServer) me(token string) answer {
	ts.t.Helper()
	return ts.request(http.MethodGet, oauth.PathMe, "", "Authorization", "Bearer "+token)
}

// claimsOf returns the claims of a token without verifying it.
func claimsOf(t testing.TB, token string) map[string]any {
	t.Helper()
	parts := strings.Split(token, ".")
	require.Len(t, parts, 3)
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(text, &m))
	return m
}

// A browser keeps cookies and submits forms.
type browser struct {
	ts     *testServer
	client *http.Client
}

func (ts *testServer) browser() *browser {
	jar, err := cookiejar.New(nil)
	require.NoError(ts.t, err)
	return &browser{ts, noRedirects(jar)}
}

func (b *browser) get(address string) answer {
	b.ts.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = b.ts.App + address
	}
	r, err := http.NewRequestWithContext(b.ts.t.Context(), http.MethodGet, address, nil)
	require.NoError(b.ts.t, err)
	return do(b.ts.t, b.client, r)
}

// submit posts the form of a page that contains a button or field of that name, with its
// hidden fields and the given values: pairs of name and value.
func (b *browser) submit(page answer, holding string, fill ...string) answer {
	b.ts.t.Helper()
	action, fields := formOf(b.ts.t, page.Body, holding)
	for i := 0; i+1 < len(fill); i += 2 {
		fields.Set(fill[i], fill[i+1])
	}
	a, err := testkit.SendForm(b.ts.t.Context(), b.client, http.MethodPost, b.ts.App+action, fields, "Origin", b.ts.App, "Sec-Fetch-Site", "same-origin",
		"User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
	require.NoError(b.ts.t, err)
	return a
}

func formOf(t testing.TB, page, holding string) (action string, fields url.Values) {
	t.Helper()
	action, fields, found := testkit.Form(page, holding)
	require.True(t, found, "no form holds %q in %s", holding, page)
	return action, fields
}

var passwords = map[string]string{"alice": "correct horse", "bob": "battery staple", "admin": "admin password"}

// authorizePath is the authorization request as a path: pairs of name and
// value.
func authorizePath(pairs ...string) string { return oauth.PathAuthorize + "?" + encode(pairs...) }

// consent opens an authorization request and signs in if asked. It returns the consent
// page, or the redirect that came instead.
func (b *browser) consent(user, path string) answer {
	b.ts.t.Helper()
	page := b.get(path)
	if page.Status != http.StatusOK || !strings.Contains(page.Body, `name="password"`) {
		return page
	}
	in := b.submit(page, "password", "username", user, "password", passwords[user])
	require.Equal(b.ts.t, http.StatusSeeOther, in.Status, in.Body)
	return b.get(in.Header.Get("Location"))
}

// allow goes through the whole authorization step as user and returns where
// the browser was sent.
func (b *browser) allow(user, path string) *url.URL {
	b.ts.t.Helper()
	page := b.consent(user, path)
	if page.Status == http.StatusOK {
		page = b.submit(page, "decision", "decision", "allow")
	}
	require.Equal(b.ts.t, http.StatusSeeOther, page.Status, page.Body)
	to, err := url.Parse(page.Header.Get("Location"))
	require.NoError(b.ts.t, err)
	return to
}

// good returns the path of a valid authorization request of a client.
func good(client string, more ...string) string {
	pairs := []string{"client_id", client, "redirect_uri", callback, "state", "a-state"}
	switch client {
	case "legacy-app":
	default:
		pairs = append(pairs, "scope", "PROFILE_READ BOOKING_READ")
	}
	if client == "native-app" {
		pairs[3] = "http://127.0.0.1:9999/callback"
		pairs = append(pairs, "code_challenge", challenge(verifierText), "code_challenge_method", "S256")
	}
	return authorizePath(append(pairs, more...)...)
}

const verifierText = "a-code-verifier-of-more-than-forty-three-characters"

func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// code returns a new authorization code of a client for alice.
func (ts *testServer) code(client string, more ...string) string {
	ts.t.Helper()
	to := ts.browser().allow("alice", good(client, more...))
	code := to.Query().Get("code")
	require.NotEmpty(ts.t, code, to)
	return code
}

// tokens runs a whole flow, from the sign-in to the token response.
func (ts *testServer) tokens(client string) tokens {
	ts.t.Helper()
	var more []string
	if client == "native-app" {
		more = []string{"code_verifier", verifierText}
	}
	return tokensOf(ts.t, ts.exchange(client, ts.code(client), more...))
}

// scrape returns the text of /metrics.
func (ts *testServer) scrape() string {
	ts.t.Helper()
	w := httptest.NewRecorder()
	ts.s.Metrics.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(ts.t, http.StatusOK, w.Code, w.Body)
	return w.Body.String()
}
