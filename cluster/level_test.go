package cluster_test

import (
	"context"
	"errors"
	"maps"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
)

// newer is the toy machine with a kind added at level 2. older is the program version
// before it.
func newer() machine.Machine {
	m := machinetest.Toy()
	m.Level, m.Since = 2, map[command.Kind]uint32{machinetest.KindForget: 2}
	return m
}

func older() machine.Machine {
	m := machinetest.Toy()
	m.Level, m.Commands = 1, maps.Clone(m.Commands)
	delete(m.Commands, machinetest.KindForget)
	return m
}

// upgrade restarts a node with another program version.
func (tr *cluster3) upgrade(i int, m machine.Machine, version string) {
	tr.t.Helper()
	shut(tr.t, tr.nodes[i])
	l, err := net.Listen("tcp", tr.confs[i].Network.Advertise)
	require.NoError(tr.t, err)
	network := *tr.confs[i].Network
	network.Listener = l
	tr.confs[i].Network, tr.confs[i].Machine, tr.confs[i].Version = &network, m, version
	tr.nodes[i] = open(tr.t, tr.confs[i])
	tr.settle(3)
}

func (tr *cluster3) waitLevel(want uint32) {
	tr.t.Helper()
	require.Eventually(tr.t, func() bool {
		for _, n := range tr.nodes {
			if n.Stats().Level != want {
				return false
			}
		}
		return true
	}, 20*time.Second, 5*time.Millisecond)
}

// TestRollingUpgrade: a kind that older program versions do not know is refused until no
// node runs such a version.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t, func(c *cluster.Config) { c.Machine, c.Version = older(), "v1" })
	tr.waitLevel(1)
	for i := range 3 {
		tr.upgrade(i, newer(), "v2")
		_, _, err := tr.nodes[i].Propose(t.Context(), &machinetest.Set{Name: "a", Value: uint64(i)})
		require.NoError(t, err)
		if i == 2 {
			break
		}
		// The result is the same whichever node leads, and whichever new node proposes.
		for _, n := range tr.nodes {
			require.Eventually(t, func() bool { // raft may first try a connection from before the restart
				return n.TransferLeadership(t.Context(), n.ID()) == nil
			}, 20*time.Second, 10*time.Millisecond)
			tr.settle(3)
			for j := range i + 1 {
				_, _, err := tr.nodes[j].Propose(t.Context(), &machinetest.Forget{Name: "a"})
				var level *cluster.LevelError
				require.ErrorAs(t, err, &level)
				require.ErrorIs(t, err, cluster.ErrUnavailable)
				require.Equal(t, uint32(2), level.Needs)
				require.Equal(t, uint32(1), level.Has)
				require.ErrorContains(t, err, "n3 (v1, level 1)")
				require.NotContains(t, err.Error(), "n1 (")
			}
		}
		tr.waitLevel(1)
		tr.requireSameState()
	}
	tr.waitLevel(2)
	for _, n := range tr.nodes {
		_, _, err := n.Propose(t.Context(), &machinetest.Forget{Name: "a"})
		require.NoError(t, err)
	}
	tr.requireSameState()

	// A downgrade is refused. The peer list in the folder reveals it at once; a node that
	// stopped before it recorded the level finds out from the log.
	shut(t, tr.nodes[2])
	c := tr.confs[2]
	c.Machine = older()
	for _, inFolder := range []bool{true, false} {
		l, err := net.Listen("tcp", c.Network.Advertise)
		require.NoError(t, err)
		network := *c.Network
		network.Listener = l
		c.Network = &network
		stopped := make(chan error, 1)
		c.Fatal = func(err error) {
			select {
			case stopped <- err:
			default:
			}
			runtime.Goexit()
		}
		if !inFolder {
			require.Equal(t, uint32(2), setPeerListLevel(t, c.Dir, 1))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		n, err := cluster.Open(ctx, c)
		if inFolder {
			require.NoError(t, l.Close())
		} else {
			require.NoError(t, err)
			t.Cleanup(func() { shut(t, n) })
			err = <-stopped
		}
		require.ErrorContains(t, err, "the program does not have: feature level 2, this version has 1")
	}
}

// TestLevelOfANodeAlone: a single node has the level of its program at once.
func TestLevelOfANodeAlone(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*cluster.Config){
		"without a network": func(*cluster.Config) {},
		"with a network": func(c *cluster.Config) {
			n := networked(t, "", "n1")
			c.Network, c.Secrets, c.JoinSecret, c.Name = n.Network, n.Secrets, n.JoinSecret, n.Name
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := config(t, "")
			change(&c)
			c.Machine = newer()
			n := open(t, c)
			require.Equal(t, uint32(2), n.Stats().Level)
			_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
			require.NoError(t, err)
			_, _, err = n.Propose(t.Context(), &machinetest.Forget{Name: "a"})
			require.NoError(t, err)
		})
	}
}

// TestUpgradeOfANodeAlone: a single node with old data raises its level at once after an
// upgrade.
func TestUpgradeOfANodeAlone(t *testing.T) {
	t.Parallel()
	c := config(t, "")
	c.Machine = older()
	n := open(t, c)
	require.Equal(t, uint32(1), n.Stats().Level)
	shut(t, n)
	c.Machine = newer()
	n = open(t, c)
	_, _, err := n.Propose(t.Context(), &machinetest.Forget{Name: "a"})
	require.NoError(t, err)
}

func TestMachineReachesItsLevels(t *testing.T) {
	t.Parallel()
	c := config(t, "")
	c.Machine.Since = map[command.Kind]uint32{machinetest.KindForget: 1}
	_, err := cluster.Open(t.Context(), c)
	require.ErrorContains(t, err, "needs level 1, and the machine has 0")
	require.False(t, errors.Is(err, cluster.ErrUnavailable))
}
