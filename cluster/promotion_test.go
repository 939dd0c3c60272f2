package cluster_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/status"
)

// TestNewNodeVotesWhenItHasCaughtUp: a node that lags would raise the size of a majority
// and could not contribute to one.
func TestNewNodeVotesWhenItHasCaughtUp(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := tr.leader()
	for n := range 600 {
		_, _, err := tr.nodes[i].Propose(t.Context(), &machinetest.Set{Name: "a", Value: uint64(n)})
		require.NoError(t, err)
	}
	g := newGate()
	c := cluster.WithHooks(networked(t, "", "n4"), cluster.Hooks{Logs: func(l raft.LogStore) raft.LogStore { return &stallingLogs{l, g} }})
	c.Bootstrap = false
	tr.join(c)
	g.shut()
	catchUp := sync.OnceFunc(g.open)
	n := open(t, c)
	defer catchUp()
	g.waitBlocked(t)
	role := func() string {
		for _, s := range tr.nodes[i].Overview(t.Context()).Nodes {
			if s.Name == c.Name {
				return s.Role
			}
		}
		return ""
	}
	require.Eventually(t, func() bool { return role() == status.RoleNonvoter }, 20*time.Second, time.Millisecond)
	require.Never(t, func() bool { return role() != status.RoleNonvoter }, 2*time.Second, 20*time.Millisecond)
	require.Len(t, tr.nodes[i].Voters(), 3)
	for n := range 3 {
		_, _, err := tr.nodes[i].Propose(t.Context(), &machinetest.Set{Name: strconv.Itoa(n)})
		require.NoError(t, err, "commands do not wait for the new node")
	}
	catchUp()
	require.Eventually(t, func() bool { return role() == status.RoleVoter }, 20*time.Second, 10*time.Millisecond)
	require.Contains(t, tr.nodes[i].Voters(), n.ID())
}
