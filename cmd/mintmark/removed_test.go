package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// TestRemovedNodeServesNobody, says why wherever it is asked, and neither starts
// again nor makes a cluster of its own.
func TestRemovedNodeServesNobody(t *testing.T) {
	dir := t.TempDir()
	_, tokens, _ := seed(t, dir, 1)
	c := startCluster3(t, dir, filepath.Join(dir, "data"))
	gone := c.nodes[1]
	rest := &cliEnv{t: t, dir: c.nodes[2].dir}
	rest.ok("", "cluster", "remove", gone.name)

	refused, _ := tokenAnswer(t, gone.listen, tokens[0])
	require.Equal(t, http.StatusServiceUnavailable, refused)
	accepted, _ := tokenAnswer(t, c.nodes[2].listen, tokens[0])
	require.Equal(t, http.StatusOK, accepted, "which burnt nothing")
	var text string
	require.Eventually(t, func() bool {
		_, _, text = asked(t, gone.opsURL+"/readyz?verbose")
		return strings.HasPrefix(text, "[-]member")
	}, 20*time.Second, 20*time.Millisecond)
	require.Contains(t, text, "was removed")
	require.Equal(t, 2, strings.Count(text, "\n"), "the one reason: %s", text)
	for _, path := range append([]string{"/v1/me", "/login"}, publicDocuments...) {
		status, _, _ := asked(t, gone.url+path)
		require.Equal(t, http.StatusServiceUnavailable, status, path)
	}
	cli := &cliEnv{t: t, dir: gone.dir}
	r := cli.run("", "cluster", "status")
	require.Equal(t, exitUnhealthy, r.code)
	require.True(t, strings.HasPrefix(r.out, "removed: "), r.out)
	require.Equal(t, 1, strings.Count(r.out, "\n"), r.out)
	r = cli.run("", "cluster", "status", "-o", "json")
	require.NotContains(t, r.out, "recover")
	gone.stop()

	gone.startAlone(t)
	require.Error(t, gone.command.Wait(), "it ended by itself")
	r = cli.run("", "cluster", "recover", "--yes")
	require.Equal(t, exitLocal, r.code, r.err)
	require.Contains(t, r.err, "was removed")
	require.NotContains(t, r.err, "given up")
}

// TestRecoverIsRefusedWhileTheClusterRuns, and says what it would give up.
func TestRecoverIsRefusedWhileTheClusterRuns(t *testing.T) {
	dir := t.TempDir()
	seed(t, dir, 1)
	c := startCluster3(t, dir, filepath.Join(dir, "data"))
	n := c.nodes[2]
	n.stop()
	require.True(t, c.nodes[0].waitReady(20*time.Second))
	cli := &cliEnv{t: t, dir: n.dir}
	recovered := func(more ...string) cliResult {
		return cli.run("", append([]string{"cluster", "recover"}, more...)...)
	}
	r := recovered("--yes")
	require.Equal(t, exitLocal, r.code, r.err)
	require.Contains(t, r.err, "given up for good: n1 at "+c.nodes[0].clusterAddr+"; it runs, and has a leader\n")
	require.Contains(t, r.err, "given up for good: n2 at "+c.nodes[1].clusterAddr+"; it runs, and has a leader\n")
	require.Contains(t, r.err, "up to entry ")
	require.Contains(t, r.err, "the cluster runs and has a leader")

	c.nodes[0].kill()
	r = recovered("--yes", "--unreachable-are-lost")
	require.Equal(t, exitLocal, r.code, r.err)
	require.Contains(t, r.err, "recover: n2 still runs", "it only has no leader")
	c.nodes[1].kill()
	r = recovered()
	require.Equal(t, exitLocal, r.code)
	require.Contains(t, r.err, "given up for good: n1 at "+c.nodes[0].clusterAddr+"; it refused the connection: no process listens there, or a firewall rejects\n")
	require.Contains(t, r.err, "lost: there is no journal: whatever was revoked")
	require.Contains(t, r.err, "revocations may have come back: grants ended, ")
	require.Contains(t, r.err, ", client secrets revoked, ")
	require.Contains(t, r.err, "say --yes")
	r = recovered("--yes")
	require.Equal(t, exitOK, r.code, r.err)
	n.start(t)
	require.True(t, n.waitReady(20*time.Second))
	s, err := c.status(2)
	require.NoError(t, err)
	require.Len(t, s.Nodes, 1)
	require.Equal(t, admin.RoleVoter, s.Nodes[0].Role)
}
