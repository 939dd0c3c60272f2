package cluster_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// TestCommitMarkerThatHangs: a node stops although the write of the commit marker hangs,
// and leaves that write behind.
func TestCommitMarkerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config(t, "")
		g := newGate()
		n, err := cluster.Open(t.Context(), cluster.WithHooks(c, cluster.Hooks{CommitMarker: g.pass}))
		require.NoError(t, err)
		g.shut()
		_, index, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
		require.NoError(t, err)
		g.waitBlocked(t)
		begun := time.Now()
		require.ErrorContains(t, n.Close(t.Context()), "hangs")
		require.Less(t, time.Since(begun), 15*time.Second)

		again := open(t, c)
		require.NotEmpty(t, machinetest.Find(again.View(), "a").Last)
		g.open() // the late write is still correct
		shut(t, again)
		synctest.Wait()
		require.GreaterOrEqual(t, readCommitMarker(t, c.Dir), index)
		open(t, c)
	})
	for range 2 { // release the timers of this synctest bubble that are left in a sync.Pool
		runtime.GC()
	}
}

// TestLostCommitMarker: the commit marker reveals a truncated log, so a node that has
// lost its marker does not start.
func TestLostCommitMarker(t *testing.T) {
	c := config(t, "")
	n := open(t, c)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.NoError(t, err)
	shut(t, n)
	path := filepath.Join(c.Dir, "commit-marker")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, damaged := range [][]byte{{}, whole[:7], append([]byte{1}, whole[1:]...)} {
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		requireDataLost(t, c)
	}
	drop(t, c.Dir, "commit-marker")
	requireDataLost(t, c)
	_, err = cluster.Open(t.Context(), c)
	require.ErrorContains(t, err, path)
	require.ErrorIs(t, err, integrity.ErrNoCommitMarker)

	require.NoError(t, os.WriteFile(path, whole, 0o600))
	shut(t, open(t, c))
	drop(t, c.Dir, "commit-marker")
	require.NoError(t, recovery.Recover(c.Offline(), nil))
	n = open(t, c)
	require.NotEmpty(t, machinetest.Find(n.View(), "a").Last)
	shut(t, n)

	// A first start that was interrupted left no marker or a part of one.
	for _, damaged := range [][]byte{nil, {}, whole[:7]} {
		s := openStore(t, c.Dir) // the folder does not yet record that it has a marker
		require.NoError(t, s.Stable.Set([]byte(store.KeyCommitMarker), nil))
		require.NoError(t, s.Close())
		drop(t, c.Dir, "commit-marker")
		if damaged != nil {
			require.NoError(t, os.WriteFile(path, damaged, 0o600))
		}
		shut(t, open(t, c))
		drop(t, c.Dir, "commit-marker")
		requireDataLost(t, c) // once the folder records that it has a marker
		require.NoError(t, os.WriteFile(path, whole, 0o600))
	}
}

// TestCommitMarkerOfFirstStart: the commit marker exists before anything is committed.
func TestCommitMarkerOfFirstStart(t *testing.T) {
	c := config(t, "")
	writes := make(chan struct{})
	n, err := cluster.Open(t.Context(), cluster.WithHooks(c, cluster.Hooks{CommitMarker: func() { <-writes }}))
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(c.Dir, "commit-marker"))
	require.Zero(t, readCommitMarker(t, c.Dir))
	close(writes)
	shut(t, n)
	require.NotZero(t, readCommitMarker(t, c.Dir))
}
