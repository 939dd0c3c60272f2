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

// TestOutageOfARunningNode: two of three nodes die. The third reports at once, before the
// deadline of a proposal, that there is no majority. Reads continue, and no credential is
// spent.
func TestOutageOfARunningNode(t *testing.T) {
	dir := t.TempDir()
	ts := startTestServer(t, dir, fixtureText)
	held := ts.tokens("cal-app")
	ts.close()
	c := startCluster3(t, dir, filepath.Join(dir, "data"))
	n := c.nodes[1]
	documents := map[string]string{}
	for _, path := range publicDocuments {
		_, _, documents[path] = asked(t, n.URL()+path)
	}
	send := func(r *http.Request) answer {
		t.Helper()
		// Less than the five seconds that a proposed command may take.
		return do(t, &http.Client{Timeout: 4 * time.Second}, r)
	}
	me := func() answer {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.URL()+oauth.PathMe, nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+held.Access)
		return send(r)
	}
	refresh := func() answer {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.URL()+oauth.PathToken, strings.NewReader(url.Values{
			"grant_type": {"refresh_token"}, "refresh_token": {held.Refresh}, "client_id": {"cal-app"}, "client_secret": {"cal-app-secret"},
		}.Encode()))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return send(r)
	}
	profile := me()
	require.Equal(t, http.StatusOK, profile.Status, profile.Body)
	held = tokensOf(t, refresh())

	c.nodes[0].Kill()
	c.nodes[2].Kill()
	require.Eventually(t, func() bool {
		_, _, text := asked(t, n.OpsURL()+"/readyz?verbose")
		return strings.Contains(text, "[-]commit no leader is known")
	}, 20*time.Second, 20*time.Millisecond)
	for range 3 {
		a := refresh()
		require.Equal(t, http.StatusServiceUnavailable, a.Status)
		require.Equal(t, "temporarily_unavailable", a.ErrorCode())
		require.Equal(t, "1", a.Header.Get("Retry-After"), "no command was proposed, so a retry is soon possible")
	}
	for path, body := range documents {
		status, _, got := asked(t, n.URL()+path)
		require.Equal(t, http.StatusOK, status, path)
		require.Equal(t, body, got, path)
	}
	a := me()
	require.Equal(t, http.StatusOK, a.Status)
	require.Equal(t, profile.Body, a.Body)
	status, _, _ := asked(t, n.OpsURL()+"/livez")
	require.Equal(t, http.StatusOK, status, "the node is alive; a restart would not help")

	c.nodes[0].start(t)
	require.True(t, n.WaitReady(20*time.Second))
	tokensOf(t, refresh())
}

// TestOutageLongerThanTheRetryWindow: clients lose their responses just before the
// majority, or all nodes, go down. They repeat their requests when the cluster is back.
// Each gets the refresh token that it had lost, and nobody is signed out.
func TestOutageLongerThanTheRetryWindow(t *testing.T) {
	const (
		window  = 10 * time.Second // includes the time that passes before and after the outage
		clients = 20
	)
	dir := t.TempDir()
	ts := startTestServer(t, dir, fixtureText+"\nsettings: {retry_window: 10s}\n")
	held := make([]tokens, clients)
	for i := range held {
		held[i] = ts.tokens("cal-app")
	}
	ts.close()
	c := startCluster3(t, dir, filepath.Join(dir, "data"))
	at := func(t *testing.T, i int) *testServer {
		return &testServer{t: t, Base: c.nodes[i].URL(), App: c.nodes[i].URL()}
	}
	for name, down := range map[string]func() []*nodeProcess{
		"the majority": func() []*nodeProcess {
			i := c.Leader()
			return []*nodeProcess{c.nodes[i], c.nodes[(i+1)%3]}
		},
		"all nodes": func() []*nodeProcess { return c.nodes[:] },
	} {
		t.Run(name, func(t *testing.T) {
			stopped := down()
			lost := make([]tokens, clients)
			for i := range held {
				lost[i] = tokensOf(t, at(t, 0).refresh("cal-app", held[i].Refresh))
			}
			for _, n := range stopped {
				n.Kill()
			}
			began := time.Now()
			require.Eventually(t, func() bool { return time.Since(began) > window+2*time.Second }, time.Minute, 10*time.Millisecond)
			for _, n := range stopped {
				n.launch(c.t) // the process must outlive this subtest
			}
			for _, n := range c.nodes {
				require.True(t, n.WaitReady(time.Minute), n.Name)
			}
			signedOut := 0
			for i := range held {
				again := at(t, i%3).refresh("cal-app", held[i].Refresh)
				if again.Status != http.StatusOK {
					signedOut++
					continue
				}
				require.Equal(t, lost[i].Refresh, tokensOf(t, again).Refresh)
				held[i] = tokensOf(t, at(t, i%3).refresh("cal-app", lost[i].Refresh))
			}
			require.Zero(t, signedOut, "of %d clients", clients)
		})
	}
}
