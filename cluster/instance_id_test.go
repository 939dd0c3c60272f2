package cluster_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/integrity"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// relisten gives a node that was shut its listener again.
func (tr *cluster3) relisten(i int) {
	f := initialCluster3{cluster3: tr}
	f.listen(i)
}

// drop deletes parts of a node's folder.
func drop(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
	}
}

// requireDataLost opens a node that must not run.
func requireDataLost(t testing.TB, c cluster.Config) {
	t.Helper()
	n, err := cluster.Open(t.Context(), c)
	if err == nil {
		shut(t, n)
	}
	require.ErrorIs(t, err, store.ErrDataLost)
}

// TestNodeThatLostItsLogAlone has the rest of its folder, and has forgotten its
// votes and what it acknowledged. So has one that lost the instance id file, too.
func TestNodeThatLostItsLogAlone(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	for i, n := range tr.nodes {
		require.Eventually(t, func() bool { return reported(n) }, 10*time.Second, 5*time.Millisecond)
		shut(t, n)
		tr.nodes[i] = nil
	}
	for i, c := range tr.confs {
		kept := t.TempDir()
		copyFolder(t, kept, c.Dir)
		for name, lost := range map[string][]string{
			"with the snapshots":                     {"log", "snapshots"},
			"the log":                                {"log"},
			"without a note":                         {"log", "snapshots", "node.instance"},
			"without a note, with the list of peers": {"log", "snapshots", "peers.json"},
		} {
			drop(t, c.Dir, ".")
			copyFolder(t, c.Dir, kept)
			drop(t, c.Dir, lost...)
			tr.relisten(i)
			member, err := integrity.IsMember(c.Dir)
			require.NoError(t, err)
			require.True(t, member, name)
			requireDataLost(t, tr.confs[i])
			_ = tr.confs[i].Network.Listener.Close()
		}
	}
}

// TestMemberDoesNotJoinAnew: its key is known, but its data is gone.
func TestMemberDoesNotJoinAnew(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	token, _, err := tr.nodes[0].Invite(t.Context(), "n4", "", time.Hour)
	require.NoError(t, err)
	c := networked(t, "", "n4")
	c.Bootstrap = false
	require.NoError(t, tr.joinBy(t.Context(), c, token))
	require.NoError(t, tr.joinBy(t.Context(), c, token), "it has not run yet")
	tr.nodes, tr.confs = append(tr.nodes, open(t, c)), append(tr.confs, c)
	tr.settle(4)
	require.Eventually(t, func() bool { return reported(tr.nodes[3]) }, 10*time.Second, 5*time.Millisecond)
	shut(t, tr.nodes[3])

	drop(t, c.Dir, "log", "snapshots", "peers.json")
	require.ErrorIs(t, tr.joinBy(t.Context(), c, token), store.ErrDataLost)
	drop(t, c.Dir, "node.instance")
	var refused *member.RefusedError
	err = tr.joinBy(t.Context(), c, token)
	require.ErrorAs(t, err, &refused)
	require.ErrorContains(t, err, store.ErrDataLost.Error())
}

func TestNodeAloneThatLostItsLog(t *testing.T) {
	t.Parallel()
	c := config(t, "")
	shut(t, open(t, c))
	drop(t, c.Dir, "log", "snapshots")
	requireDataLost(t, c)
	require.ErrorContains(t, recovery.Restore(c.Offline(), nil), "belongs to a cluster already")
	drop(t, c.Dir, ".")
	shut(t, open(t, c))
}

// withFewTrailingLogs has the log compacted with each snapshot, however short it is.
func withFewTrailingLogs(c cluster.Config) cluster.Config {
	return cluster.WithHooks(c, cluster.Hooks{Raft: func(r *raft.Config) { r.TrailingLogs = 2 }})
}

// TestLostSnapshots leave a log that does not begin at the beginning.
func TestLostSnapshots(t *testing.T) {
	t.Parallel()
	c := config(t, "")
	n := open(t, withFewTrailingLogs(c))
	for range 10 {
		require.NoError(t, n.Raft().Apply(machine.CheckpointEntry(), time.Second).Error())
	}
	require.NoError(t, n.Snapshot())
	first, err := n.Logs().FirstIndex()
	require.NoError(t, err)
	require.Greater(t, first, uint64(1))
	shut(t, n)
	drop(t, c.Dir, "snapshots")
	requireDataLost(t, c)
}

// TestDamagedSnapshots leave the node without what the log had before: the one
// before it does not reach as far as the log begins.
func TestDamagedSnapshots(t *testing.T) {
	t.Parallel()
	c := config(t, "")
	n := open(t, withFewTrailingLogs(c))
	for range 2 {
		for range 10 {
			require.NoError(t, n.Raft().Apply(machine.CheckpointEntry(), time.Second).Error())
		}
		require.NoError(t, n.Snapshot())
	}
	shut(t, n)
	states, err := filepath.Glob(filepath.Join(c.Dir, "snapshots", "*", "state.bin"))
	require.NoError(t, err)
	require.Len(t, states, 2)
	for i := range states { // the newest is the last
		damaged := states[len(states)-1-i]
		text, err := os.ReadFile(damaged)
		require.NoError(t, err)
		text[len(text)/2] ^= 1
		require.NoError(t, os.WriteFile(damaged, text, 0o600))
		requireDataLost(t, c)
	}
}

// TestFirstStartCutShort leaves a folder that can be started again, wherever it
// was cut.
func TestFirstStartCutShort(t *testing.T) {
	t.Parallel()
	c := config(t, "")
	shut(t, open(t, c))
	drop(t, c.Dir, "node.instance") // the last that is written
	n := open(t, c)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(c.Dir, "node.instance"))

	// The log was made, with nothing in it.
	c = networked(t, "", "n1")
	c.Bootstrap = false
	_, err = cluster.Open(t.Context(), c)
	require.ErrorIs(t, err, cluster.ErrEmpty)
	left, err := filepath.Glob(filepath.Join(c.Dir, "log", "*.wal"))
	require.NoError(t, err)
	require.NotEmpty(t, left)
	member, err := integrity.IsMember(c.Dir)
	require.NoError(t, err)
	require.False(t, member)
	c = networked(t, c.Dir, "n1")
	open(t, c)
}

// TestRecoverAfterLoss: there is nobody left whom the survivor could harm.
func TestRecoverAfterLoss(t *testing.T) {
	t.Parallel()
	c := config(t, "")
	n := open(t, c)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a", Value: 7})
	require.NoError(t, err)
	require.NoError(t, n.Snapshot())
	shut(t, n)
	drop(t, c.Dir, "log")
	requireDataLost(t, c)
	require.NoError(t, recovery.Recover(c.Offline(), nil))
	n = open(t, c)
	require.Equal(t, uint64(7), machinetest.Find(n.View(), "a").Value)
	shut(t, n)
	drop(t, c.Dir, "log", "snapshots")
	err = recovery.Recover(c.Offline(), nil)
	require.ErrorContains(t, err, "no data")
	require.False(t, errors.Is(err, store.ErrDataLost))
}

// copyFolder copies a node's folder, with the modes of its files as cp -a does.
func copyFolder(t testing.TB, to, from string) {
	t.Helper()
	require.NoError(t, os.CopyFS(to, os.DirFS(from)))
	require.NoError(t, filepath.WalkDir(to, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		return os.Chmod(path, 0o600)
	}))
}
