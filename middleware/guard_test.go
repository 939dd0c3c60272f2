package middleware_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/verifier"
)

// who answers with the token's user, or "nobody" without claims.
var who = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	if claims, ok := middleware.FromContext(r.Context()); ok {
		io.WriteString(w, claims.Subject())
		return
	}
	io.WriteString(w, "nobody")
})

// request returns a GET request with the given Authorization headers.
func request(authorization ...string) *http.Request {
	r := httptest.NewRequest("GET", "/v2/x", nil)
	r.Header["Authorization"] = authorization
	if len(authorization) == 0 {
		r.Header.Del("Authorization")
	}
	return r
}

func do(h http.Handler, r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t testing.TB, res *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(text)
}

// TestConformance has one subtest for each statement about resource servers;
// rows of a statement share its number.
func TestConformance(t *testing.T) {
	issuer := newIssuer()
	defer issuer.Close()
	other := newIssuer()
	defer other.Close()
	g := middleware.New(issuer.verifier(), middleware.Config{})
	scoped := g.Require("BOOKING_READ")(who)
	team := g.Require("TEAM_BOOKING_READ")(who)
	both := g.Require("BOOKING_READ", "PROFILE_READ")(who)
	public := g.Optional()(who)

	good := "Bearer " + issuer.token("BOOKING_READ", nil)
	legacy := "Bearer " + issuer.token("", map[string]any{"legacy": true})
	past := time.Now().Unix() - 3600
	tests := []struct {
		name   string
		h      http.Handler
		header []string
		status int
		code   string // in the challenge and the body
		body   string // of an accepted request
		scope  string // in the challenge
	}{
		{name: "RS01_no_token", h: scoped, status: 401},
		{name: "RS01_other_scheme", h: scoped, header: []string{"Basic YTpi"}, status: 401},
		{name: "RS01_scheme_that_starts_alike", h: scoped, header: []string{"BearerX abc"}, status: 401},
		{name: "RS01_empty_header", h: scoped, header: []string{""}, status: 401},
		{name: "RS02_one_word", h: scoped, header: []string{"Bearer x"}, status: 401, code: "invalid_token"},
		{name: "RS02_odd_word", h: scoped, header: []string{`Bearer "<script>",`}, status: 401, code: "invalid_token"},
		{name: "RS02_three_parts", h: scoped, header: []string{"Bearer a.b.c"}, status: 401, code: "invalid_token"},
		{name: "RS02_of_another_issuer", h: scoped, header: []string{"Bearer " + other.token("BOOKING_READ", nil)}, status: 401, code: "invalid_token"},
		{name: "RS02_for_another_audience", h: scoped, header: []string{"Bearer " + issuer.token("BOOKING_READ", map[string]any{"aud": "x"})}, status: 401, code: "invalid_token"},
		{name: "RS02_tampered", h: scoped, header: []string{good[:len(good)-8] + "AAAAAAAA"}, status: 401, code: "invalid_token"},
		{name: "RS03_expired", h: scoped, header: []string{"Bearer " + issuer.token("BOOKING_READ", map[string]any{"iat": past, "exp": past + 1800})}, status: 401, code: "invalid_token"},
		{name: "RS04_without_the_scope", h: scoped, header: []string{"Bearer " + issuer.token("PROFILE_READ", nil)}, status: 403, code: "insufficient_scope", scope: "BOOKING_READ"},
		{name: "RS04_without_any_scope", h: scoped, header: []string{"Bearer " + issuer.token("", nil)}, status: 403, code: "insufficient_scope", scope: "BOOKING_READ"},
		{name: "RS04_one_of_two", h: both, header: []string{good}, status: 403, code: "insufficient_scope", scope: "BOOKING_READ PROFILE_READ"},
		{name: "RS04_two_of_two", h: both, header: []string{"Bearer " + issuer.token("PROFILE_READ BOOKING_READ", nil)}, status: 200, body: "user-1"},
		{name: "RS04_write_is_not_read", h: scoped, header: []string{"Bearer " + issuer.token("BOOKING_WRITE", nil)}, status: 403, code: "insufficient_scope", scope: "BOOKING_READ"},
		{name: "RS07_Bearer", h: scoped, header: []string{good}, status: 200, body: "user-1"},
		{name: "RS07_bearer", h: scoped, header: []string{"b" + good[1:]}, status: 200, body: "user-1"},
		{name: "RS07_BEARER", h: scoped, header: []string{"BEARER" + good[6:]}, status: 200, body: "user-1"},
		{name: "RS07_bEaReR", h: scoped, header: []string{"bEaReR" + good[6:]}, status: 200, body: "user-1"},
		{name: "RS07_several_spaces", h: scoped, header: []string{"Bearer  " + good[6:]}, status: 200, body: "user-1"},
		{name: "RS09_nothing", h: scoped, header: []string{"Bearer"}, status: 400, code: "invalid_request"},
		{name: "RS09_spaces", h: scoped, header: []string{"Bearer  "}, status: 400, code: "invalid_request"},
		{name: "RS09_two_words", h: scoped, header: []string{"Bearer a b"}, status: 400, code: "invalid_request"},
		{name: "RS09_good_token_and_a_word", h: scoped, header: []string{good + " x"}, status: 400, code: "invalid_request"},
		{name: "RS09_tab", h: scoped, header: []string{"Bearer\t" + good[7:]}, status: 400, code: "invalid_request"},
		{name: "RS09_two_headers", h: scoped, header: []string{good, good}, status: 400, code: "invalid_request"},
		{name: "RS09_two_schemes", h: scoped, header: []string{"Basic YTpi", good}, status: 400, code: "invalid_request"},
		{name: "RS09_merged_headers", h: scoped, header: []string{good + ", " + good}, status: 400, code: "invalid_request"},
		{name: "RS10_org_on_team_route", h: team, header: []string{"Bearer " + issuer.token("ORG_BOOKING_READ", nil)}, status: 200, body: "user-1"},
		{name: "RS10_team_on_team_route", h: team, header: []string{"Bearer " + issuer.token("TEAM_BOOKING_READ", nil)}, status: 200, body: "user-1"},
		{name: "RS12_legacy", h: scoped, header: []string{legacy}, status: 200, body: "user-1"},
		{name: "RS12_legacy_on_team_route", h: team, header: []string{legacy}, status: 200, body: "user-1"},
		{name: "RS13_public_without_token", h: public, status: 200, body: "nobody"},
		{name: "RS13_public_with_token", h: public, header: []string{good}, status: 200, body: "user-1"},
		{name: "RS13_public_with_token_without_scope", h: public, header: []string{"Bearer " + issuer.token("", nil)}, status: 200, body: "user-1"},
		{name: "RS13_public_with_other_scheme", h: public, header: []string{"Basic YTpi"}, status: 200, body: "nobody"},
		{name: "RS13_public_with_bad_token", h: public, header: []string{"Bearer x"}, status: 401, code: "invalid_token"},
		{name: "RS13_public_with_two_tokens", h: public, header: []string{good, good}, status: 400, code: "invalid_request"},
		{name: "RS15_user_scope_on_team_route", h: team, header: []string{good}, status: 403, code: "insufficient_scope", scope: "TEAM_BOOKING_READ"},
		{name: "RS15_longer_name", h: scoped, header: []string{"Bearer " + issuer.token("BOOKING_READ_X", nil)}, status: 403, code: "insufficient_scope", scope: "BOOKING_READ"},
		{name: "RS15_prefixed_name", h: scoped, header: []string{"Bearer " + issuer.token("XBOOKING_READ", nil)}, status: 403, code: "insufficient_scope", scope: "BOOKING_READ"},
		{name: "CG17_a_code_is_no_token", h: scoped, header: []string{"Bearer mmc_AbCdEf0123456789"}, status: 401, code: "invalid_token"},
		{name: "JB24_64_KiB", h: scoped, header: []string{"Bearer " + strings.Repeat("a", 64<<10)}, status: 401, code: "invalid_token"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := do(tt.h, request(tt.header...))
			require.Equal(t, tt.status, res.StatusCode)
			if tt.status == 200 {
				assert.Equal(t, tt.body, body(t, res))
				assert.Empty(t, res.Header.Get("WWW-Authenticate"))
				return
			}
			assert.Equal(t, "no-store", res.Header.Get("Cache-Control"))
			challenge := readChallenge(t, res)
			if tt.code == "" {
				assert.Equal(t, "Bearer", res.Header.Get("WWW-Authenticate"))
				assert.Empty(t, body(t, res))
				return
			}
			assert.Equal(t, tt.code, challenge["error"])
			assert.Equal(t, tt.scope, challenge["scope"])
			assert.Equal(t, "application/json", res.Header.Get("Content-Type"))
			var text map[string]string
			require.NoError(t, json.Unmarshal([]byte(body(t, res)), &text))
			assert.Equal(t, challenge, text, "body and challenge have the same members")
		})
	}
}

