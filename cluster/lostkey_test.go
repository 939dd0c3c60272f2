package cluster_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
)

// TestLostKeyIsNotMadeAnew: the others know a node by its key, and would take it
// with another one for a node that was removed.
func TestLostKeyIsNotMadeAnew(t *testing.T) {
	tr := newTrio(t)
	i := (tr.leader() + 1) % 3
	shut(t, tr.nodes[i])
	path := filepath.Join(tr.confs[i].Dir, "node.key")
	key, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	_, err = cluster.Open(t.Context(), tr.confs[i])
	require.ErrorIs(t, err, cluster.ErrDataLost)
	require.ErrorContains(t, err, path)
	require.NoFileExists(t, path)

	require.NoError(t, os.WriteFile(path, key, 0o600))
	tr.start(i)
	tr.settle(3)
}
