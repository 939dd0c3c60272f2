package cluster_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// TestTwoIDs: the folder has two different node ids. One may belong to another node, so
// the node does not start.
func TestTwoIDs(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := (tr.leader() + 1) % 3
	id := tr.nodes[i].ID()
	shut(t, tr.nodes[i])
	path := filepath.Join(tr.confs[i].Dir, "node.id")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte("0123456789abcdef"), 0o600))
	requireDataLost(t, tr.confs[i])
	require.ErrorIs(t, recovery.Recover(tr.confs[i].Offline(), nil), store.ErrDataLost)
	_, err = cluster.Open(t.Context(), tr.confs[i])
	require.ErrorContains(t, err, path)
	require.ErrorContains(t, err, id)

	require.NoError(t, os.WriteFile(path, whole, 0o600))
	tr.start(i)
	tr.settle(3)
	require.Equal(t, id, tr.nodes[i].ID())
}
