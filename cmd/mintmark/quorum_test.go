package main

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// asked returns the response to a GET within five seconds.
func asked(t testing.TB, url string) (int, http.Header, string) {
	t.Helper()
	c := http.Client{Timeout: 5 * time.Second}
	r, err := c.Get(url)
	require.NoError(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return r.StatusCode, r.Header, string(body)
}

var publicDocuments = []string{"/.well-known/jwks.json", "/.well-known/oauth-authorization-server"}

// TestRestartWithoutMajority: a node that restarts without a majority serves the
// documents that verifiers need, and reports the cause to operators.
func TestRestartWithoutMajority(t *testing.T) {
	dir := t.TempDir()
	seed(t, dir, 1)
	c := startCluster3(t, dir, filepath.Join(dir, "data"))
	n := c.nodes[1]
	documents := map[string]string{}
	for _, path := range publicDocuments {
		status, _, body := asked(t, n.URL()+path)
		require.Equal(t, http.StatusOK, status)
		documents[path] = body
	}
	c.nodes[0].Kill()
	c.nodes[2].Kill()
	n.Stop()
	operator := operatorOf(t, n.Dir)
	unhealthy := func() {
		t.Helper()
		var r testkit.Result
		require.Eventually(t, func() bool {
			r = operator.Run("", "cluster", "status")
			return r.Code != cli.ExitUnreachable
		}, 20*time.Second, 20*time.Millisecond)
		require.Equal(t, cli.ExitUnhealthy, r.Code, r.Err)
		require.Contains(t, r.Out, "n1 and n3 can't be reached")
		require.Contains(t, r.Out, "mintmark cluster recover")
	}

	n.start(t) // waits for the output line
	for path, body := range documents {
		status, _, got := asked(t, n.URL()+path)
		require.Equal(t, http.StatusOK, status, path)
		require.Equal(t, body, got)
	}
	unhealthy()
	// A node without a majority does not know whether a correct secret was revoked
	// meanwhile. For a wrong secret that does not matter.
	for secret, want := range map[string]int{"bench-secret": http.StatusServiceUnavailable, "another": http.StatusUnauthorized} {
		for _, form := range []url.Values{
			{"grant_type": {"refresh_token"}, "refresh_token": {"rubbish"}},
			{"grant_type": {"authorization_code"}, "code": {"rubbish"}, "redirect_uri": {callback}},
		} {
			form.Set("client_id", "bench-app")
			form.Set("client_secret", secret)
			r, err := http.PostForm(n.URL()+"/v2/auth/oauth2/token", form)
			require.NoError(t, err)
			_ = r.Body.Close()
			require.Equal(t, want, r.StatusCode, "%s, %s", secret, form.Get("grant_type"))
		}
	}
	status, _, text := asked(t, n.OpsURL()+"/readyz?verbose")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, text, "[+]started ok")
	require.Contains(t, text, "[-]commit")
	require.Contains(t, text, "no leader is known")
	_, _, text = asked(t, n.OpsURL()+"/metrics")
	require.Contains(t, text, "\nmintmark_ready 0\n")
	n.Kill()

	// A node without any state, as one that has just joined.
	require.NoError(t, os.RemoveAll(filepath.Join(n.Dir, "raft", "snapshots")))
	nothing := make([]byte, 16)
	nothing = binary.BigEndian.AppendUint32(nothing, crc32.ChecksumIEEE(nothing))
	require.NoError(t, os.WriteFile(filepath.Join(n.Dir, "raft", "commit-marker"), nothing, 0o600))
	n.launch(t)
	unhealthy()
	require.Eventually(t, func() bool {
		_, _, text = asked(t, n.OpsURL()+"/readyz?verbose")
		return strings.Contains(text, "[-]started") && strings.Contains(text, "no settings are known to this node")
	}, 20*time.Second, 20*time.Millisecond)
	for _, path := range publicDocuments {
		status, header, body := asked(t, n.URL()+path)
		require.Equal(t, http.StatusServiceUnavailable, status, path)
		require.NotEmpty(t, header.Get("Retry-After"))
		require.Contains(t, body, "temporarily_unavailable")
	}
	r := operator.Run("", "client", "list")
	require.Equal(t, cli.ExitUnhealthy, r.Code)
	require.Contains(t, r.Err, "no settings are known to this node")

	// It resumes when another node is back.
	c.nodes[0].launch(t)
	n.serving(t)
	require.True(t, n.WaitReady(20*time.Second))
	status, _, _ = asked(t, n.URL()+publicDocuments[0])
	require.Equal(t, http.StatusOK, status)
}
