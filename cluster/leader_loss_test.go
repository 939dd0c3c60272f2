package cluster_test

import (
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
)

// newCluster3WithoutTimeouts is a cluster of three nodes with an election timeout of an
// hour, so that elections start only through leader-loss detection.
func newCluster3WithoutTimeouts(t *testing.T, h cluster.Hooks) *cluster3 {
	t.Helper()
	h.Raft = func(c *raft.Config) {
		c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = time.Hour, time.Hour, time.Minute
	}
	return newCluster3(t, func(c *cluster.Config) { *c = cluster.WithHooks(*c, h) })
}

// TestLostLeaderIsReplaced: the leader is unreachable, but its port refuses no
// connection.
func TestLostLeaderIsReplaced(t *testing.T) {
	t.Parallel()
	tr := newCluster3WithoutTimeouts(t, cluster.Hooks{LeaderLossTimeout: 300 * time.Millisecond})
	i := tr.leader()
	cluster.Isolate(tr.nodes[i], true)
	for j, n := range tr.nodes {
		if j != i {
			requireWrite(t, n)
		}
	}
	cluster.Isolate(tr.nodes[i], false)
	tr.settle(3)
	tr.requireSameState()
}

// TestLongestLogCampaignsFirst: another candidate would lose, and the next campaign would
// start only after the CampaignInterval, here a minute.
func TestLongestLogCampaignsFirst(t *testing.T) {
	t.Parallel()
	tr := newCluster3WithoutTimeouts(t, cluster.Hooks{LeaderLossTimeout: 300 * time.Millisecond, CampaignInterval: time.Minute})
	require.Equal(t, 0, tr.leader())
	behind, furthest := tr.nodes[1], tr.nodes[2]
	cluster.Isolate(behind, true)
	requireWrite(t, tr.nodes[0])
	require.Eventually(t, func() bool { return furthest.Raft().LastIndex() == tr.nodes[0].Raft().LastIndex() },
		20*time.Second, time.Millisecond)
	term := furthest.Stats().Term
	cluster.Isolate(tr.nodes[0], true)
	cluster.Isolate(behind, false)
	requireWrite(t, behind)
	require.Equal(t, "n3", behind.Leader())
	require.Equal(t, term+1, behind.Stats().Term, "one election, which was won")
}

// TestNoCampaignWithoutAMajority: an isolated node does not campaign, since its higher
// term would depose the leader when the node is back.
func TestNoCampaignWithoutAMajority(t *testing.T) {
	t.Parallel()
	// Much longer than a busy machine delays messages: the others must not report a loss before the
	// node is isolated.
	const timeout = time.Second
	tr := newCluster3WithoutTimeouts(t, cluster.Hooks{LeaderLossTimeout: timeout, CampaignInterval: 10 * time.Millisecond})
	i := tr.leader()
	n := tr.nodes[(i+1)%3]
	term := n.Stats().Term
	cluster.Isolate(n, true)
	require.Never(t, func() bool { return n.Stats().Term != term || n.Raft().State() != raft.Follower },
		3*timeout, time.Millisecond)
	require.Zero(t, len(n.Elector().LossReports(t.Context(), timeout)))
}

// TestLossReports: a node reports the loss of the leader only once both it and the node
// it asks have lost contact.
func TestLossReports(t *testing.T) {
	t.Parallel()
	tr := newCluster3WithoutTimeouts(t, cluster.Hooks{LeaderLossTimeout: time.Hour})
	i := tr.leader()
	n := tr.nodes[(i+1)%3]
	// One round is not enough: a connection may be stale, or the machine slow.
	missing := func(want int) {
		require.Eventually(t, func() bool { return len(n.Elector().LossReports(t.Context(), time.Second)) == want }, 30*time.Second, time.Millisecond)
	}
	missing(0)
	cluster.Isolate(tr.nodes[i], true)
	missing(2)
}

// TestInTouch: a node that is cut off soon knows that its view may be stale. This
// includes the leader.
func TestInTouch(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := tr.leader()
	for _, n := range tr.nodes {
		require.Eventually(t, n.InTouch, 20*time.Second, time.Millisecond)
	}
	follower := tr.nodes[(i+1)%3]
	for _, n := range []*cluster.Node{follower, tr.nodes[i]} {
		cluster.Isolate(n, true)
		require.Eventually(t, func() bool { return !n.InTouch() }, 20*time.Second, time.Millisecond)
	}
	cluster.Isolate(follower, false)
	require.Eventually(t, follower.InTouch, 20*time.Second, time.Millisecond)
}
