package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/endpoint"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestAnswersAreVerified: the clients of the tests fail a request whose answer is not as
// described.
func TestAnswersAreVerified(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["X-Request-Id"] = []string{"x"}
		_, _ = w.Write([]byte("{}"))
	}))
	defer s.Close()
	_, err := http.Get(s.URL + oauth.PathJWKS)
	require.ErrorContains(t, err, "is not as described")
	_, err = testkit.NewHTTP(nil, false, testkit.Limit).Get(s.URL + oauth.PathJWKS)
	require.ErrorContains(t, err, "is not as described")
}

// TestOpenAPIFindsFaults verifies that the description finds what the description lacks.
func TestOpenAPIFindsFaults(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, oauth.PathToken, nil)
	require.NoError(t, err)
	good := answer{
		Status: 200, Header: http.Header{"Content-Type": {"application/json"}, "Cache-Control": {"no-store"}},
		Body: `{"access_token":"a","refresh_token":"r","token_type":"bearer","expires_in":1800,"scope":""}`,
	}
	require.NoError(t, described.Lacks(r, good))
	for name, change := range map[string]func(*answer){
		"status":         func(a *answer) { a.Status = 418 },
		"header missing": func(a *answer) { a.Header = http.Header{"Content-Type": {"application/json"}} },
		"member missing": func(a *answer) { a.Body = strings.Replace(a.Body, `,"scope":""`, "", 1) },
		"member added":   func(a *answer) { a.Body = strings.Replace(a.Body, `{`, `{"id_token":"x",`, 1) },
		"other value":    func(a *answer) { a.Body = strings.Replace(a.Body, "bearer", "Bearer", 1) },
		"other type":     func(a *answer) { a.Header = http.Header{"Content-Type": {"text/html"}, "Cache-Control": {"no-store"}} },
	} {
		bad := good
		change(&bad)
		require.Error(t, described.Lacks(r, bad), name)
	}
}

// TestOpenAPIHasEveryRoute verifies that each route of the public listener is described,
// unless it is a page: pages answer in HTML and can be used only by a browser with a
// session. The responses of the operators' listener match the description.
func TestOpenAPIHasEveryRoute(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	doc, err := openapi3.NewLoader().LoadFromData(endpoint.OpenAPI("https://api.example.com", "https://app.example.com"))
	require.NoError(t, err)
	operations := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.Tags[0] != "Monitoring" {
				operations[method+" "+path] = true
			}
		}
	}
	pages := 0
	for _, route := range ts.s.Metrics.Routes {
		name := route.Method + " " + route.Pattern
		if operations[name] {
			delete(operations, name)
			continue
		}
		require.False(t, endpoint.IsAPI(route.Pattern), "%s is not described", name)
		require.NotEqual(t, oauth.PathAuthorize, route.Pattern, "%s is not described", name)
		if route.Method == http.MethodGet && !strings.HasPrefix(route.Pattern, "/assets/") {
			a := ts.request(http.MethodGet, parameter.ReplaceAllString(route.Pattern, "x"), "")
			require.True(t, a.Status == http.StatusSeeOther || strings.HasPrefix(a.Header.Get("Content-Type"), "text/html"), "%s is no page, and not described", name)
		}
		pages++
	}
	require.Greater(t, pages, 30)
	require.Empty(t, operations, "no route for what is described")
	for _, path := range []string{"/livez", "/readyz", "/readyz?verbose", "/metrics"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, ts.Ops+path, nil)
		require.NoError(t, err)
		a := do(t, noRedirects(nil), r)
		require.Equal(t, http.StatusOK, a.Status, path)
		require.NoError(t, described.Lacks(r, a), path)
	}
}
