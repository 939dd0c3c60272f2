package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/keys"
)

// TestRewrapWhereTheKeyIsACredential follows the steps of operate.md for nodes that get
// their cluster key from a service manager. The test does the service manager's part: it
// provides a folder with the key.
func TestRewrapWhereTheKeyIsACredential(t *testing.T) {
	dir := t.TempDir()
	ts := startTestServer(t, dir, fixtureText)
	token := ts.tokens("cal-app").Refresh
	ts.close()
	first, credentials := filepath.Join(dir, "data"), filepath.Join(dir, "credentials")
	require.NoError(t, os.Mkdir(credentials, 0o700))
	give := func(from string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(from, "cluster.key"))
		require.NoError(t, err)
		path := filepath.Join(credentials, "cluster.key")
		require.NoError(t, os.WriteFile(path, text, 0o600))
		require.NoError(t, os.Chmod(path, 0o640))
	}
	give(first)
	require.NoError(t, os.Remove(filepath.Join(first, "cluster.key")))
	t.Setenv("CREDENTIALS_DIRECTORY", credentials)
	c := startCluster3(t, dir, first)
	refresh := func() {
		t.Helper()
		for _, n := range c.nodes {
			r, err := http.PostForm(n.URL()+oauth.PathToken, url.Values{
				"grant_type": {"refresh_token"}, "refresh_token": {token}, "client_id": {"cal-app"}, "client_secret": {"cal-app-secret"},
			})
			require.NoError(t, err)
			var a struct {
				Refresh string `json:"refresh_token"`
			}
			err = json.NewDecoder(r.Body).Decode(&a)
			require.NoError(t, r.Body.Close())
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, r.StatusCode)
			token = a.Refresh
		}
	}
	restart := func(n *nodeProcess) {
		t.Helper()
		n.Stop()
		n.start(t)
		c.Settle()
	}
	isRefused := func() {
		t.Helper()
		r := c.nodes[1].operate(t, "keys", "rewrap")
		require.Equal(t, cli.ExitRefused, r.Code, r.Err)
		require.Contains(t, r.Err, "systemd credential")
		require.Contains(t, r.Err, "put the key into")
	}
	for _, n := range c.nodes {
		require.NoFileExists(t, filepath.Join(n.Dir, "cluster.key"))
	}
	isRefused()

	// 1. Put the key into the data folder, and remove the line from the unit.
	before, err := keys.ReadClusterCredential(filepath.Join(credentials, "cluster.key"))
	require.NoError(t, err)
	t.Setenv("CREDENTIALS_DIRECTORY", "")
	for _, n := range c.nodes {
		require.NoError(t, before.WriteFile(filepath.Join(n.Dir, "cluster.key")))
		restart(n)
	}
	// 2. Change the key.
	r := c.nodes[1].operate(t, "keys", "rewrap")
	require.Equal(t, cli.ExitOK, r.Code, r.Err)
	after := c.sameKey()
	require.NotEqual(t, before.ID(), after)
	refresh()
	// 3. Make the key a credential again.
	give(c.nodes[2].Dir)
	t.Setenv("CREDENTIALS_DIRECTORY", credentials)
	for _, n := range c.nodes {
		restart(n)
		for _, file := range []string{"cluster.key", "cluster.key.old"} {
			require.NoError(t, os.Remove(filepath.Join(n.Dir, file)))
		}
	}
	for _, n := range c.nodes {
		restart(n)
	}
	refresh()
	isRefused()
}
