package cluster_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
)

// TestTwoLowDisks: leadership goes directly to the one node with free space. If no node
// has any, leadership stays.
func TestTwoLowDisks(t *testing.T) {
	t.Parallel()
	var disks []*faultyDisk
	tr := newCluster3(t, func(c *cluster.Config) {
		disks = append(disks, newFaultyDisk())
		*c = cluster.WithDisk(*c, disks[len(disks)-1])
	})
	tr.waitClocksKnown()
	low := func(i int, is bool) {
		disks[i].free.Store(100 << 30)
		if is {
			disks[i].free.Store(300 << 20)
		}
	}
	// told waits until every node knows which nodes are low on space.
	told := func(is ...bool) {
		t.Helper()
		require.Eventually(t, func() bool {
			for _, n := range tr.nodes {
				for i, s := range n.Overview(t.Context()).Nodes {
					if (s.Error != "") != is[i] {
						return false
					}
				}
			}
			return true
		}, 20*time.Second, 10*time.Millisecond)
	}
	i := tr.leader()
	j, k := (i+1)%3, (i+2)%3
	is := make([]bool, 3)
	is[j] = true
	low(j, true)
	told(is...)
	term := tr.nodes[i].Stats().Term
	low(i, true)
	require.Eventually(t, func() bool { return tr.leader() == k }, 10*time.Second, 5*time.Millisecond)
	require.Equal(t, term+1, tr.nodes[k].Stats().Term, "leadership moved once")

	low(k, true)
	told(true, true, true)
	require.Never(t, func() bool {
		leading, _ := tr.nodes[k].Leading()
		return !leading || tr.nodes[k].Stats().Term != term+1
	}, 3*time.Second, 20*time.Millisecond)
}

// TestLowDisksAndAWrongClock: a leader that can't decide hands over to a node that is low
// on space, because that node can still decide. The new leader keeps leadership although
// its own disk is low.
func TestLowDisksAndAWrongClock(t *testing.T) {
	t.Parallel()
	var clocks []*steppedClock
	var disks []*faultyDisk
	tr := newCluster3(t, func(c *cluster.Config) {
		clocks, disks = append(clocks, new(steppedClock)), append(disks, newFaultyDisk())
		clocks[len(clocks)-1].set(c)
		*c = cluster.WithDisk(*c, disks[len(disks)-1])
	})
	tr.waitClocksKnown()
	i := tr.leader()
	for j, d := range disks {
		if j != i {
			d.free.Store(300 << 20)
		}
	}
	require.Eventually(t, func() bool {
		low := 0
		for _, s := range tr.nodes[i].Overview(t.Context()).Nodes {
			if s.Error != "" {
				low++
			}
		}
		return low == 2
	}, 20*time.Second, 10*time.Millisecond)
	clocks[i].offset.Store(int64(time.Hour))
	for j := range tr.nodes {
		v, _, err := tr.nodes[(i+j)%3].Propose(t.Context(), &machinetest.Set{Name: "a"})
		require.NoError(t, err)
		require.WithinDuration(t, time.Now(), time.UnixMilli(v.(command.Meta).At), time.Minute)
	}
	leads := tr.leader()
	require.NotEqual(t, i, leads)
	term := tr.nodes[leads].Stats().Term
	require.Never(t, func() bool { return tr.nodes[leads].Stats().Term != term }, 3*time.Second, 20*time.Millisecond)
}

// TestNoTwoClocksAgree: three clocks differ, so no node decides, and leadership does not
// move in circles. Once clocks agree, decisions resume.
func TestNoTwoClocksAgree(t *testing.T) {
	t.Parallel()
	var clocks []*steppedClock
	tr := newCluster3(t, func(c *cluster.Config) {
		clocks = append(clocks, new(steppedClock))
		c.Now = clocks[len(clocks)-1].now // Elapsed follows Now, so no jump is detected
	})
	tr.waitClocksKnown()
	i := tr.leader()
	clocks[(i+1)%3].offset.Store(int64(time.Hour))
	clocks[(i+2)%3].offset.Store(int64(-time.Hour))
	nobody := func() bool {
		for _, n := range tr.nodes {
			if leading, _ := n.Leading(); leading {
				return false
			}
		}
		return true
	}
	require.Eventually(t, nobody, 10*time.Second, 10*time.Millisecond)
	term := tr.nodes[i].Stats().Term
	require.Never(t, func() bool { return !nobody() || tr.nodes[i].Stats().Term > term+1 }, 4*time.Second, 20*time.Millisecond)
	for _, c := range clocks {
		c.offset.Store(0)
	}
	tr.leader()
	require.Eventually(t, func() bool {
		_, _, err := tr.nodes[i].Propose(t.Context(), &machinetest.Set{Name: "a"})
		return err == nil
	}, 20*time.Second, 10*time.Millisecond)
}

// TestGuessedLeaderIsForgotten: while raft knows no leader, a node that reported itself
// as leader may have stopped or lost leadership since.
func TestGuessedLeaderIsForgotten(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	fourth := networked(t, "", "n4")
	fourth.Bootstrap = false
	tr.join(fourth)
	tr.nodes, tr.confs = append(tr.nodes, open(t, fourth)), append(tr.confs, fourth)
	tr.settle(4)
	i := tr.leader()
	gone, asker, other := i, (i+1)%4, (i+2)%4
	shut(t, tr.nodes[(i+3)%4])
	shut(t, tr.nodes[gone]) // two of four nodes are left, so there is no leader
	n := tr.nodes[asker]
	for name, id := range map[string]string{"gone": tr.nodes[gone].ID(), "no leader": tr.nodes[other].ID()} {
		require.Eventually(t, func() bool { return guessLeader(n, id) }, 10*time.Second, time.Millisecond, name)
		require.Eventually(t, func() bool { return !n.Stats().LeaderKnown }, 10*time.Second, time.Millisecond, name)
	}
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.True(t, errors.Is(err, cluster.ErrUnavailable))
}