var parameter = regexp.MustCompile(`^(realm|error|error_description|scope|resource_metadata)="([\x20\x21\x23-\x5b\x5d-\x7e]+)"$`)

// readChallenge checks RS17: one challenge, each attribute once, with values of the
// characters of RFC 6750 §3.
func readChallenge(t testing.TB, res *http.Response) map[string]string {
	t.Helper()
	values := res.Header.Values("WWW-Authenticate")
	require.Len(t, values, 1)
	scheme, rest, _ := strings.Cut(values[0], " ")
	require.Equal(t, "Bearer", scheme)
	found := map[string]string{}
	if rest == "" {
		return found
	}
	for _, p := range strings.Split(rest, ", ") {
		m := parameter.FindStringSubmatch(p)
		require.NotNil(t, m, "parameter %q", p)
		require.NotContains(t, found, m[1], "attribute twice")
		found[m[1]] = m[2]
	}
	return found
}

// RS05: a token in the query is ignored, with and without a header.
func TestConformance_RS05_token_in_the_query(t *testing.T) {
	issuer := newIssuer()
	defer issuer.Close()
	h := middleware.New(issuer.verifier(), middleware.Config{}).Require("BOOKING_READ")(who)
	token := issuer.token("BOOKING_READ", nil)

	r := httptest.NewRequest("GET", "/v2/x?access_token="+token, nil)
	res := do(h, r)
	assert.Equal(t, 401, res.StatusCode)
	assert.Equal(t, "Bearer", res.Header.Get("WWW-Authenticate"))

	r = httptest.NewRequest("POST", "/v2/x", strings.NewReader("access_token="+token))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	assert.Equal(t, 401, do(h, r).StatusCode, "a token in a form is ignored too")

	r = httptest.NewRequest("GET", "/v2/x?access_token=bad", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	assert.Equal(t, 200, do(h, r).StatusCode)
}

func TestConformance_RS17_realm_and_metadata(t *testing.T) {
	issuer := newIssuer()
	defer issuer.Close()
	g := middleware.New(issuer.verifier(), middleware.Config{
		Realm: "scheduling", ResourceMetadata: audience + "/.well-known/oauth-protected-resource",
	})
	h := g.Require("BOOKING_READ")(who)

	res := do(h, request())
	assert.Equal(t, `Bearer realm="scheduling", resource_metadata="https://api.example.com/.well-known/oauth-protected-resource"`,
		res.Header.Get("WWW-Authenticate"))
	challenge := readChallenge(t, do(h, request("Bearer "+issuer.token("", nil))))
	assert.Equal(t, "scheduling", challenge["realm"])
	assert.Equal(t, "insufficient_scope", challenge["error"])
	assert.Equal(t, "BOOKING_READ", challenge["scope"])
	assert.Equal(t, audience+"/.well-known/oauth-protected-resource", challenge["resource_metadata"])
}

// A 401 names the scopes to ask for first (RFC 6750 §3). A 403 names the missing ones and where
// to ask for them (RFC 6750 §3.1, RFC 9728 §5.1).
func TestChallengeScopes(t *testing.T) {
	issuer := newIssuer()
	defer issuer.Close()
	const metadata = audience + "/.well-known/oauth-protected-resource"
	g := middleware.New(issuer.verifier(), middleware.Config{
		ResourceMetadata: metadata, ChallengeScopes: []string{"BOOKING_READ", "PROFILE_READ"},
	})
	h := g.Require("BOOKING_WRITE")(who)
	for name, r := range map[string]*http.Request{
		"no token": request(), "an expired token": request("Bearer " + issuer.token("BOOKING_WRITE", map[string]any{"exp": 1})), "a bad token": request("Bearer a.b.c"),
	} {
		res := do(h, r)
		assert.Equal(t, 401, res.StatusCode, name)
		challenge := readChallenge(t, res)
		assert.Equal(t, "BOOKING_READ PROFILE_READ", challenge["scope"], name)
		assert.Equal(t, metadata, challenge["resource_metadata"], name)
	}
	for name, handler := range map[string]http.Handler{
		"a route": h,
		"a handler's own check": g.Require("BOOKING_READ")(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			g.Refuse(w, middleware.InsufficientScope("BOOKING_WRITE"))
		})),
	} {
		res := do(handler, request("Bearer "+issuer.token("BOOKING_READ", nil)))
		assert.Equal(t, 403, res.StatusCode, name)
		challenge := readChallenge(t, res)
		assert.Equal(t, "insufficient_scope", challenge["error"], name)
		assert.Equal(t, "BOOKING_WRITE", challenge["scope"], name)
		assert.Equal(t, metadata, challenge["resource_metadata"], name)
	}
	res := do(h, request("Bearer a b"))
	assert.Equal(t, 400, res.StatusCode)
	assert.NotContains(t, readChallenge(t, res), "scope", "another token would not help")
}

