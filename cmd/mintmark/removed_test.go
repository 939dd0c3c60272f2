package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// TestRemovedNodeServesNobody: a removed node refuses requests, reports why on each of
// its interfaces, and neither starts again nor recovers as a cluster of its own.
func TestRemovedNodeServesNobody(t *testing.T) {
	dir := t.TempDir()
	_, tokens, _ := seed(t, dir, 1)
	c := startCluster3(t, dir, filepath.Join(dir, "data"))
	gone := c.nodes[1]
	rest := operatorOf(t, c.nodes[2].Dir)
	rest.OK("", "cluster", "remove", gone.Name, "--yes")

	refused, _ := tokenAnswer(t, gone.Public, tokens[0])
	require.Equal(t, http.StatusServiceUnavailable, refused)
	accepted, _ := tokenAnswer(t, c.nodes[2].Public, tokens[0])
	require.Equal(t, http.StatusOK, accepted, "the refused request has spent no token")
	var text string
	require.Eventually(t, func() bool {
		_, _, text = asked(t, gone.OpsURL()+"/readyz?verbose")
		return strings.HasPrefix(text, "[-]member")
	}, 20*time.Second, 20*time.Millisecond)
	require.Contains(t, text, "was removed")
	require.Equal(t, 2, strings.Count(text, "\n"), "only the membership check is reported: %s", text)
	for _, path := range append([]string{"/v1/me", "/login"}, publicDocuments...) {
		status, _, _ := asked(t, gone.URL()+path)
		require.Equal(t, http.StatusServiceUnavailable, status, path)
	}
	operator := operatorOf(t, gone.Dir)
	r := operator.Run("", "cluster", "status")
	require.Equal(t, cli.ExitUnhealthy, r.Code)
	require.True(t, strings.HasPrefix(r.Out, "removed: "), r.Out)
	require.Equal(t, 2, strings.Count(r.Out, "\n"), "one line for the fact and one for the advice: %s", r.Out)
	r = operator.Run("", "cluster", "status", "-o", "json")
	require.NotContains(t, r.Out, "recover")
	gone.Stop()

	gone.launch(t)
	require.Error(t, gone.Process().Wait(), "the node does not start")
	r = operator.Run("", "cluster", "recover", "--yes")
	require.Equal(t, cli.ExitLocal, r.Code, r.Err)
	require.Contains(t, r.Err, "was removed")
	require.NotContains(t, r.Err, "given up")
}

// TestRecoverIsRefusedWhileTheClusterRuns: the refusal lists which nodes a recovery would
// give up.
func TestRecoverIsRefusedWhileTheClusterRuns(t *testing.T) {
	dir := t.TempDir()
	seed(t, dir, 1)
	c := startCluster3(t, dir, filepath.Join(dir, "data"))
	n := c.nodes[2]
	n.Stop()
	require.True(t, c.nodes[0].WaitReady(20*time.Second))
	operator := operatorOf(t, n.Dir)
	recovered := func(more ...string) testkit.Result {
		return operator.Run("", append([]string{"cluster", "recover"}, more...)...)
	}
	r := recovered("--yes")
	require.Equal(t, cli.ExitLocal, r.Code, r.Err)
	require.Contains(t, r.Err, "given up for good: n1 at "+c.nodes[0].Raft+"; it runs, and has a leader\n")
	require.Contains(t, r.Err, "given up for good: n2 at "+c.nodes[1].Raft+"; it runs, and has a leader\n")
	require.Contains(t, r.Err, "up to entry ")
	require.Contains(t, r.Err, "the cluster runs and has a leader")

	c.nodes[0].Kill()
	r = recovered("--yes", "--unreachable-are-lost")
	require.Equal(t, cli.ExitLocal, r.Code, r.Err)
	require.Contains(t, r.Err, "recover: n2 still runs", "a node that runs without a leader also prevents a recovery")
	c.nodes[1].Kill()
	r = recovered()
	require.Equal(t, cli.ExitLocal, r.Code)
	require.Contains(t, r.Err, "given up for good: n1 at "+c.nodes[0].Raft+"; it refused the connection: no process listens there, or a firewall rejects\n")
	require.Contains(t, r.Err, "lost: there is no journal: whatever was revoked")
	require.Contains(t, r.Err, "revocations may have come back: grants ended, ")
	require.Contains(t, r.Err, ", client secrets revoked, ")
	require.Contains(t, r.Err, "say --yes")
	r = recovered("--yes")
	require.Equal(t, cli.ExitOK, r.Code, r.Err)
	n.start(t)
	require.True(t, n.WaitReady(20*time.Second))
	s, err := c.status(2)
	require.NoError(t, err)
	require.Len(t, s.Nodes, 1)
	require.Equal(t, status.RoleVoter, s.Nodes[0].Role)
}
