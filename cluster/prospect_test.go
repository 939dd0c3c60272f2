package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
)

// TestForeseenRecovery says what is given up, and finds out that nothing has to
// be, or that it is this node that was.
func TestForeseenRecovery(t *testing.T) {
	tr := newTrio(t)
	tr.same()
	last := tr.nodes[2].Raft().LastIndex()
	for _, n := range tr.nodes {
		cluster.Isolate(n, true) // so that nothing more is written
	}
	last = max(last, tr.nodes[2].Raft().LastIndex())
	shut(t, tr.nodes[2])
	for _, n := range tr.nodes[:2] {
		cluster.Isolate(n, false)
	}
	require.Eventually(t, func() bool { return tr.nodes[0].Ready(t.Context()) == nil }, 20*time.Second, time.Millisecond)

	p, err := cluster.Foresee(t.Context(), tr.confs[2])
	require.NoError(t, err)
	require.GreaterOrEqual(t, p.Last, last)
	require.Len(t, p.GivesUp, 2)
	for i, m := range p.GivesUp {
		require.Equal(t, tr.confs[i].Name, m.Name)
		require.Equal(t, tr.confs[i].Network.Advertise, m.Address)
	}
	require.Equal(t, []string{"n1", "n2"}, p.Led)

	shut(t, tr.nodes[1])
	require.Eventually(t, func() bool { return tr.nodes[0].Ready(t.Context()) != nil }, 20*time.Second, time.Millisecond)
	p, err = cluster.Foresee(t.Context(), tr.confs[2])
	require.NoError(t, err)
	require.Len(t, p.GivesUp, 2)
	require.Empty(t, p.Led, "one that runs and has no leader is lost to this one")

	shut(t, tr.nodes[0])
	tr.confs[0].Bootstrap = false
	require.NoError(t, cluster.Recover(tr.confs[0]))
	tr.start(0)
	_, err = cluster.Foresee(t.Context(), tr.confs[2])
	require.ErrorIs(t, err, cluster.ErrRemoved)
	require.ErrorContains(t, err, "n1")

	_, err = cluster.Foresee(t.Context(), networked(t, "", "x"))
	require.ErrorContains(t, err, "no data")
}