// Over the wire: HEAD gets headers and no body; while the issuer is down, known keys are
// used, and a verifier without keys answers 503.
func TestGuardOverTheWire(t *testing.T) {
	issuer := newIssuer()
	v := issuer.verifier()
	g := middleware.New(v, middleware.Config{})
	server := httptest.NewServer(g.Require("BOOKING_READ")(who))
	defer server.Close()

	ask := func(method, url, authorization string) *http.Response {
		r, err := http.NewRequest(method, url, nil)
		require.NoError(t, err)
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		t.Cleanup(func() { res.Body.Close() })
		return res
	}
	good := "Bearer " + issuer.token("BOOKING_READ", nil)

	for _, method := range []string{"GET", "HEAD", "POST", "DELETE"} {
		assert.Equal(t, 200, ask(method, server.URL, good).StatusCode, method)
		res := ask(method, server.URL, "Bearer x")
		assert.Equal(t, 401, res.StatusCode, method)
		assert.Equal(t, "invalid_token", readChallenge(t, res)["error"], method)
		assert.Equal(t, method == "HEAD", body(t, res) == "", method)
		assert.Equal(t, 401, ask(method, server.URL, "").StatusCode, method)
	}

	issuer.Close()
	assert.Equal(t, 200, ask("GET", server.URL, good).StatusCode, "a known key")
	assert.Equal(t, 200, ask("GET", server.URL, "Bearer "+issuer.token("BOOKING_READ", nil)).StatusCode, "a new token of a known key")
	assert.Equal(t, 401, ask("GET", server.URL, "Bearer x").StatusCode)

	late := httptest.NewServer(middleware.New(issuer.verifier(), middleware.Config{}).Require("BOOKING_READ")(who))
	defer late.Close()
	res := ask("GET", late.URL, good)
	assert.Equal(t, 503, res.StatusCode)
	assert.NotEmpty(t, res.Header.Get("Retry-After"))
	assert.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	assert.Empty(t, res.Header.Values("WWW-Authenticate"), "no challenge: the token may be valid")
	assert.Contains(t, body(t, res), `"error":"temporarily_unavailable"`)
	assert.Equal(t, 401, ask("GET", late.URL, "").StatusCode, "needs no keys")
}

