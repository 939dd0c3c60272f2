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

// relisten opens the listener of a stopped node again.
func (tr *cluster3) relisten(i int) {
	f := initialCluster3{cluster3: tr}
	f.listen(i)
}

// drop deletes files or folders below dir.
func drop(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
	}
}

// requireDataLost requires that Open fails with store.ErrDataLost.
func requireDataLost(t testing.TB, c cluster.Config) {
	t.Helper()
	n, err := cluster.Open(t.Context(), c)
	if err == nil {
		shut(t, n)
	}
	require.ErrorIs(t, err, store.ErrDataLost)
}

// TestNodeThatLostItsLogAlone: a node that lost its log, but not the rest of its folder,
// has forgotten its votes and its acknowledged entries, so it must not start. The same
// holds if it also lost its instance id file.
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

// TestMemberDoesNotJoinAnew: a member that lost its data can't join again under its key.
func TestMemberDoesNotJoinAnew(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	token, _, err := tr.nodes[0].Invite(t.Context(), "n4", "", time.Hour)
	require.NoError(t, err)
	c := networked(t, "", "n4")
	c.Bootstrap = false
	require.NoError(t, tr.joinBy(t.Context(), c, token))
	require.NoError(t, tr.joinBy(t.Context(), c, token), "a join can be repeated before the node has run")
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

// withFewTrailingLogs makes each snapshot compact the log almost completely.
func withFewTrailingLogs(c cluster.Config) cluster.Config {
	return cluster.WithHooks(c, cluster.Hooks{Raft: func(r *raft.Config) { r.TrailingLogs = 2 }})
}

// TestLostSnapshots: without its snapshots the log does not begin at index 1, so the node
// does not start.
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

// TestDamagedSnapshots: the newest snapshot is damaged. The older snapshot ends before
// the log begins, so entries are missing and the node does not start.
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
	for i := range states { // from the newest to the oldest
		damaged := states[len(states)-1-i]
		text, err := os.ReadFile(damaged)
		require.NoError(t, err)
		text[len(text)/2] ^= 1
		require.NoError(t, os.WriteFile(damaged, text, 0o600))
		requireDataLost(t, c)
	}
}

// TestFirstStartCutShort: a first start that was interrupted at any point can be
// repeated.
func TestFirstStartCutShort(t *testing.T) {
	t.Parallel()
	c := config(t, "")
	shut(t, open(t, c))
	drop(t, c.Dir, "node.instance") // the file that a first start writes last
	n := open(t, c)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(c.Dir, "node.instance"))

	// The log was created, without entries.
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

// TestRecoverAfterLoss: a node that lost its log can be recovered as a cluster of one,
// since no other node depends on its votes any more.
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
