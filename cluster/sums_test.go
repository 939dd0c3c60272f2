package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
)

// TestSumsWaitForTheLevel: an older program may be put back, and must be able to
// read its folder, until the cluster has reached a level that it has not. What it
// wrote is demanded no sums of.
func TestSumsWaitForTheLevel(t *testing.T) {
	tr := newTrio(t, func(c *cluster.Config) { c.Machine = older() })
	const i = 1
	reopen := func() {
		t.Helper()
		tr.relisten(i)
		tr.nodes[i] = open(t, tr.confs[i])
		tr.settle(3)
	}
	tr.upgraded(i, newer(), "v2")
	tr.settle(3)
	shut(t, tr.nodes[i])
	term, from := cluster.Summed(tr.confs[i].Dir)
	require.False(t, term)
	require.Zero(t, from)

	reopen()
	tr.upgraded(0, newer(), "v2")
	tr.upgraded(2, newer(), "v2")
	require.Eventually(t, func() bool { return tr.nodes[i].Stats().Level == 2 }, 20*time.Second, 5*time.Millisecond)
	tr.settle(3)
	before := tr.nodes[i].Raft().LastIndex()
	shut(t, tr.nodes[i])
	reopen()
	shut(t, tr.nodes[i])
	term, from = cluster.Summed(tr.confs[i].Dir)
	require.True(t, term)
	require.Greater(t, from, before)
	reopen()
	tr.same()
}