// Neither responses nor logs contain any part of a token, with keys, when every check
// runs, and without.
func TestNothingOfTheTokenIsRepeated(t *testing.T) {
	for name, wantLog := range map[string][]string{
		"issuer up":   {"malformed", "unknown_key", "issuer", "expired", "insufficient_scope", "more than one"},
		"issuer down": {"malformed", "keys_unavailable", "more than one"},
	} {
		t.Run(name, func(t *testing.T) {
			issuer := newIssuer()
			defer issuer.Close()
			if name == "issuer down" {
				issuer.Close()
			}
			var log bytes.Buffer
			logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				refusal, is := a.Value.Any().(*verifier.Error)
				assert.False(t, is, "another handler may print the claims of %v", refusal)
				return a
			}}))
			mux := http.NewServeMux()
			g := middleware.New(issuer.verifier(), middleware.Config{Logger: logger})
			mux.Handle("GET /v2/{rest...}", g.Require("BOOKING_READ")(who))

			const marker = "TOPSECRETMARKER"
			marked := map[string]any{"sub": marker, "jti": marker, "client_id": marker, "scope": marker}
			with := func(name string, value any) map[string]any {
				c := maps.Clone(marked)
				c[name] = value
				return c
			}
			tokens := []string{
				marker,
				marker + " " + marker,
				issuer.token("", marked),
				issuer.token("", with("iss", marker)),
				issuer.token("", with("aud", marker)),
				issuer.token("", with("iat", marker)),
				issuer.sign(map[string]any{"alg": "ES256", "kid": marker, "typ": "at+jwt"}, marked),
				issuer.sign(map[string]any{"alg": marker, "kid": "key-1", "typ": "at+jwt"}, marked),
				issuer.token("", with("exp", 2)),
			}
			expired := with("exp", time.Now().Unix()-60)
			expired["iat"] = time.Now().Unix() - 120
			tokens = append(tokens, issuer.token("", expired))

			for _, token := range tokens {
				for _, authorization := range [][]string{{"Bearer " + token}, {"Bearer " + token, "Bearer " + token}} {
					r := request(authorization...)
					r.URL.Path, r.URL.RawQuery = "/v2/"+marker, "access_token="+marker
					res := do(mux, r)
					assert.GreaterOrEqual(t, res.StatusCode, 400)
					var answer bytes.Buffer
					require.NoError(t, res.Write(&answer))
					for _, text := range []string{answer.String(), log.String()} {
						assert.NotContains(t, text, marker)
						for _, piece := range strings.FieldsFunc(token, func(r rune) bool { return r == '.' || r == ' ' }) {
							assert.NotContains(t, text, piece)
						}
					}
				}
			}
			for _, want := range wantLog {
				assert.Contains(t, log.String(), want)
			}
		})
	}
}

