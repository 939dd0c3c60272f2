package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/member"
)

// TestTransferSaysWhyNot: an impossible transfer of leadership is refused with a reason
// in Mintmark's own words, by the leader and by other nodes.
func TestTransferSaysWhyNot(t *testing.T) {
	t.Parallel()
	clock := new(steppedClock) // of all nodes
	tr := newCluster3(t, clock.set)
	i := tr.leader()
	down, asked := (i+1)%3, (i+2)%3
	var unknown *member.NoNodeError
	require.ErrorAs(t, tr.nodes[asked].TransferLeadership(t.Context(), "n9"), &unknown)
	require.NoError(t, tr.nodes[asked].TransferLeadership(t.Context(), tr.confs[i].Name), "a transfer to the current leader succeeds")
	require.Equal(t, tr.confs[i].Name, tr.nodes[asked].Leader())

	token, _, err := tr.nodes[0].Invite(t.Context(), "n4", "", time.Hour)
	require.NoError(t, err)
	require.NoError(t, tr.joinBy(t.Context(), networked(t, "", "n4"), token)) // n4 is not started
	for _, n := range []int{i, asked} {
		require.Eventually(t, func() bool { return len(tr.nodes[n].Members()) == 4 }, 20*time.Second, time.Millisecond)
		err := tr.nodes[n].TransferLeadership(t.Context(), "n4")
		requireRefused(t, err, "node n4 can't lead yet: it becomes a voter")
		require.ErrorIs(t, err, member.ErrNotVoter)
	}
	shut(t, tr.nodes[down])
	for _, n := range []int{i, asked} {
		err := tr.nodes[n].TransferLeadership(t.Context(), tr.confs[down].Name)
		requireRefused(t, err, "node "+tr.confs[down].Name+" can't be reached, and so can't lead")
		require.ErrorIs(t, err, member.ErrVoterSilent)
	}

	require.NoError(t, tr.nodes[asked].TransferLeadership(t.Context(), ""))
	require.Equal(t, tr.confs[asked].Name, tr.nodes[i].AwaitNewLeader(t.Context(), tr.confs[i].Name))

	shut(t, tr.nodes[i])
	var few *cluster.NoMajorityError
	err = tr.nodes[asked].TransferLeadership(t.Context(), "")
	require.ErrorAs(t, err, &few)
	require.ErrorContains(t, err, "only 1 of 3 voters can be reached")

	require.Eventually(t, func() bool { leading, _ := tr.nodes[asked].Leading(); return !leading }, 20*time.Second, time.Millisecond)
	clock.jump(-2 * time.Hour)
	err = tr.nodes[asked].TransferLeadership(t.Context(), "")
	require.ErrorIs(t, err, cluster.ErrUnavailable)
	require.ErrorContains(t, err, "the wall clock jumped back")
	require.NotContains(t, err.Error(), "recover")
}

// TestNobodyElseToLead: a sole voter can't transfer leadership.
func TestNobodyElseToLead(t *testing.T) {
	t.Parallel()
	c := networked(t, "", "n1")
	n := open(t, c)
	err := n.TransferLeadership(t.Context(), "")
	requireRefused(t, err, "no other voter")
	require.ErrorIs(t, err, member.ErrNoOtherVoter)
}
