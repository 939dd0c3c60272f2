package cluster_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// TestLostKeyIsNotMadeAnew: the other nodes identify a node by its key. With a new key
// they would treat it as a removed node.
func TestLostKeyIsNotMadeAnew(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := (tr.leader() + 1) % 3
	shut(t, tr.nodes[i])
	path := filepath.Join(tr.confs[i].Dir, "node.key")
	key, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	_, err = cluster.Open(t.Context(), tr.confs[i])
	require.ErrorIs(t, err, store.ErrDataLost)
	require.ErrorContains(t, err, path)
	require.NoFileExists(t, path)

	require.NoError(t, os.WriteFile(path, key, 0o600))
	tr.start(i)
	tr.settle(3)
}

// TestAnotherKeyIsNotTaken: with the key of another node, the others would report this
// node as removed, and it would record that permanently.
func TestAnotherKeyIsNotTaken(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := (tr.leader() + 1) % 3
	shut(t, tr.nodes[i])
	path := filepath.Join(tr.confs[i].Dir, "node.key")
	own, err := os.ReadFile(path)
	require.NoError(t, err)
	other, err := os.ReadFile(filepath.Join(tr.confs[(i+1)%3].Dir, "node.key"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, other, 0o600))
	_, err = cluster.Open(t.Context(), tr.confs[i])
	require.ErrorIs(t, err, store.ErrDataLost)
	require.ErrorContains(t, err, path)

	require.NoError(t, os.WriteFile(path, own, 0o600))
	tr.start(i)
	tr.settle(3)
}

// TestExposedKeyIsRefused: a process that can read the key file can impersonate the node.
// No node starts, joins or recovers with such a key until an operator has fixed the
// permissions.
func TestExposedKeyIsRefused(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := (tr.leader() + 1) % 3
	c := tr.confs[i]
	shut(t, tr.nodes[i])
	path := filepath.Join(c.Dir, "node.key")
	for _, mode := range []os.FileMode{0o640, 0o620, 0o604, 0o602, 0o644, 0o666} {
		require.NoError(t, os.Chmod(path, mode))
		_, err := cluster.Open(t.Context(), c)
		require.ErrorIs(t, err, store.ErrExposed, "%o", mode)
		require.ErrorContains(t, err, path)
		_, err = recovery.NewPlan(t.Context(), c.Offline())
		require.ErrorIs(t, err, store.ErrExposed, "%o", mode)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode(), "the permissions are not changed")
	}
	require.NoError(t, os.Chmod(path, 0o400))
	tr.start(i)
	tr.settle(3)

	// The key was left over from an earlier attempt to join.
	late := networked(t, "", "n4")
	late.Bootstrap = false
	other, err := os.ReadFile(path)
	require.NoError(t, err)
	left := filepath.Join(late.Dir, "node.key")
	require.NoError(t, os.WriteFile(left, other, 0o600))
	require.NoError(t, os.Chmod(left, 0o640))
	token, _, err := tr.nodes[0].Invite(t.Context(), late.Name, "", time.Hour)
	require.NoError(t, err)
	require.ErrorIs(t, tr.joinBy(t.Context(), late, token), store.ErrExposed)
}

// TestListOfPeersIsMadeAnew: a node that lost its peer list rebuilds it by replaying the
// log. The lists from before it joined do not contain the node, and it must not conclude
// that it was removed.
func TestListOfPeersIsMadeAnew(t *testing.T) {
	t.Parallel()
	tr := newCluster2(t)
	for i := range 200 { // more entries than are applied in one batch
		_, _, err := tr.nodes[tr.leader()].Propose(t.Context(), &machinetest.Set{Name: strconv.Itoa(i)})
		require.NoError(t, err)
	}
	const last = 2
	c := networked(t, "", "late")
	c.Bootstrap = false
	tr.join(c)
	tr.nodes, tr.confs = append(tr.nodes, open(t, c)), append(tr.confs, c)
	tr.settle(3)
	shut(t, tr.nodes[last])
	require.NoError(t, os.Remove(filepath.Join(tr.confs[last].Dir, "peers.json")))

	slow := cluster.WithHooks(tr.confs[last], cluster.Hooks{FSM: func() { time.Sleep(30 * time.Millisecond) }}) // slow enough that the node sees each list
	tr.confs[last] = slow
	tr.start(last)
	tr.settle(3)
	require.NoError(t, tr.nodes[last].Removed())
	require.FileExists(t, filepath.Join(slow.Dir, "peers.json"))
	require.NoFileExists(t, filepath.Join(slow.Dir, "removed"))
}
