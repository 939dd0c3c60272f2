package cluster_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
)

// TestBackupStartsANewCluster: a backup restores into a new cluster. Other nodes can join
// that cluster, and no node of the old cluster is a member.
func TestBackupStartsANewCluster(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	for i := range 100 {
		_, _, err := tr.nodes[i%3].Propose(t.Context(), &machinetest.Set{Name: fmt.Sprint(i), Value: uint64(i)})
		require.NoError(t, err)
	}
	b, err := tr.nodes[1].Backup(t.Context())
	require.NoError(t, err)
	require.Equal(t, uint64(100), b.Rows["registers"])
	_, _, err = tr.nodes[0].Propose(t.Context(), &machinetest.Set{Name: "later"})
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, b.Write(&file))

	c := networked(t, "", "new")
	c.Bootstrap = false
	require.NoError(t, recovery.Restore(c.Offline(), bytes.NewReader(file.Bytes())))
	require.ErrorContains(t, recovery.Restore(c.Offline(), bytes.NewReader(file.Bytes())), "belongs to a cluster already")
	n := open(t, c)
	require.Equal(t, uint64(99), machinetest.Find(n.View(), "99").Value)
	require.Empty(t, machinetest.Find(n.View(), "later").Last)
	v, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "on"})
	require.NoError(t, err)
	require.Greater(t, v.(command.Meta).Seq, b.Seq)

	fresh := &cluster3{t: t, nodes: []*cluster.Node{n}, confs: []cluster.Config{c}}
	c2 := networked(t, "", "n2") // same name as a node of the old cluster
	c2.Bootstrap = false
	fresh.join(c2)
	fresh.nodes, fresh.confs = append(fresh.nodes, open(t, c2)), append(fresh.confs, c2)
	fresh.settle(2)
	fresh.requireSameState()

	bad := networked(t, "", "bad")
	require.Error(t, recovery.Restore(bad.Offline(), bytes.NewReader(file.Bytes()[:file.Len()-1])))
	require.Error(t, recovery.Restore(bad.Offline(), bytes.NewReader([]byte("rubbish"))))
	open(t, bad) // the failed restores left nothing behind
}

// TestRecoveryFromOneSurvivor: two of three nodes are lost. The third recovers as a
// cluster of one with all its data, and other nodes join it.
func TestRecoveryFromOneSurvivor(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	_, index, err := tr.nodes[0].Propose(t.Context(), &machinetest.Set{Name: "kept", Value: 7})
	require.NoError(t, err)
	_, err = tr.nodes[2].ViewAt(t.Context(), index)
	require.NoError(t, err)
	for _, n := range tr.nodes {
		shut(t, n)
	}
	c := tr.confs[2]
	require.NoError(t, recovery.Recover(c.Offline(), nil))
	c.Network = networked(t, "", "").Network
	n := open(t, c)
	require.Equal(t, uint64(7), machinetest.Find(n.View(), "kept").Value)
	_, _, err = n.Propose(t.Context(), &machinetest.Set{Name: "on"})
	require.NoError(t, err)
	require.Len(t, n.Members(), 1)

	fresh := &cluster3{t: t, nodes: []*cluster.Node{n}, confs: []cluster.Config{c}}
	c2 := networked(t, "", "n2")
	c2.Bootstrap = false
	fresh.join(c2)
	fresh.nodes, fresh.confs = append(fresh.nodes, open(t, c2)), append(fresh.confs, c2)
	fresh.settle(2)
	fresh.requireSameState()

	empty := networked(t, "", "x")
	require.ErrorContains(t, recovery.Recover(empty.Offline(), nil), "no data")
}

// TestDataOfANodeAloneGetsPeers: a data folder made without a network, as by mintmark
// dev, can become the first node of a cluster.
func TestDataOfANodeAloneGetsPeers(t *testing.T) {
	t.Parallel()
	alone := config(t, "")
	n := open(t, alone)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "kept", Value: 7})
	require.NoError(t, err)
	shut(t, n)
	c := networked(t, alone.Dir, "n1")
	c.Bootstrap = false
	n = open(t, c)
	tr := &cluster3{t: t, nodes: []*cluster.Node{n}, confs: []cluster.Config{c}}
	c2 := networked(t, "", "n2")
	c2.Bootstrap = false
	tr.join(c2)
	tr.nodes, tr.confs = append(tr.nodes, open(t, c2)), append(tr.confs, c2)
	tr.settle(2)
	require.NoError(t, tr.nodes[1].TransferLeadership(t.Context(), "n2"))
	require.Eventually(t, func() bool { l, _ := tr.nodes[1].Leading(); return l }, 10*time.Second, time.Millisecond)
	tr.requireSameState()
}
