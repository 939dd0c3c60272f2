package cluster_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// metaPages is the size of bbolt's two meta pages. The rest of the file may be missing.
const metaPages = 2 * 4096

// TestDamagedMeta: a damaged wal-meta.db, the log's list of its own files, causes neither
// a panic nor a new empty log.
func TestDamagedMeta(t *testing.T) {
	t.Parallel()
	c := config(t, "")
	n := open(t, c)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.NoError(t, err)
	shut(t, n)
	path := filepath.Join(c.Dir, "log", "wal-meta.db")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	segments, err := filepath.Glob(filepath.Join(c.Dir, "log", "*.wal"))
	require.NoError(t, err)
	require.NotEmpty(t, segments)
	garbage := make([]byte, len(whole))
	for i := range garbage {
		garbage[i] = byte(7 * i)
	}
	for what, damaged := range map[string][]byte{
		"gone": nil, "empty": {}, "cut short": whole[:metaPages], "garbage": garbage,
		"garbage behind its head": append(whole[:metaPages:metaPages], garbage[metaPages:]...),
	} {
		_ = os.Remove(path)
		if damaged != nil {
			require.NoError(t, os.WriteFile(path, damaged, 0o600))
		}
		_, err := cluster.Open(t.Context(), c)
		require.ErrorIs(t, err, store.ErrDataLost, what)
		require.ErrorContains(t, err, filepath.Dir(path), what)
		for _, segment := range segments {
			require.FileExists(t, segment, what)
		}
	}
	_ = os.Remove(path) // a new file, since the attempt that panicked still has its lock on this one
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	n = open(t, c)
	require.NotEmpty(t, machinetest.Find(n.View(), "a").Last)
}

// TestDamagedFiles: the error names the damaged file and what is wrong.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := (tr.leader() + 1) % 3
	shut(t, tr.nodes[i])
	dir := tr.confs[i].Dir
	for name, text := range map[string]string{
		"node.key":      member.ErrNodeKeyLost.Error(),
		"node.id":       member.ErrRebuiltFile.Error(),
		"node.instance": member.ErrRebuiltFile.Error(),
		"peers.json":    member.ErrRebuiltFile.Error(),
	} {
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, whole[:len(whole)/2-1], 0o600))
		_, err = cluster.Open(t.Context(), tr.confs[i])
		require.ErrorContains(t, err, path)
		require.ErrorContains(t, err, text)
		if name == "node.key" {
			require.NoError(t, os.WriteFile(path, whole, 0o600))
			continue
		}
		require.NoError(t, os.Remove(path))
		tr.start(i) // after the deletion that the error asks for
		tr.settle(3)
		shut(t, tr.nodes[i])
	}
}
