package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/dev"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/verifier"
)

// startDemo starts the node of "mintmark dev" with the demo's user and clients.
func startDemo(t *testing.T) *server.Server {
	t.Helper()
	o := dev.Options{Listen: "127.0.0.1:0", OpsListen: "127.0.0.1:0", DataDir: filepath.Join(t.TempDir(), "data")}
	c, err := o.Config(io.Discard)
	require.NoError(t, err)
	s, err := server.Start(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close(t.Context()) })
	return s
}

// TestDemoToken: each call prints a new token that a resource server accepts, and nothing
// else on standard output.
func TestDemoToken(t *testing.T) {
	s := startDemo(t)
	base := s.Settings.BaseURL
	v, err := verifier.New(verifier.Config{Issuer: base, Audience: base})
	require.NoError(t, err)
	var before string
	for range 2 {
		r := testkit.Run(t, executeMain, "demo", "token", "--issuer", base+"/", "--scope", "PROFILE_READ,TEAM_BOOKING_READ")
		require.Equal(t, cli.ExitOK, r.Code, r.Err)
		token, rest, _ := strings.Cut(r.Out, "\n")
		require.Empty(t, rest)
		require.NotEqual(t, before, token)
		before = token
		claims, err := v.Verify(t.Context(), token)
		require.NoError(t, err)
		require.Equal(t, "u-demo", claims.Subject())
		require.Equal(t, "demo-app", claims.ClientID())
		require.Contains(t, r.Err, "An access token of demo for PROFILE_READ TEAM_BOOKING_READ, until ")
		require.NotContains(t, r.Err, token)
	}
}

// TestDemoTokenRefused: if there is no token, the error names the reason.
func TestDemoTokenRefused(t *testing.T) {
	demo, other := startDemo(t), newTestServer(t)
	pages := httptest.NewServer(http.NotFoundHandler())
	defer pages.Close()
	for what, test := range map[string]struct{ issuer, scope, want string }{
		"a scope that the application may not have": {demo.Settings.BaseURL, "ORG_PROFILE_READ", "invalid_scope"},
		"an issuer without the demo":                {other.Base, "PROFILE_READ", "answered 400"},
		"nobody":                                    {"http://127.0.0.1:1", "PROFILE_READ", "connection refused (start a node: make run, or mintmark dev)"},
		"pages that are no issuer's":                {pages.URL, "PROFILE_READ", "answered 404"},
	} {
		r := testkit.Run(t, executeMain, "demo", "token", "--issuer", test.issuer, "--scope", test.scope)
		require.Equal(t, cli.ExitLocal, r.Code, what)
		require.Contains(t, r.Err, "mintmark: get a token of "+test.issuer+": ", what)
		require.Contains(t, r.Err, test.want, what)
		require.Empty(t, r.Out, what)
	}
}
