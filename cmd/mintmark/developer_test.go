package main

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSecretIsRevokedOnEveryNode: once the page of any node reports a secret as revoked,
// every node refuses it (service document, section 5.4).
func TestSecretIsRevokedOnEveryNode(t *testing.T) {
	dir := t.TempDir()
	alone := startTestServer(t, dir, fixtureText)
	held := alone.tokens("cal-app")
	alone.close()
	c := startCluster3(t, dir, filepath.Join(dir, "data"))

	at := func(node int) *testServer {
		return &testServer{t: t, Base: c.nodes[node].URL(), App: c.nodes[node].URL()}
	}
	refresh := func(node int, secret string) answer {
		t.Helper()
		return at(node).form("grant_type", "refresh_token", "client_id", "cal-app", "client_secret", secret, "refresh_token", held.Refresh)
	}
	b := at((c.Leader() + 1) % 3).browser()
	in := b.submit(b.get("/auth/sign-in"), "password", "username", "alice", "password", passwords["alice"])
	require.Equal(t, http.StatusSeeOther, in.Status, in.Body)
	page := b.get("/developer/clients/cal-app/secrets")
	require.Equal(t, http.StatusOK, page.Status)
	held = tokensOf(t, refresh(2, generatedSecret))

	done := b.submit(page, "/secrets/revoke") // the newest secret is first
	require.Equal(t, http.StatusSeeOther, done.Status, done.Body)
	for node := range c.nodes {
		require.Equal(t, "invalid_client", refresh(node, generatedSecret).ErrorCode(), c.nodes[node].Name)
	}
	held = tokensOf(t, refresh(0, "cal-app-secret"))
}
