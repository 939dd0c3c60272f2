package middleware_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

const rules = `
GET    /v2/bookings          BOOKING_READ
POST   /v2/bookings          PUBLIC
GET    /v2/teams/:teamId     TEAM_PROFILE_READ
PUT    /v2/teams/:teamId     CLOSED
GET    /v2/slots/:teamId     PUBLIC
`

// newPolicy makes a policy of the rules; user-1 is in team 1, and the membership of team
// 3 is unavailable.
func newPolicy(t testing.TB) *policy.Policy {
	t.Helper()
	table, err := policy.Load(strings.NewReader(rules))
	require.NoError(t, err)
	p, err := policy.New(table, policy.Config{Member: func(_ context.Context, token *verifier.Claims, kind policy.Kind, id string) (bool, error) {
		if id == "3" {
			return true, errors.New("database is away")
		}
		return kind == policy.Team && id == "1" && token.Subject() == "user-1", nil
	}})
	require.NoError(t, err)
	return p
}

func TestEnforce(t *testing.T) {
	issuer := newIssuer()
	defer issuer.Close()
	var log bytes.Buffer
	g := middleware.New(issuer.verifier(), middleware.Config{
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	h := g.Enforce(newPolicy(t))(who)

	own := issuer.token("BOOKING_READ", nil)
	team := issuer.token("TEAM_PROFILE_READ", nil)
	other := issuer.token("TEAM_PROFILE_READ", map[string]any{"sub": "user-2"})
	legacy := issuer.token("", map[string]any{"legacy": true})
	foreign := issuer.token("", map[string]any{"legacy": true, "sub": "user-2"})
	tests := []struct {
		name, method, target, token string
		status                      int
		code, scope                 string // in the body, and in a challenge
		body                        string // of an accepted request
		silent                      bool   // no challenge: no other token would help
	}{
		{name: "the scope", method: "GET", target: "/v2/bookings", token: own, status: 200, body: "user-1"},
		{name: "HEAD", method: "HEAD", target: "/v2/bookings", token: own, status: 200, body: "user-1"},
		{name: "no token", method: "GET", target: "/v2/bookings", status: 401},
		{name: "bad token", method: "GET", target: "/v2/bookings", token: "x", status: 401, code: "invalid_token"},
		{name: "two words", method: "GET", target: "/v2/bookings", token: "x y", status: 400, code: "invalid_request"},
		{name: "another scope", method: "GET", target: "/v2/bookings", token: team, status: 403, code: "insufficient_scope", scope: "BOOKING_READ"},
		{name: "legacy", method: "GET", target: "/v2/bookings", token: legacy, status: 200, body: "user-1"},

		{name: "public", method: "POST", target: "/v2/bookings", status: 200, body: "nobody"},
		{name: "public, token", method: "POST", target: "/v2/bookings", token: team, status: 200, body: "user-1"},
		{name: "public, bad token", method: "POST", target: "/v2/bookings", token: "x", status: 401, code: "invalid_token"},
		{name: "public team", method: "GET", target: "/v2/slots/2", token: own, status: 200, body: "user-1"},

		{name: "not listed", method: "GET", target: "/v2/other", token: own, status: 403, code: "insufficient_scope"},
		{name: "not listed, no token", method: "GET", target: "/v2/other", status: 401},
		{name: "not listed, legacy", method: "GET", target: "/v2/other", token: legacy, status: 200, body: "user-1"},
		{name: "not listed, below a team", method: "GET", target: "/v2/teams/1/x/y", token: team, status: 403, code: "insufficient_scope"},
		{name: "not listed, below a team, legacy", method: "GET", target: "/v2/teams/1/x/y", token: legacy, status: 200, body: "user-1"},
		{name: "not listed, below a team, legacy of a stranger", method: "GET", target: "/v2/teams/1/x/y", token: foreign, status: 403, code: "access_denied", silent: true},
		{name: "not listed, below a team, membership unknown", method: "GET", target: "/v2/teams/3/x", token: legacy, status: 503, code: "temporarily_unavailable", silent: true},
		{name: "other method of a team, legacy of a stranger", method: "DELETE", target: "/v2/teams/1", token: foreign, status: 403, code: "access_denied", silent: true},
		{name: "two readings of a team", method: "GET", target: "/v2/teams/%40/x", token: legacy, status: 400, code: "invalid_request", silent: true},
		{name: "other method", method: "DELETE", target: "/v2/bookings", token: own, status: 403, code: "insufficient_scope"},
		{name: "closed", method: "PUT", target: "/v2/teams/1", token: team, status: 403, code: "insufficient_scope"},
		{name: "closed, legacy", method: "PUT", target: "/v2/teams/1", token: legacy, status: 200, body: "user-1"},
		{name: "closed, legacy of a stranger", method: "PUT", target: "/v2/teams/1", token: foreign, status: 403, code: "access_denied", silent: true},

		{name: "member", method: "GET", target: "/v2/teams/1", token: team, status: 200, body: "user-1"},
		{name: "stranger", method: "GET", target: "/v2/teams/1", token: other, status: 403, code: "access_denied", silent: true},
		{name: "member of another team", method: "GET", target: "/v2/teams/2", token: team, status: 403, code: "access_denied", silent: true},
		{name: "legacy is a member too", method: "GET", target: "/v2/teams/1", token: legacy, status: 200, body: "user-1"},
		{name: "legacy stranger", method: "GET", target: "/v2/teams/1", token: foreign, status: 403, code: "access_denied", silent: true},
		{name: "the scope goes first", method: "GET", target: "/v2/teams/2", token: own, status: 403, code: "insufficient_scope", scope: "TEAM_PROFILE_READ"},
		{name: "membership unknown", method: "GET", target: "/v2/teams/3", token: team, status: 503, code: "temporarily_unavailable", silent: true},

		{name: "encoded slash", method: "GET", target: "/v2/teams/1%2F2", token: team, status: 400, code: "invalid_request", silent: true},
		{name: "encoded slash, legacy", method: "GET", target: "/v2/teams/1%2F2", token: legacy, status: 400, code: "invalid_request", silent: true},
		{name: "dots, no token", method: "GET", target: "/v2/bookings/../teams/1", status: 400, code: "invalid_request", silent: true},
		{name: "two slashes", method: "POST", target: "/v2//bookings", status: 400, code: "invalid_request", silent: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, tt.target, nil)
			if tt.token != "" {
				r.Header.Set("Authorization", "Bearer "+tt.token)
			}
			res := do(h, r)
			require.Equal(t, tt.status, res.StatusCode)
			text := body(t, res)
			if tt.status == 200 {
				assert.Equal(t, tt.body, text)
				return
			}
			assert.Equal(t, "no-store", res.Header.Get("Cache-Control"))
			assert.Equal(t, tt.status == 503, res.Header.Get("Retry-After") != "")
			if tt.silent {
				assert.Empty(t, res.Header.Values("WWW-Authenticate"))
				assert.Contains(t, text, `{"error":"`+tt.code+`",`)
				return
			}
			said := readChallenge(t, res)
			assert.Equal(t, tt.code, said["error"])
			assert.Equal(t, tt.scope, said["scope"])
			if tt.code == "" {
				assert.Empty(t, text)
			} else {
				assert.Contains(t, text, `"error":"`+tt.code+`"`)
			}
		})
	}
	for _, want := range []string{"database is away", "not a member", "ambiguous", "/v2/teams/:teamId"} {
		assert.Contains(t, log.String(), want)
	}
	for _, token := range []string{own, team, other, legacy, foreign} {
		assert.NotContains(t, log.String(), token[len(token)-20:])
	}
}

