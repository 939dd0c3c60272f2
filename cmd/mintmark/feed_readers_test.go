package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/endpoint"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestReadersOfARunningNode: who is added may read without a restart, and who is
// taken off the list may not.
func TestReadersOfARunningNode(t *testing.T) {
	ts, file, secret := feedServer(t)
	status := func(name, secret string) int {
		return ts.request(http.MethodGet, oauth.PathRevocations, "", "Authorization", basicAuth(name, secret)).Status
	}
	require.Equal(t, http.StatusOK, status("calendar", secret))
	two := basicAuth("calendar", secret)
	require.Equal(t, http.StatusUnauthorized,
		ts.request(http.MethodGet, oauth.PathRevocations, "", "Authorization", two, "Authorization", two).Status, "a program in front may have read the other")
	r := commandLine(t, "feed", "add", "billing", "--file", file)
	require.Zero(t, r.Code, r.Err)
	require.Contains(t, r.Err, "in some seconds")
	added := strings.TrimSpace(r.Out)
	require.Eventually(t, func() bool { return status("billing", added) == http.StatusOK }, 20*time.Second, 50*time.Millisecond)
	require.Equal(t, http.StatusOK, status("calendar", secret))

	another := filepath.Join(filepath.Dir(file), "another") // as an editor, or whoever mounts secrets, does
	require.NoError(t, os.WriteFile(another, []byte(endpoint.ReaderLine("billing", added)+"\n"), 0o600))
	require.NoError(t, os.Rename(another, file))
	require.Eventually(t, func() bool { return status("calendar", secret) == http.StatusUnauthorized }, 20*time.Second, 50*time.Millisecond)
	require.Equal(t, http.StatusOK, status("billing", added))
}
