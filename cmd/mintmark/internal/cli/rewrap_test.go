package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/keys"
)

func TestRewrapOnTheCommandLine(t *testing.T) {
	w := admintest.New(t)
	w.Cluster = admintest.NewCluster()
	var forced []bool
	answer, failure := admin.RewrapResult{ID: "0011223344556677"}, error(nil)
	w.Rewrap = func(_ context.Context, force bool) (admin.RewrapResult, error) {
		forced = append(forced, force)
		return answer, failure
	}
	c := &cliEnv{w, runnerOf(t, w.Serve())}
	r := c.Run("", "keys", "rewrap")
	require.Equal(t, ExitOK, r.Code, r.Err)
	require.Equal(t, "everything is sealed under the new cluster key 0011223344556677\n", r.Out)
	require.Contains(t, r.Err, "cluster.key.old")
	answer.Resumed = true
	require.Contains(t, c.OK("", "keys", "rewrap"), "begun before is finished")
	answer.Behind = []string{"n2", "n3"}
	require.Contains(t, c.OK("", "keys", "rewrap"), "does not hold it yet on n2, n3")
	require.Equal(t, map[string]any{"id": "0011223344556677", "resumed": true, "behind": []any{"n2", "n3"}}, c.Object("keys", "rewrap", "--yes"))
	require.Equal(t, []bool{false, false, false, true}, forced)
	require.Contains(t, w.Log.String(), "0011223344556677")

	failure = admintest.Rule("node n3 can't be reached")
	c.Fails(ExitRefused, "node n3 can't be reached", "keys", "rewrap")
	failure = fmt.Errorf("wait: %w", oauth.ErrUnavailable)
	c.Fails(ExitUnhealthy, "nothing can be decided now", "keys", "rewrap")
	failure = errors.New("a fault")
	c.Fails(ExitUnhealthy, "the server failed (the node's log has the reason)", "keys", "rewrap")
}

func TestRotateAuthorityOnTheCommandLine(t *testing.T) {
	c := newClusterCLI(t)
	r := c.Run("", "cluster", "rotate-authority")
	require.Equal(t, ExitOK, r.Code, r.Err)
	require.Equal(t, "authority aaaaaaaaaaaa is signing\n", r.Out)
	require.Contains(t, r.Err, "join tokens from before are refused")
	c.Cluster.Change(func(s *admin.ClusterStatus) { s.Nodes[2].State = status.StateUnreachable })
	r = c.Run("", "cluster", "rotate-authority")
	require.Equal(t, "authority aaaaaaaaaaaa is signing\nauthority bbbbbbbbbbbb is announced, and waits for n3\n", r.Out)
	require.Contains(t, r.Err, "by itself")
	require.Equal(t, false, c.Object("cluster", "rotate-authority")["done"])
	c.Cluster.Fail(admintest.Rule("the authority is being changed already"))
	c.Fails(ExitRefused, "being changed already", "cluster", "rotate-authority")
	c.Cluster.Change(func(s *admin.ClusterStatus) { s.Unfinished = []string{"the change of the authority is not finished"} })
	require.Contains(t, c.Run("", "cluster", "status").Out, "problem: the change of the authority is not finished\n")

	for _, command := range [][]string{{"cluster", "remove"}, {"cluster", "rotate-authority"}, {"keys", "rewrap"}} {
		help, _, err := testRoot().Find(command)
		require.NoError(t, err)
		at := 0
		for _, step := range []string{"cluster remove", "cluster rotate-authority", "keys rewrap", "keys rotate --emergency"} {
			next := strings.Index(help.Long[at:], "mintmark "+step)
			require.Positive(t, next, "%v: %s", command, step)
			at += next
		}
	}
}

func TestNewClusterKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cluster.key")
	c := runnerOf(t, t.TempDir())
	var made newClusterKey
	require.NoError(t, json.Unmarshal([]byte(c.OK("", "keys", "new-cluster-key", file, "-o", "json")), &made))
	key, err := keys.ReadClusterKey(file)
	require.NoError(t, err)
	require.Equal(t, newClusterKey{file, key.ID()}, made)
	c.Fails(ExitLocal, "exists", "keys", "new-cluster-key", file)
	text := strings.TrimSpace(string(key.Text()))
	r := c.Run("", "keys", "new-cluster-key", file+"2")
	require.Equal(t, ExitOK, r.Code)
	require.Contains(t, r.Err, "safe place")
	require.NotContains(t, r.Out+r.Err, text)
}
