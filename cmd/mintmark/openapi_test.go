package main

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/endpoint"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// openAPI is the description of the API.
var openAPI = sync.OnceValues(func() (*openapi3.T, error) {
	openapi3filter.RegisterBodyDecoder("application/jwk-set+json", openapi3filter.JSONBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/mintmark-revocations+jwt", openapi3filter.PlainBodyDecoder)
	return openapi3.NewLoader().LoadFromData(endpoint.OpenAPI("https://api.example.com", "https://app.example.com"))
})

// undescribed returns an error if a response has a status, header or member that the
// description of the API lacks. A path or method without an operation is reported by
// another test.
func undescribed(r *http.Request, a answer) error {
	doc, err := openAPI()
	if err != nil {
		return err
	}
	item := doc.Paths.Value(r.URL.EscapedPath()) // a path in another spelling is another path
	if item == nil || item.GetOperation(r.Method) == nil {
		return nil
	}
	if len(item.Servers) > 0 && a.Status == http.StatusNotFound { // a path of another listener
		return nil
	}
	return openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: r, Route: &routers.Route{Spec: doc, Path: r.URL.Path, PathItem: item, Method: r.Method, Operation: item.GetOperation(r.Method)},
		},
		Status: a.Status, Header: a.Header, Body: io.NopCloser(strings.NewReader(a.Body)),
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true,
			// The answer to a request without a token has no body (RFC 6750 §3.1).
			ExcludeResponseBody: a.Status == http.StatusUnauthorized && a.Body == "",
		},
	})
}

// TestOpenAPIFindsFaults verifies that undescribed finds what the description lacks.
func TestOpenAPIFindsFaults(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, oauth.PathToken, nil)
	require.NoError(t, err)
	good := answer{
		Status: 200, Header: http.Header{"Content-Type": {"application/json"}, "Cache-Control": {"no-store"}},
		Body: `{"access_token":"a","refresh_token":"r","token_type":"bearer","expires_in":1800,"scope":""}`,
	}
	require.NoError(t, undescribed(r, good))
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
		require.Error(t, undescribed(r, bad), name)
	}
}

// TestOpenAPIHasEveryRoute verifies that each route of the public listener is described,
// unless it is a page: pages answer in HTML and can be used only by a browser with a
// session. The responses of the operators' listener match the description.
func TestOpenAPIHasEveryRoute(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	doc, err := openAPI()
	require.NoError(t, err)
	described := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.Tags[0] != "Monitoring" {
				described[method+" "+path] = true
			}
		}
	}
	pages := 0
	for _, route := range ts.s.Metrics.Routes {
		name := route.Method + " " + route.Pattern
		if described[name] {
			delete(described, name)
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
	require.Empty(t, described, "no route for what is described")
	for _, path := range []string{"/livez", "/readyz", "/readyz?verbose", "/metrics"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, ts.Ops+path, nil)
		require.NoError(t, err)
		a := do(t, noRedirects(nil), r)
		require.Equal(t, http.StatusOK, a.Status, path)
		require.NoError(t, undescribed(r, a), path)
	}
}
