// Package trial tests that resource servers answer alike, whatever their router. It has
// the requests and the expected answers, and no router.
package trial

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/middleware/examples/internal/service"
	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/scope"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// Guard returns a guard for the tokens of a new issuer.
func Guard(t testing.TB) (*middleware.Guard, *verifiertest.Issuer) {
	t.Helper()
	issuer := verifiertest.NewIssuer()
	t.Cleanup(issuer.Close)
	v, err := verifier.New(issuer.Config())
	require.NoError(t, err)
	t.Cleanup(v.Close)
	return middleware.New(v, middleware.Config{}), issuer
}

// ByRoute tests a server whose routes are guarded one by one.
func ByRoute(t *testing.T, build func(*middleware.Guard) http.Handler) {
	t.Helper()
	guard, issuer := Guard(t)
	answers(t, issuer, build(guard))
}

// ByPolicy tests a server that is guarded as a whole. In its policy, user-1 is a member
// of team 7 only.
func ByPolicy(t *testing.T, build func(*middleware.Guard, *policy.Policy) http.Handler) {
	t.Helper()
	guard, issuer := Guard(t)
	p, err := service.NewPolicy()
	require.NoError(t, err)
	s := answers(t, issuer, build(guard, p))

	stranger := issuer.Token(verifiertest.Scope(scope.TeamBookingRead), verifiertest.Subject("user-2"))
	team := issuer.Token(verifiertest.Scope(scope.TeamBookingRead))
	require.Equal(t, 403, s("GET", "/v2/teams/7/bookings", stranger).status)
	require.Equal(t, 403, s("GET", "/v2/teams/8/bookings", team).status)
	require.Equal(t, 403, s("GET", "/v2/other", team).status, "an unlisted route is closed")
	require.Equal(t, 401, s("GET", "/v2/other", "").status)
	require.Equal(t, 404, s("GET", "/v2/other", issuer.Token(verifiertest.Legacy())).status, "an unlisted route is open to legacy tokens")
	for _, path := range []string{"/v2//bookings", "/v2/x/../bookings", "/v2/bookings/a%2Fb", "/v2/%62ookings", "/v2/bookings/"} {
		require.Equal(t, 400, s("GET", path, team).status, path)
	}
}

type answer struct {
	status          int
	challenge, body string
}

// answers sends the requests that every server must answer alike.
func answers(t *testing.T, issuer *verifiertest.Issuer, h http.Handler) func(method, path, token string) answer {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	ask := func(method, path, token string) answer {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
		require.NoError(t, err)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := server.Client().Transport.RoundTrip(r) // follows no redirect
		require.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return answer{res.StatusCode, res.Header.Get("WWW-Authenticate"), strings.TrimSpace(string(body))}
	}
	own := issuer.Token(verifiertest.Scope(scope.BookingRead))
	team := issuer.Token(verifiertest.Scope(scope.OrgBookingRead))

	require.Equal(t, answer{401, "Bearer", ""}, ask("GET", "/v2/bookings", ""))
	require.Equal(t, answer{200, "", "bookings of user-1"}, ask("GET", "/v2/bookings", own))
	require.Equal(t, answer{200, "", "booking b1 of user-1"}, ask("GET", "/v2/bookings/b1", own))
	require.Equal(t, answer{200, "", "bookings of team 7"}, ask("GET", "/v2/teams/7/bookings", team))
	require.Equal(t, answer{200, "", "booked by a guest"}, ask("POST", "/v2/bookings", ""))
	require.Equal(t, answer{200, "", "booked by user-1"}, ask("POST", "/v2/bookings", own))

	require.Equal(t, 400, ask("GET", "/v2/bookings", "two words").status)
	for _, bad := range []string{"x", own + "x", issuer.Token(verifiertest.Scope(scope.BookingRead), verifiertest.Expired())} {
		for _, method := range []string{"GET", "POST"} { // a public route too
			a := ask(method, "/v2/bookings", bad)
			require.Equal(t, 401, a.status)
			require.Contains(t, a.challenge, `error="invalid_token"`)
			require.Contains(t, a.body, `"error":"invalid_token"`)
		}
	}
	missing := ask("GET", "/v2/bookings", team)
	require.Equal(t, 403, missing.status)
	require.Contains(t, missing.challenge, `error="insufficient_scope"`)
	require.Contains(t, missing.challenge, `scope="BOOKING_READ"`)
	require.NotContains(t, missing.body, "bookings of", "the handler has not run")
	require.Equal(t, 403, ask("GET", "/v2/teams/7/bookings", own).status)
	return ask
}
