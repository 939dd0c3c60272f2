package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHeadersOfEveryAnswer: no response of the public listener can be framed or load
// foreign content. Paths outside the API are answered with a page.
func TestHeadersOfEveryAnswer(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for _, row := range []struct {
		method, path string
		status       int
		page         bool
	}{
		{"GET", "/auth/sign-in", 200, true},
		{"GET", "/nowhere", 404, true},
		{"GET", "//x", 404, true},
		{"GET", "/auth/%2e%2e/x", 404, true},
		{"GET", "//v2/me", 404, true},
		{"GET", "/v2//me", 404, false},
		{"GET", "/v2/nowhere", 404, false},
		{"GET", "/v2/me", 401, false},
		{"GET", "/.well-known/jwks.json", 200, false},
		{"OPTIONS", "/", 405, true},
		{"OPTIONS", "//", 404, true},
		{"DELETE", "/v2/me", 405, false},
	} {
		t.Run(row.method+" "+row.path, func(t *testing.T) {
			a := ts.request(row.method, row.path, "")
			require.Equal(t, row.status, a.Status)
			require.Equal(t, row.page, strings.HasPrefix(a.Header.Get("Content-Type"), "text/html"), a.Body)
			require.Len(t, a.Header.Values("Content-Security-Policy"), 1)
			require.Contains(t, a.Header.Get("Content-Security-Policy"), "default-src 'none'")
			require.Contains(t, a.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
			require.Equal(t, []string{"DENY"}, a.Header.Values("X-Frame-Options"))
			require.Equal(t, []string{"nosniff"}, a.Header.Values("X-Content-Type-Options"))
		})
	}
}

// TestAllowIsTrue: the header Allow names the methods of the path, and none of them gets
// 405.
func TestAllowIsTrue(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	for path, want := range map[string]string{
		"/": "GET, HEAD", "/auth/sign-in": "GET, HEAD, POST", "/auth/sign-out": "POST",
		"/v2/me": "GET, HEAD, PATCH", "/v2/auth/oauth2/token": "OPTIONS, POST",
	} {
		a := ts.request("PUT", path, "")
		require.Equal(t, http.StatusMethodNotAllowed, a.Status, path)
		require.Equal(t, want, a.Header.Get("Allow"), path)
		for method := range strings.SplitSeq(want, ", ") {
			require.NotEqual(t, http.StatusMethodNotAllowed, ts.request(method, path, "").Status, "%s %s", method, path)
		}
	}
}
