package middleware_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier"
)

// While the feed of revocations is unavailable, routes that fail closed answer 503, and
// the others accept tokens.
func TestFailClosed(t *testing.T) {
	issuer := newIssuer()
	defer issuer.Close()
	var up atomic.Bool
	feed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !up.Load() {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, issuer.sign(map[string]any{"alg": "ES256", "kid": "key-1", "typ": "mintmark-revocations+jwt"}, map[string]any{
			"iss": issuer.URL, "iat": time.Now().Unix(), "version": "1-1", "after": "", "complete_since": 0, "window": 1860,
			"revoked": []any{map[string]any{"sub": "user-2", "at": time.Now().Unix() + 60}},
		}))
	}))
	defer feed.Close()
	keys, err := verifier.NewJWKS(verifier.JWKSConfig{URL: issuer.URL + "/jwks"})
	require.NoError(t, err)
	defer keys.Close()
	v, err := verifier.New(verifier.Config{Issuer: issuer.URL, Audience: audience, Keys: keys, Revocations: &verifier.RevocationsConfig{
		Name: "calendar", Secret: "s3cret", URL: feed.URL,
	}})
	require.NoError(t, err)
	defer v.Close()

	table, err := policy.Load(strings.NewReader("GET /v2/bookings BOOKING_READ FRESH\nGET /v2/me PROFILE_READ\nGET /v2/slots PUBLIC\nPUT /v2/me CLOSED FRESH\n"))
	require.NoError(t, err)
	assert.Equal(t, "GET /v2/bookings BOOKING_READ FRESH", table.Rows()[0].String())
	p, err := policy.New(table, policy.Config{})
	require.NoError(t, err)
	g := middleware.New(v, middleware.Config{})
	closed, open, enforced := g.FailClosed().Require("BOOKING_READ")(who), g.Require("BOOKING_READ")(who), g.Enforce(p)(who)
	optional := g.FailClosed().Optional()(who)
	token := issuer.token("BOOKING_READ PROFILE_READ", nil)
	at := func(h http.Handler, path string) int {
		r := request("Bearer " + token)
		r.URL.Path = path
		res := do(h, r)
		if res.StatusCode == http.StatusServiceUnavailable {
			assert.Equal(t, "2", res.Header.Get("Retry-After"))
			assert.Contains(t, body(t, res), "temporarily_unavailable")
			assert.Empty(t, res.Header.Get("WWW-Authenticate"))
		}
		return res.StatusCode
	}
	assert.Equal(t, 503, at(closed, "/"))
	assert.Equal(t, 503, at(optional, "/"))
	assert.Equal(t, 200, do(optional, request()).StatusCode, "a request without a token needs no revocations")
	assert.Equal(t, 503, at(enforced, "/v2/bookings"))
	assert.Equal(t, 200, at(open, "/"))
	assert.Equal(t, 200, at(enforced, "/v2/me"))
	assert.Equal(t, 200, at(enforced, "/v2/slots"))

	up.Store(true)
	require.Eventually(t, v.RevocationsFresh, 10*time.Second, 5*time.Millisecond)
	assert.Equal(t, 200, at(closed, "/"))
	assert.Equal(t, 200, at(enforced, "/v2/bookings"))
	res := do(open, request("Bearer "+issuer.token("BOOKING_READ", map[string]any{"sub": "user-2"})))
	assert.Equal(t, 401, res.StatusCode)
	assert.Equal(t, "invalid_token", readChallenge(t, res)["error"])

	without := middleware.New(issuer.verifier(), middleware.Config{})
	assert.Panics(t, func() { without.FailClosed() })
	assert.Panics(t, func() { without.Enforce(p) }, "a FRESH row without a feed")
	for _, text := range []string{"GET /x PUBLIC FRESH", "GET /x BOOKING_READ fresh", "GET /x FRESH", "GET /x BOOKING_READ FRESH FRESH"} {
		_, err := policy.Load(strings.NewReader(text))
		assert.Error(t, err, text)
	}
}