func TestRequireAny(t *testing.T) {
	issuer := newIssuer()
	defer issuer.Close()
	h := middleware.New(issuer.verifier(), middleware.Config{}).RequireAny("TEAM_BOOKING_READ", "BOOKING_READ")(who)
	for scopes, status := range map[string]int{
		"BOOKING_READ": 200, "TEAM_BOOKING_READ": 200, "ORG_BOOKING_READ": 200, "BOOKING_READ TEAM_BOOKING_READ": 200,
		"": 403, "BOOKING_WRITE": 403, "PROFILE_READ": 403,
	} {
		res := do(h, request("Bearer "+issuer.token(scopes, nil)))
		assert.Equal(t, status, res.StatusCode, scopes)
		if status == 403 {
			assert.Equal(t, "TEAM_BOOKING_READ", readChallenge(t, res)["scope"], "a challenge can't name alternatives")
		}
	}
	assert.Equal(t, 200, do(h, request("Bearer "+issuer.token("", map[string]any{"legacy": true}))).StatusCode)
	assert.Equal(t, 401, do(h, request()).StatusCode)
}

// Adapters get claims or a refusal, which is an error whose text has no part of the
// request.
func TestAuthorize(t *testing.T) {
	issuer := newIssuer()
	defer issuer.Close()
	g := middleware.New(issuer.verifier(), middleware.Config{})
	p := newPolicy(t)
	header := func(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }
	r := httptest.NewRequest("GET", "/v2/bookings", nil)

	claims, refused := g.Authorize(t.Context(), p, r.Method, r.URL, header(issuer.token("BOOKING_READ", nil)))
	require.Nil(t, refused)
	assert.Equal(t, "user-1", claims.Subject())

	_, refused = g.Authorize(t.Context(), p, r.Method, r.URL, header("x"))
	require.NotNil(t, refused)
	assert.EqualError(t, refused, "invalid_token: The access token is invalid")
	_, refused = g.Authorize(t.Context(), p, r.Method, r.URL, nil)
	require.NotNil(t, refused)
	assert.EqualError(t, refused, "Unauthorized")

	claims, refused = g.Authorize(t.Context(), p, "POST", r.URL, nil)
	assert.Nil(t, claims)
	assert.Nil(t, refused)
}

// A guard passes the ResponseWriter on unchanged, and of the request it changes only the
// context.
func TestGuardIsTransparent(t *testing.T) {
	issuer := newIssuer()
	defer issuer.Close()
	g := middleware.New(issuer.verifier(), middleware.Config{})
	var got *http.Request
	var writer http.ResponseWriter
	h := g.Require("BOOKING_READ")(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got, writer = r, w }))
	r := request("Bearer " + issuer.token("BOOKING_READ", nil))
	r.Body = io.NopCloser(strings.NewReader("body"))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	require.NotNil(t, got)
	assert.Same(t, w, writer)
	assert.Same(t, r.URL, got.URL)
	assert.Equal(t, r.Header, got.Header)
	assert.Equal(t, r.Body, got.Body)
}

// Retry-After is the time until the verifier's next attempt, in whole seconds.
func TestRetryAfter(t *testing.T) {
	issuer := verifiertest.NewIssuer()
	defer issuer.Close()
	issuer.Down()
	v, err := verifier.New(issuer.Config())
	require.NoError(t, err)
	defer v.Close()
	token := issuer.Token(verifiertest.Scope("BOOKING_READ"))

	_, err = v.Verify(t.Context(), token)
	var why *verifier.Error
	require.ErrorAs(t, err, &why)
	res := do(middleware.New(v, middleware.Config{}).Require("BOOKING_READ")(who), request("Bearer "+token))
	require.Equal(t, 503, res.StatusCode)
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	require.NoError(t, err)
	assert.Positive(t, seconds)
	assert.InDelta(t, why.RetryAfter.Seconds(), seconds, 1)
}
