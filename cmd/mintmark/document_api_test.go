package main

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/verifier"
)

// A resourceServer is an API of the scheduling service as its author writes
// it: each route behind middleware.Require with its scope or, where it is
// public, behind Optional. It knows the server under test by its key set over
// HTTP only.
type resourceServer struct{ *httptest.Server }

// publicRoutes need no scope.
var publicRoutes = []string{
	"POST /v2/bookings", "POST /v2/bookings/{uid}/cancel", "POST /v2/bookings/{uid}/reschedule",
}

func newResourceServer(d *suite) resourceServer { return newResourceServerAt(d, time.Now) }

func newResourceServerAt(d *suite, now func() time.Time) resourceServer {
	d.t.Helper()
	keys, err := verifier.NewJWKS(verifier.JWKSConfig{URL: d.Base + oauth.PathJWKS, Now: now})
	require.NoError(d.t, err)
	v, err := verifier.New(verifier.Config{Issuer: d.Base, Audience: d.Base, Keys: keys, Now: now})
	require.NoError(d.t, err)
	guard := middleware.New(v, middleware.Config{})
	caller := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if claims, ok := middleware.FromContext(r.Context()); ok {
			_, _ = w.Write([]byte(claims.Subject()))
		}
	})
	mux := http.NewServeMux()
	for _, row := range scopeRows {
		for _, route := range row.routes() {
			mux.Handle(route, guard.Require(row.scope())(caller))
		}
	}
	for _, route := range publicRoutes {
		mux.Handle(route, guard.Optional()(caller))
	}
	s := resourceServer{httptest.NewServer(mux)}
	d.t.Cleanup(s.Close)
	return s
}

var wildcard = regexp.MustCompile(`\{[a-zA-Z]+\}`)

// call is a request to a route, with its wildcards filled in. An empty token
// sends none.
func (s resourceServer) call(d *suite, route, token string) answer {
	d.t.Helper()
	method, path, _ := strings.Cut(route, " ")
	var headers []string
	if token != "" {
		headers = []string{"Authorization", "Bearer " + token}
	}
	return d.request(method, s.URL+wildcard.ReplaceAllString(path, "17"), "", headers...)
}

// opens checks that a token of a user passes a route.
func (s resourceServer) opens(d *suite, user, route, token string) {
	d.t.Helper()
	a := s.call(d, route, token)
	require.Equal(d.t, http.StatusOK, a.Status, "%s: %s", route, a.Header.Get("WWW-Authenticate"))
	require.Equal(d.t, "u-"+user, a.Body)
}

// closed checks that a good token is refused a route for want of a scope.
func (s resourceServer) closed(d *suite, route, scope, token string) {
	d.t.Helper()
	a := s.call(d, route, token)
	require.Equal(d.t, http.StatusForbidden, a.Status, route)
	require.Contains(d.t, a.Header.Get("WWW-Authenticate"), `error="insufficient_scope"`)
	require.Contains(d.t, a.Header.Get("WWW-Authenticate"), `scope="`+scope+`"`)
}
