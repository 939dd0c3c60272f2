package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
)

// TestHealth: the exit code is 0 for a node that is ready, and 1 for a node that waits or
// does not answer. "cluster status" shows the expiry of the certificate for clients.
func TestHealth(t *testing.T) {
	t.Parallel()
	files := writePair(t, t.TempDir(), 1, time.Now().Add(90*24*time.Hour))
	n := newNode(t, "n1")
	secure := []string{"--ops-tls-cert-file", files.Cert, "--ops-tls-key-file", files.Key}
	n.launch(t, append(secure, "--tls-cert-file", files.Cert, "--tls-key-file", files.Key)...)
	health := func(more ...string) (int, string) {
		r := n.Run("", append([]string{"health", "--ops-listen", n.Ops, "--timeout", "20s"}, more...)...)
		return r.Code, r.Out + r.Err
	}
	(&startingServer{t: t, dir: n.Dir}).requireStatus(noCluster)
	code, text := health(secure...)
	require.Equal(t, cli.ExitLocal, code)
	require.Contains(t, text, "is not ready (status 503): started no cluster was created or joined yet")
	require.NoError(t, (&startingServer{t: t, dir: n.Dir}).init(hereURL))
	n.serving(t)
	require.Eventually(t, func() bool {
		code, text = health(secure...)
		return code == cli.ExitOK
	}, 20*time.Second, 20*time.Millisecond)
	require.Equal(t, "ready\n", text)
	code, _ = health()
	require.Equal(t, cli.ExitLocal, code, "without TLS")
	require.Contains(t, n.OK("", "cluster", "status"), "n1: TLS certificate for clients until "+certificateIn(t, files.Cert).NotAfter.UTC().Format("2006-01-02"))
	n.Stop()
	code, text = health(secure...)
	require.Equal(t, cli.ExitLocal, code)
	require.Contains(t, text, "nothing listens there")
	require.Contains(t, n.refused(t, "--tls-cert-file", filepath.Join(n.Dir, "none")), "tls-key-file (default): expected the file of the private key")
}
