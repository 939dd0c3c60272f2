package main

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestOutageOfARunningNode: two of three die. The third one says at once, and not
// at the deadline of what was proposed, that nothing can be decided; what is read
// goes on, and nothing that a client holds is burnt.
func TestOutageOfARunningNode(t *testing.T) {
	dir := t.TempDir()
	ts := startTestServer(t, dir, fixtureText)
	held := ts.tokens("cal-app")
	ts.close()
	c := startThree(t, dir, filepath.Join(dir, "data"))
	n := c.nodes[1]
	documents := map[string]string{}
	for _, path := range publicDocuments {
		_, _, documents[path] = asked(t, n.url+path)
	}
	send := func(r *http.Request) answer {
		t.Helper()
		// Less than the five seconds that something which was proposed may take.
		return do(t, &http.Client{Timeout: 4 * time.Second}, r)
	}
	me := func() answer {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.url+oauth.PathMe, nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+held.Access)
		return send(r)
	}
	refresh := func() answer {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.url+oauth.PathToken, strings.NewReader(url.Values{
			"grant_type": {"refresh_token"}, "refresh_token": {held.Refresh}, "client_id": {"cal-app"}, "client_secret": {"cal-app-secret"},
		}.Encode()))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return send(r)
	}
	profile := me()
	require.Equal(t, http.StatusOK, profile.Status, profile.Body)
	held = tokensOf(t, refresh())

	c.nodes[0].kill()
	c.nodes[2].kill()
	require.Eventually(t, func() bool {
		_, _, text := asked(t, n.opsURL+"/readyz?verbose")
		return strings.Contains(text, "[-]commit no leader is known")
	}, 20*time.Second, 20*time.Millisecond)
	for range 3 {
		a := refresh()
		require.Equal(t, http.StatusServiceUnavailable, a.Status)
		require.Equal(t, "temporarily_unavailable", a.errorCode(t))
		require.Equal(t, "1", a.Header.Get("Retry-After"), "nothing was proposed")
	}
	for path, body := range documents {
		status, _, got := asked(t, n.url+path)
		require.Equal(t, http.StatusOK, status, path)
		require.Equal(t, body, got, path)
	}
	a := me()
	require.Equal(t, http.StatusOK, a.Status)
	require.Equal(t, profile.Body, a.Body)
	status, _, _ := asked(t, n.opsURL+"/livez")
	require.Equal(t, http.StatusOK, status, "a restart would help nobody")

	c.nodes[0].start(t)
	require.True(t, n.waitReady(20*time.Second))
	tokensOf(t, refresh())
}
