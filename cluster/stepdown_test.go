package cluster_test

import (
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
)

// newCluster3WithTarget is a cluster of three led by n1. All other nodes except the
// target are unhealthy, so leadership would go to the target.
func newCluster3WithTarget(t *testing.T, target int, change func(*cluster.Config)) *cluster3 {
	t.Helper()
	var disks []*faultyDisk
	tr := newCluster3(t, func(c *cluster.Config) {
		change(c)
		disks = append(disks, newFaultyDisk())
		*c = cluster.WithDisk(*c, disks[len(disks)-1])
	})
	require.Equal(t, 0, tr.leader())
	tr.waitClocksKnown()
	other := 3 - target
	disks[other].free.Store(300 << 20)
	require.Eventually(t, func() bool {
		return tr.nodes[0].Overview(t.Context()).Nodes[other].Error != ""
	}, 20*time.Second, 10*time.Millisecond)
	return tr
}

// gatedVotes is a disk on which writing a vote hangs while the gate is shut.
type gatedVotes struct {
	raft.StableStore
	gate *gate
}

func (g *gatedVotes) Set(key, val []byte) error {
	if string(key) == "Vote" {
		g.gate.pass()
	}
	return g.StableStore.Set(key, val)
}

// TestStopPassesByANodeThatHangs: the best transfer target hangs. Another node leads when
// StepDown returns.
func TestStopPassesByANodeThatHangs(t *testing.T) {
	t.Parallel()
	g := newGate()
	tr := newCluster3WithTarget(t, 2, func(c *cluster.Config) {
		if c.Name == "n3" {
			*c = cluster.WithHooks(*c, cluster.Hooks{Logs: func(l raft.LogStore) raft.LogStore { return &stallingLogs{l, g} }})
		}
	})
	g.shut()
	defer g.open()
	requireWrite(t, tr.nodes[0])
	g.waitBlocked(t)
	tr.nodes[0].StepDown(t.Context())
	leading, _ := tr.nodes[0].Leading()
	require.False(t, leading)
	require.Equal(t, "n2", tr.nodes[0].Leader())
	requireWrite(t, tr.nodes[0])
}

// TestStopWithATargetThatNeverLeads: the target requests votes, which ends the current
// leadership, and hangs before it has counted them. Another node must lead without the
// election timeout, here an hour.
func TestStopWithATargetThatNeverLeads(t *testing.T) {
	t.Parallel()
	g := newGate()
	tr := newCluster3WithTarget(t, 2, func(c *cluster.Config) {
		h := cluster.Hooks{Raft: func(c *raft.Config) { c.HeartbeatTimeout, c.ElectionTimeout = time.Hour, time.Hour }}
		if c.Name == "n3" {
			h.Stable = func(s raft.StableStore) raft.StableStore { return &gatedVotes{s, g} }
		}
		*c = cluster.WithHooks(*c, h)
	})
	g.shut()
	stepped := make(chan struct{})
	go func() {
		defer close(stepped)
		tr.nodes[0].StepDown(t.Context())
	}()
	g.waitBlocked(t)
	require.Eventually(t, func() bool { leading, _ := tr.nodes[1].Leading(); return leading }, 20*time.Second, time.Millisecond)
	<-stepped
	requireWrite(t, tr.nodes[0])
	g.open()
	tr.waitLeader("n2")
}

// waitLeader waits until all nodes follow the named leader.
func (tr *cluster3) waitLeader(leader string) {
	tr.t.Helper()
	require.Eventually(tr.t, func() bool {
		for _, n := range tr.nodes {
			if n.Leader() != leader {
				return false
			}
		}
		return true
	}, 20*time.Second, 5*time.Millisecond)
	tr.requireSameState()
}

// TestStoppingNodeDoesNotCampaign: a node that has stepped down does not campaign,
// although it is the only one that detects the loss of the leader soon.
func TestStoppingNodeDoesNotCampaign(t *testing.T) {
	t.Parallel()
	tr := newCluster3WithTarget(t, 1, func(c *cluster.Config) {
		if c.Name == "n3" {
			*c = cluster.WithHooks(*c, cluster.Hooks{Raft: func(c *raft.Config) {
				c.HeartbeatTimeout, c.ElectionTimeout = time.Hour, time.Hour
			}})
		}
	})
	stops := tr.nodes[0]
	stops.StepDown(t.Context())
	require.Equal(t, "n2", stops.Leader())
	term := stops.Stats().Term
	cluster.Isolate(tr.nodes[1], true)
	require.Never(t, func() bool {
		return stops.Raft().State() != raft.Follower || stops.Stats().Term != term
	}, 3*time.Second, time.Millisecond)
	cluster.Isolate(tr.nodes[1], false)
	tr.waitLeader("n2")
}