func TestConstructionRefusesMistakes(t *testing.T) {
	issuer := newIssuer()
	defer issuer.Close()
	v := issuer.verifier()
	g := middleware.New(v, middleware.Config{})
	tests := []struct {
		name string
		make func()
	}{
		{"no verifier", func() { middleware.New(nil, middleware.Config{}) }},
		{"quote in realm", func() { middleware.New(v, middleware.Config{Realm: `a"b`}) }},
		{"line break in metadata", func() { middleware.New(v, middleware.Config{ResourceMetadata: "https://a\r\nb"}) }},
		{"unknown scope in challenges", func() { middleware.New(v, middleware.Config{ChallengeScopes: []string{"offline_access"}}) }},
		{"refusal without a scope", func() { middleware.InsufficientScope() }},
		{"refusal with an unknown scope", func() { middleware.InsufficientScope("offline_access") }},
		{"no policy", func() { g.Enforce(nil) }},
		{"any of no scopes", func() { g.RequireAny() }},
		{"any with an unknown scope", func() { g.RequireAny("BOOKING_READ", "BOOKINGS_READ") }},
		{"no scope", func() { g.Require() }},
		{"empty scope", func() { g.Require("") }},
		{"unknown scope", func() { g.Require("BOOKING_READ", "BOOKINGS_READ") }},
		{"two scopes in one string", func() { g.Require("BOOKING_READ PROFILE_READ") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Panics(t, tt.make) })
	}
}

func TestContext(t *testing.T) {
	_, ok := middleware.FromContext(t.Context())
	assert.False(t, ok)
	_, ok = middleware.FromContext(middleware.NewContext(t.Context(), nil))
	assert.False(t, ok, "nil claims count as none")
	want := new(verifier.Claims)
	got, ok := middleware.FromContext(middleware.NewContext(t.Context(), want))
	assert.True(t, ok)
	assert.Same(t, want, got)
}
