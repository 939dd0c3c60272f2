package trial

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// Route is a route to register with a router. Its handler must call Run with a function
// that returns the router's value of a path parameter.
type Route struct {
	Method  string // empty: every method
	Pattern string // parameters are ":name"; "/*" at the end matches all paths below
	Run     func(param func(name string) string)
}

// Braces returns the pattern with "{name}" for ":name", as net/http and chi spell it.
func (r Route) Braces() string {
	segments := strings.Split(r.Pattern, "/")
	for i, s := range segments {
		if name, ok := strings.CutPrefix(s, ":"); ok {
			segments[i] = "{" + name + "}"
		}
	}
	return strings.Join(segments, "/")
}

// Agreement tests that a policy and a router read the same paths in the same way: the
// route that runs is that of the row that decides. Where a route runs without a row,
// Member must have been called for the same ids that the route's handler gets.
type Agreement struct {
	policy *policy.Policy
	router http.Handler
	routes []Route
	legacy *verifier.Claims
	asked  []string // the kinds and ids for which Member was called

	ran   string    // pattern of the route that ran; "" for none
	given [2]string // the organization and the team that its handler got
}

// NewAgreement builds a router from one route for each row, and from wide patterns,
// whose routes take every method and more paths than the rows.
func NewAgreement(t testing.TB, rows []policy.Row, wide []string, build func([]Route) http.Handler) *Agreement {
	t.Helper()
	table, err := policy.NewTable(rows...)
	require.NoError(t, err)
	a := &Agreement{legacy: verifiertest.Claims(verifiertest.Legacy())}
	a.policy, err = policy.New(table, policy.Config{Member: func(_ context.Context, _ *verifier.Claims, kind policy.Kind, id string) (bool, error) {
		a.asked = append(a.asked, string(kind)+" "+id)
		return true, nil
	}})
	require.NoError(t, err)
	for _, row := range rows {
		a.add(row.Method, row.Pattern)
	}
	for _, pattern := range wide {
		a.add("", pattern)
	}
	a.router = build(a.routes)
	return a
}

func (a *Agreement) add(method, pattern string) {
	a.routes = append(a.routes, Route{method, pattern, func(param func(string) string) {
		a.ran, a.given = pattern, [2]string{}
		if strings.Contains(pattern, ":orgId") {
			a.given[0] = "organization " + param("orgId")
		}
		if strings.Contains(pattern, ":teamId") {
			a.given[1] = "team " + param("teamId")
		}
	}})
}

// Test tries the paths of all routes, and paths that differ from them a little.
func (a *Agreement) Test(t *testing.T) {
	t.Helper()
	ran := map[string]bool{}
	for _, route := range a.routes {
		for _, ids := range []*strings.Replacer{
			strings.NewReplacer(":orgId", "3", ":teamId", "7", ":", "x", "*", "y"),
			strings.NewReplacer(":orgId", "a%20b", ":teamId", "a+b", ":", "%20", "*", "y/z"),
			strings.NewReplacer(":orgId", "a%40b", ":teamId", "a+b", ":", "a@b", "*", "y"),
			strings.NewReplacer(":orgId", "a+b", ":teamId", "me", ":", "%40", "*", "event-types"),
		} {
			for _, rest := range []string{"", "/x", "/7/y", "/", "/%2Fx", strings.Repeat("/x", 20)} {
				for _, method := range []string{route.Method, "GET", "HEAD", "DELETE", "PROPFIND"} {
					a.try(t, method, ids.Replace(route.Pattern)+rest)
					ran[a.ran] = true
				}
			}
		}
	}
	for _, route := range a.routes {
		require.True(t, ran[route.Pattern], "%s was never tried", route.Pattern)
	}
}

// Fuzz tries methods and paths that the fuzzer makes from those of the routes.
func (a *Agreement) Fuzz(f *testing.F) {
	ids := strings.NewReplacer(":orgId", "a+b", ":teamId", "7", ":", "%40", "*", "y/z")
	for _, route := range a.routes {
		f.Add(route.Method, ids.Replace(route.Pattern))
		f.Add(route.Method, strings.ToUpper(ids.Replace(route.Pattern)))
	}
	f.Fuzz(func(t *testing.T, method, target string) { a.try(t, method, target) })
}

func (a *Agreement) try(t *testing.T, method, target string) {
	a.asked, a.ran = nil, ""
	u, err := url.ParseRequestURI(target)
	if err != nil || method == "" {
		return
	}
	m, err := a.policy.Match(method, u)
	if err != nil {
		return // the policy refuses the path for every token
	}
	_, err = m.Belongs(t.Context(), a.legacy)
	require.NoError(t, err)
	a.router.ServeHTTP(httptest.NewRecorder(), &http.Request{Method: method, URL: u, Host: "x", RequestURI: target, Header: http.Header{}})
	row, listed := m.Row()
	switch {
	case a.ran == "":
		return
	case listed && a.ran != row.Pattern && row.Method != method:
		return // the policy decides HEAD by the row of GET; some routers serve it by a wide route
	case listed && a.ran != row.Pattern:
		t.Fatalf("%s %q: the policy decides by %q, the router runs %q", method, target, row.Pattern, a.ran)
	case m.Public():
		return
	}
	for i, name := range []string{":orgId", ":teamId"} {
		id := a.given[i]
		if id == "" {
			continue
		}
		if !listed && strings.HasSuffix(a.ran, name) {
			id, _, _ = strings.Cut(id, "/") // echo's last parameter has the rest of the path
		}
		require.Contains(t, a.asked, id, "%s %q runs %q", method, target, a.ran)
	}
}
