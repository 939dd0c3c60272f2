package cluster_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
)

// servesNobody requires that a node that learnt of its removal decides no command and
// neither starts nor recovers from its folder.
func servesNobody(t *testing.T, tr *cluster3, i int) {
	t.Helper()
	n, c := tr.nodes[i], tr.confs[i]
	require.ErrorIs(t, n.Removed(), member.ErrRemoved)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "by a removed node"})
	require.ErrorIs(t, err, cluster.ErrUnavailable)
	require.ErrorIs(t, err, member.ErrRemoved)
	over, cancel := context.WithCancel(t.Context())
	cancel() // no call may wait
	_, err = n.ViewFresh(over)
	require.ErrorIs(t, err, member.ErrRemoved)
	require.ErrorIs(t, n.Ready(over), member.ErrRemoved)
	require.Eventually(t, func() bool { leading, _ := n.Leading(); return !leading }, 10*time.Second, time.Millisecond)

	var text []byte
	require.Eventually(t, func() bool {
		text, err = os.ReadFile(filepath.Join(c.Dir, "removed"))
		return err == nil
	}, 10*time.Second, time.Millisecond)
	var said struct {
		By, Node string
		At       time.Time
	}
	require.NoError(t, json.Unmarshal(text, &said))
	require.NotEmpty(t, said.By)
	require.Equal(t, n.ID(), said.Node)
	require.WithinDuration(t, time.Now(), said.At, time.Minute)

	shut(t, n)
	again := networked(t, c.Dir, c.Name)
	again.Bootstrap = false
	_, err = cluster.Open(t.Context(), again)
	require.ErrorIs(t, err, member.ErrRemoved)
	require.ErrorContains(t, err, "reported by "+said.By)
	require.ErrorIs(t, recovery.Recover(c.Offline(), nil), member.ErrRemoved)
}

// TestAbandonedNodesMakeNoClusterOfTheirOwn: one of three nodes was recovered as a
// cluster of one. The other two are a majority of the old cluster, and must stop.
func TestAbandonedNodesMakeNoClusterOfTheirOwn(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	for i, n := range tr.nodes {
		shut(t, n)
		tr.confs[i].Bootstrap = false
	}
	require.NoError(t, recovery.Recover(tr.confs[0].Offline(), nil))
	tr.start(0)
	requireWrite(t, tr.nodes[0])
	tr.start(1)
	tr.start(2)
	for _, i := range []int{1, 2} {
		require.Eventually(t, func() bool { return tr.nodes[i].Removed() != nil }, 20*time.Second, time.Millisecond)
	}
	for i, n := range tr.nodes[1:] {
		other := tr.nodes[2-i].ID()
		err := n.Transport().RequestVote(raft.ServerID(other), raft.ServerAddress(other), &raft.RequestVoteRequest{}, new(raft.RequestVoteResponse))
		require.ErrorIs(t, err, member.ErrRemoved, "a vote can't be asked for")
	}
	for _, i := range []int{1, 2} {
		servesNobody(t, tr, i)
	}
	require.NoError(t, tr.nodes[0].Removed())
	requireWrite(t, tr.nodes[0])
}

// TestAbandonedNodesThatServeStop: the two given-up nodes elect a leader while the
// survivor is down. When the survivor returns, they stop although they have a leader.
func TestAbandonedNodesThatServeStop(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	for i, n := range tr.nodes {
		shut(t, n)
		tr.confs[i].Bootstrap = false
	}
	require.NoError(t, recovery.Recover(tr.confs[0].Offline(), nil))
	tr.start(1)
	tr.start(2)
	requireWrite(t, tr.nodes[1])
	tr.start(0)
	for _, i := range []int{1, 2} {
		require.Eventually(t, func() bool { return tr.nodes[i].Removed() != nil }, 20*time.Second, time.Millisecond)
	}
	for _, i := range []int{1, 2} {
		servesNobody(t, tr, i)
	}
	require.NoError(t, tr.nodes[0].Removed())
	requireWrite(t, tr.nodes[0])
}

// TestFreshMemberIsNotTakenForARemovedOne: a lagging member that does not yet know the
// new member must not report it as removed.
func TestFreshMemberIsNotTakenForARemovedOne(t *testing.T) {
	t.Parallel()
	gates := map[string]*gate{"n1": newGate(), "n2": newGate(), "n3": newGate(), "n4": newGate()}
	tr := newCluster3(t, func(c *cluster.Config) {
		*c = cluster.WithHooks(*c, cluster.Hooks{FSM: gates[c.Name].pass})
	})
	i := tr.leader()
	behind := (i + 1) % 3
	token, _, err := tr.nodes[i].Invite(t.Context(), "n4", "", time.Hour)
	require.NoError(t, err)
	tr.requireSameState()
	g := gates[tr.confs[behind].Name]
	g.shut()
	c := networked(t, "", "n4")
	c.Bootstrap = false
	tr.confs[0], tr.confs[i] = tr.confs[i], tr.confs[0]
	require.NoError(t, tr.joinBy(t.Context(), c, token))
	g.waitBlocked(t)
	n := open(t, c)
	cluster.CheckMembership(n)
	require.NoError(t, n.Removed())
	g.open()
	cluster.CheckMembership(n)
	require.NoError(t, n.Removed())
}

// TestRemovedNodeFailsFast: a running node that was removed answers requests with
// ErrRemoved at once, instead of waiting for a leader. The request itself triggers the
// membership check: the check interval is a day here, and the timeouts are a minute.
func TestRemovedNodeFailsFast(t *testing.T) {
	t.Parallel()
	for _, n := range []string{"once connected", "never called"} {
		t.Run(n, func(t *testing.T) {
			tr := newCluster3(t, func(c *cluster.Config) {
				c.ProposeTimeout, c.LeaderTimeout = time.Minute, time.Minute
				*c = cluster.WithHooks(*c, cluster.Hooks{MembershipCheckInterval: 24 * time.Hour})
			})
			i := tr.leader()
			victim, other := (i+1)%3, (i+2)%3
			if n == "once connected" {
				requireWrite(t, tr.nodes[victim])
			}
			require.NoError(t, tr.nodes[other].Remove(t.Context(), tr.nodes[victim].ID(), false))
			_, _, err := tr.nodes[victim].Propose(t.Context(), &machinetest.Set{Name: "late"})
			require.ErrorIs(t, err, member.ErrRemoved)
			require.ErrorIs(t, tr.nodes[victim].Ready(t.Context()), member.ErrRemoved)
		})
	}
}
