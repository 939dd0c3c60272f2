package cluster_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/member"
)

// drop removes a node from tr. The node is stopped, or is no longer a member.
func (tr *cluster3) drop(i int) {
	tr.nodes = slices.Delete(tr.nodes, i, i+1)
	tr.confs = slices.Delete(tr.confs, i, i+1)
}

// newCluster2 returns a cluster of two nodes.
func newCluster2(t testing.TB, change ...func(*cluster.Config)) *cluster3 {
	t.Helper()
	tr := newCluster3(t, change...)
	i := (tr.leader() + 1) % 3
	require.NoError(t, tr.nodes[tr.leader()].Remove(t.Context(), tr.confs[i].Name, false))
	tr.drop(i)
	tr.settle(2)
	return tr
}

func requireRefused(t testing.TB, err error, text string) {
	t.Helper()
	var r *member.RefusedError
	require.ErrorAs(t, err, &r)
	require.ErrorContains(t, err, text)
}

// requireWrite requires that a node can commit a write.
func requireWrite(t testing.TB, n *cluster.Node) {
	t.Helper()
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "goes on"})
	require.NoError(t, err)
}

// TestRemovedLeaderOfTwo: after the removal of the leader, the other node is the only
// voter and can write alone. It needs the leaving node until the configuration has only
// one voter.
func TestRemovedLeaderOfTwo(t *testing.T) {
	t.Parallel()
	for _, by := range []string{"the other", "itself"} {
		t.Run(by, func(t *testing.T) {
			tr := newCluster2(t)
			i := tr.leader()
			asked := tr.nodes[1-i]
			if by == "itself" {
				asked = tr.nodes[i]
			}
			require.NoError(t, asked.Remove(t.Context(), tr.confs[i].Name, false))
			require.Equal(t, []string{tr.nodes[1-i].ID()}, tr.nodes[1-i].Voters())
			require.Len(t, tr.nodes[1-i].Members(), 1)
			requireWrite(t, tr.nodes[1-i])
			tr.restart(1 - i)
			requireWrite(t, tr.nodes[1-i])
		})
	}
}

// TestRemovedFollowerOfTwo: after the removal of the follower, the leader continues
// alone, even if the follower stops.
func TestRemovedFollowerOfTwo(t *testing.T) {
	t.Parallel()
	tr := newCluster2(t)
	i := tr.leader()
	require.NoError(t, tr.nodes[1-i].Remove(t.Context(), tr.confs[1-i].Name, false), "the follower is asked to remove itself")
	require.Len(t, tr.nodes[i].Members(), 1)
	shut(t, tr.nodes[1-i])
	requireWrite(t, tr.nodes[i])
	var err error
	require.Eventually(t, func() bool {
		err = tr.nodes[i].Remove(t.Context(), tr.confs[i].Name, true)
		require.Error(t, err)
		return !strings.Contains(err.Error(), "another node is being removed") // the removed node may get its answer before the leader has finished the removal
	}, 20*time.Second, time.Millisecond)
	requireRefused(t, err, "no voter left")
	require.Len(t, tr.nodes[i].Members(), 1)
}

// TestTwoRemovalsAtOnce: concurrent removals are done one at a time. Each succeeds or is
// refused, and the remaining nodes can write.
func TestTwoRemovalsAtOnce(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := tr.leader()
	errs := make([]error, 3)
	var removing sync.WaitGroup
	for k := 1; k < 3; k++ {
		removing.Go(func() {
			errs[k] = tr.nodes[(i+k)%3].Remove(t.Context(), tr.confs[(i+3-k)%3].Name, false) // each node is asked to remove the other one
		})
	}
	removing.Wait()
	var r *member.RefusedError
	gone := 0
	for k := 1; k < 3; k++ {
		if errs[k] == nil {
			gone++
		} else if !errors.As(errs[k], &r) {
			require.True(t, errors.Is(errs[k], cluster.ErrUnavailable) || errors.Is(errs[k], cluster.ErrUnknown), "%v", errs[k])
		}
	}
	require.NotZero(t, gone, "%v", errs)
	left := tr.nodes[i]
	require.Len(t, left.Members(), 3-gone)
	require.Len(t, left.Voters(), 3-gone)
	requireWrite(t, left)
}

// TestRemovalsOneAtATime: between the two steps of a removal, another removal is refused,
// and the leader doesn't add the removed node again.
func TestRemovalsOneAtATime(t *testing.T) {
	t.Parallel()
	g := newGate()
	tr := newCluster3(t, func(c *cluster.Config) { *c = cluster.WithHooks(*c, cluster.Hooks{ServerRemoved: g.pass}) })
	i := tr.leader()
	first, second := (i+1)%3, (i+2)%3
	g.shut()
	done := make(chan error, 1)
	go func() { done <- tr.nodes[second].Remove(context.Background(), tr.confs[first].Name, false) }()
	g.waitBlocked(t)
	for range 3 { // long enough for several checks of the members by the leader
		requireRefused(t, tr.nodes[i].Remove(t.Context(), tr.confs[second].Name, false), "another node is being removed")
		require.NotContains(t, tr.nodes[i].Voters(), tr.nodes[first].ID())
		require.Len(t, tr.nodes[i].Members(), 3, "its key must be valid until the removal is complete")
		time.Sleep(300 * time.Millisecond)
	}
	require.Len(t, tr.nodes[i].Raft().GetConfiguration().Configuration().Servers, 2)
	g.open()
	require.NoError(t, <-done)
	for _, j := range []int{i, second} {
		require.Len(t, tr.nodes[j].Members(), 2)
		require.False(t, cluster.HasPeer(tr.nodes[j], tr.nodes[first].ID()))
	}
}

// TestRemovedNodeIsRefusedEverywhere: when a removal is answered, all nodes refuse the
// removed node, even on existing connections. It doesn't matter which node was asked.
func TestRemovedNodeIsRefusedEverywhere(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := tr.leader()
	victim, other := (i+1)%3, (i+2)%3
	for range 3 {
		for _, j := range []int{i, other} {
			require.Equal(t, 3, len(tr.nodes[victim].Overview(t.Context()).Nodes), "the victim must have connections to all nodes")
			require.True(t, cluster.HasPeer(tr.nodes[j], tr.nodes[victim].ID()))
		}
	}
	require.NoError(t, tr.nodes[other].Remove(t.Context(), tr.nodes[victim].ID(), false))
	for _, j := range []int{i, other} {
		require.False(t, cluster.HasPeer(tr.nodes[j], tr.nodes[victim].ID()))
	}
	requireRefused(t, tr.nodes[other].Remove(t.Context(), tr.confs[victim].Name, false), "has no node")
}

// TestRemovalWaitsForThoseThatAreBehind: a removal is answered only after all members
// have applied it, because a member that lags would still accept the removed node.
func TestRemovalWaitsForThoseThatAreBehind(t *testing.T) {
	t.Parallel()
	gates := map[string]*gate{"n1": newGate(), "n2": newGate(), "n3": newGate()}
	tr := newCluster3(t, func(c *cluster.Config) {
		*c = cluster.WithHooks(*c, cluster.Hooks{FSM: gates[c.Name].pass})
	})
	i := tr.leader()
	victim, slow := (i+1)%3, (i+2)%3
	g := gates[tr.confs[slow].Name]
	g.shut()
	done := make(chan error, 1)
	go func() { done <- tr.nodes[i].Remove(context.Background(), tr.confs[victim].Name, false) }()
	g.waitBlocked(t)
	select {
	case err := <-done:
		require.Fail(t, "the removal was answered before a member had applied it", "%v", err)
	case <-time.After(100 * time.Millisecond):
	}
	g.open()
	require.NoError(t, <-done)
	require.False(t, cluster.HasPeer(tr.nodes[slow], tr.nodes[victim].ID()))
}

// TestRemovalDoesNotDependOnAVoterThatHangs: a voter whose log hangs answers, but can't
// commit anything. If the other voter were removed, the leader would lose its majority,
// so that removal is refused. The hanging voter can be removed.
func TestRemovalDoesNotDependOnAVoterThatHangs(t *testing.T) {
	t.Parallel()
	gates := map[string]*gate{"n1": newGate(), "n2": newGate(), "n3": newGate()}
	tr := newCluster3(t, func(c *cluster.Config) {
		*c = cluster.WithHooks(*c, cluster.Hooks{Logs: func(l raft.LogStore) raft.LogStore {
			return &stallingLogs{l, gates[c.Name]}
		}})
	})
	i := tr.leader()
	living, hung := (i+1)%3, (i+2)%3
	g := gates[tr.confs[hung].Name]
	g.shut()
	defer g.open()
	requireWrite(t, tr.nodes[i])
	g.waitBlocked(t)
	requireRefused(t, tr.nodes[i].Remove(t.Context(), tr.confs[living].Name, false), "not caught up")
	require.Len(t, tr.nodes[i].Voters(), 3)
	requireWrite(t, tr.nodes[i])
	require.NoError(t, tr.nodes[i].Remove(t.Context(), tr.confs[hung].Name, false))
	requireWrite(t, tr.nodes[living])
}

// TestRemovalNeedsAQuorum: if one of two nodes is down, nothing can be committed. So no
// node can be removed, with force or without.
func TestRemovalNeedsAQuorum(t *testing.T) {
	t.Parallel()
	tr := newCluster2(t, func(c *cluster.Config) { c.LeaderTimeout, c.ProposeTimeout = time.Second, 3*time.Second })
	i := tr.leader()
	down := 1 - i
	shut(t, tr.nodes[down])
	for _, j := range []int{down, i} {
		for _, force := range []bool{false, true} {
			requireRefused(t, tr.nodes[i].Remove(t.Context(), tr.confs[j].Name, force), cluster.ErrNoMajority.Error())
		}
	}
	require.Len(t, tr.nodes[i].Members(), 2)
	tr.start(down)
	tr.settle(2)
	requireWrite(t, tr.nodes[down])
}

// TestForcedRemovalLeavesNothingHalfDone: if a forced removal can't get a majority, it
// fails and leaves the cluster unchanged.
func TestForcedRemovalLeavesNothingHalfDone(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t, func(c *cluster.Config) { c.ProposeTimeout = 3 * time.Second })
	i := tr.leader()
	down, living := (i+1)%3, (i+2)%3
	shut(t, tr.nodes[down])
	err := tr.nodes[living].Remove(t.Context(), tr.confs[living].Name, true)
	requireRefused(t, err, "no majority")
	requireRefused(t, err, "and "+tr.confs[down].Name+" not")
	require.ErrorIs(t, err, member.ErrNoMajorityLeft, "the error must be that of the leader")
	require.Len(t, tr.nodes[i].Members(), 3)
	require.Len(t, tr.nodes[i].Voters(), 3)
	requireWrite(t, tr.nodes[living])

	// The removal succeeds once the stopped node runs again.
	done := make(chan error, 1)
	go func() { done <- tr.nodes[i].Remove(context.Background(), tr.confs[living].Name, true) }()
	tr.start(down)
	require.NoError(t, <-done)
	require.Len(t, tr.nodes[i].Members(), 2)
	tr.drop(living)
	tr.settle(2)
}

// TestReplacedLeader: a leader can be replaced like any other node. It transfers
// leadership first.
func TestReplacedLeader(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := tr.leader()
	old := tr.confs[i].Name
	token, _, err := tr.nodes[i].Invite(t.Context(), "n4", old, time.Hour)
	require.NoError(t, err)
	c := networked(t, "", "n4")
	c.Bootstrap = false
	tr.confs[0] = tr.confs[(i+1)%3]
	require.NoError(t, tr.joinBy(t.Context(), c, token))
	gone := tr.nodes[i]
	tr.nodes[i] = open(t, c)
	tr.settle(3)
	for _, n := range tr.nodes {
		require.NotContains(t, n.Voters(), gone.ID())
		require.Eventually(t, func() bool { return !cluster.HasPeer(n, gone.ID()) }, 10*time.Second, 10*time.Millisecond)
		requireWrite(t, n)
	}
}

// TestReplacedNodeWaitsForAMajority: a replaced node stays a member until its removal is
// complete. Meanwhile another node can't be removed.
func TestReplacedNodeWaitsForAMajority(t *testing.T) {
	t.Parallel()
	g := newGate()
	tr := newCluster3(t, func(c *cluster.Config) { *c = cluster.WithHooks(*c, cluster.Hooks{ServerRemoved: g.pass}) })
	i := tr.leader()
	old, other := (i+1)%3, (i+2)%3
	token, _, err := tr.nodes[i].Invite(t.Context(), "n4", tr.confs[old].Name, time.Hour)
	require.NoError(t, err)
	g.shut()
	c := networked(t, "", "n4")
	c.Bootstrap = false
	tr.confs[0], tr.confs[i] = tr.confs[i], tr.confs[0]
	require.NoError(t, tr.joinBy(t.Context(), c, token))
	open(t, c)
	g.waitBlocked(t) // the old node is no longer in the configuration, but its key is still valid
	require.Len(t, tr.nodes[i].Members(), 4)
	err = tr.nodes[other].Remove(t.Context(), "n4", false)
	requireRefused(t, err, "another node is being removed")
	require.ErrorIs(t, err, member.ErrRemovalUnderWay)
	g.open()
	require.Eventually(t, func() bool { return len(tr.nodes[other].Members()) == 3 }, 10*time.Second, time.Millisecond)
}

// TestLeaderFallsBetweenTheStepsOfARemoval: if leadership changes between the two steps
// of a removal, the next leader adds the node again. The removal can then be repeated.
func TestLeaderFallsBetweenTheStepsOfARemoval(t *testing.T) {
	t.Parallel()
	g := newGate()
	tr := newCluster3(t, func(c *cluster.Config) { *c = cluster.WithHooks(*c, cluster.Hooks{ServerRemoved: g.pass}) })
	i := tr.leader()
	victim, other := (i+1)%3, (i+2)%3
	g.shut()
	done := make(chan error, 1)
	go func() { done <- tr.nodes[i].Remove(context.Background(), tr.confs[victim].Name, false) }()
	g.waitBlocked(t)
	cluster.Isolate(tr.nodes[i], true)
	require.Eventually(t, func() bool { leading, _ := tr.nodes[i].Leading(); return !leading }, 10*time.Second, time.Millisecond)
	g.open()
	require.ErrorIs(t, <-done, cluster.ErrUnknown)

	// The configuration has two nodes, one of which is isolated. The victim's key is
	// still valid, so the cluster is complete again when the isolated node is back.
	require.Len(t, tr.nodes[other].Members(), 3)
	cluster.Isolate(tr.nodes[i], false)
	tr.settle(3)
	requireWrite(t, tr.nodes[victim])
	require.NoError(t, tr.nodes[victim].Remove(t.Context(), tr.confs[victim].Name, false))
	tr.drop(victim)
	tr.settle(2)
	requireWrite(t, tr.nodes[0])
}

// TestRemovedNodeLearnsIt: a removed node learns of its removal from the nodes that
// refuse it. It reports the removal, and doesn't start again.
func TestRemovedNodeLearnsIt(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := tr.leader()
	victim := (i + 1) % 3
	require.NoError(t, tr.nodes[i].Remove(t.Context(), tr.confs[victim].Name, false))
	says := func() bool {
		for _, c := range tr.nodes[victim].Checks() {
			if c.Name == "member" && c.Err != nil {
				require.ErrorIs(t, c.Err, member.ErrRemoved)
				o := tr.nodes[victim].Overview(t.Context())
				require.Empty(t, o.Nodes)
				require.Equal(t, c.Err.Error(), o.Removed)
				require.Equal(t, tr.confs[victim].Name, o.Name)
				return true
			}
		}
		return false
	}
	require.Eventually(t, says, 20*time.Second, 20*time.Millisecond)
	requireRefused(t, tr.nodes[victim].Remove(t.Context(), tr.confs[i].Name, false), "was removed")
	servesNobody(t, tr, victim)
	for _, j := range []int{i, (i + 2) % 3} {
		for _, c := range tr.nodes[j].Checks() {
			require.NoError(t, c.Err)
		}
	}
}

// TestCutOffNodeIsNoRemovedNode: a node that gets no answers does not conclude that it
// was removed.
func TestCutOffNodeIsNoRemovedNode(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := (tr.leader() + 1) % 3
	for j := range tr.nodes {
		if j != i {
			cluster.Isolate(tr.nodes[j], true)
		}
	}
	cluster.CheckMembership(tr.nodes[i])
	require.NoError(t, tr.nodes[i].Removed())
	for j := range tr.nodes {
		cluster.Isolate(tr.nodes[j], false)
	}
	tr.settle(3)
	cluster.CheckMembership(tr.nodes[i]) // now the other nodes answer
	require.NoError(t, tr.nodes[i].Removed())
	for _, c := range tr.nodes[i].Checks() {
		require.NoError(t, c.Err)
	}
	requireWrite(t, tr.nodes[i])
}

// slowToDepose makes the first node believe for a long time that it leads, although the
// others have another leader.
func slowToDepose(c *cluster.Config) {
	if c.Name == "n1" {
		*c = cluster.WithHooks(*c, cluster.Hooks{Raft: func(r *raft.Config) {
			r.HeartbeatTimeout, r.ElectionTimeout, r.LeaderLeaseTimeout = time.Minute, time.Minute, time.Minute
		}})
	}
}

// TestDeposedLeaderReleasesNoSecret: a removed node presents its join token to a former
// leader that doesn't know of the removal, and gets no secret.
func TestDeposedLeaderReleasesNoSecret(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t, slowToDepose, func(c *cluster.Config) { c.ProposeTimeout = 3 * time.Second })
	require.Zero(t, tr.leader())
	ctx := t.Context()
	token, _, err := tr.nodes[0].Invite(ctx, "n4", "", time.Hour)
	require.NoError(t, err)
	key := make([]byte, 32)
	const id, address = "0011223344556677", "127.0.0.1:1"
	refusal, secret := cluster.Admit(ctx, tr.nodes[0], token, id, address, key)
	require.Empty(t, refusal)
	require.Equal(t, "the cluster key", string(secret))
	refusal, secret = cluster.Admit(ctx, tr.nodes[1], token, id, address, key)
	require.Empty(t, refusal, "the node may repeat the request, since its answer may have been lost")
	require.Equal(t, "the cluster key", string(secret))

	cluster.Isolate(tr.nodes[0], true)
	require.Eventually(t, func() bool {
		return tr.nodes[1].Remove(ctx, "n4", false) == nil
	}, 20*time.Second, 10*time.Millisecond)
	leading, _ := tr.nodes[0].Leading()
	require.True(t, leading, "the former leader must still believe that it leads")
	refusal, secret = cluster.Admit(ctx, tr.nodes[0], token, id, address, key)
	require.NotEmpty(t, refusal)
	require.Empty(t, secret)
	refusal, secret = cluster.Admit(ctx, tr.nodes[1], token, id, address, key)
	require.Contains(t, refusal, "not known")
	require.Empty(t, secret)
}

// TestInventedTokensCostLittle: all requests with unknown tokens together cause few
// Barriers, however many requests there are.
func TestInventedTokensCostLittle(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := tr.leader()
	started, before := time.Now(), tr.nodes[i].Barriers().Passed()
	var strangers sync.WaitGroup
	for j := range tr.nodes {
		for k := range 100 {
			strangers.Go(func() {
				token := unknownToken(t, fmt.Sprintf("%d-%d", j, k))
				refusal, secret := cluster.Admit(t.Context(), tr.nodes[j], token, "0011223344556677", "127.0.0.1:1", make([]byte, 32))
				if refusal == "" || len(secret) > 0 {
					t.Error("a node with an invented token was admitted")
				}
			})
		}
		strangers.Wait() // the next hundred come later, so that their Barriers would add up
	}
	took := time.Since(started)
	passed := tr.nodes[i].Barriers().Passed() - before
	require.LessOrEqual(t, passed, uint64(took.Seconds()*20)+1)
}

// TestNewTokenWorksEverywhere: a new token is accepted at every node, even at one that
// has not applied the invitation yet.
func TestNewTokenWorksEverywhere(t *testing.T) {
	t.Parallel()
	gates := map[string]*gate{"n1": newGate(), "n2": newGate(), "n3": newGate()}
	tr := newCluster3(t, func(c *cluster.Config) {
		*c = cluster.WithHooks(*c, cluster.Hooks{FSM: gates[c.Name].pass})
	})
	i := tr.leader()
	behind := (i + 1) % 3
	g := gates[tr.confs[behind].Name]
	g.shut()
	token, _, err := tr.nodes[i].Invite(t.Context(), "n4", "", time.Hour)
	require.NoError(t, err)
	g.waitBlocked(t)
	c := networked(t, "", "n4")
	c.Bootstrap = false
	tr.confs[0] = tr.confs[behind]
	done := make(chan error, 1)
	go func() { done <- tr.joinBy(context.Background(), c, token) }()
	select {
	case err := <-done:
		require.Fail(t, "a node answered before it could know the token", "%v", err)
	case <-time.After(100 * time.Millisecond):
	}
	g.open()
	require.NoError(t, <-done)
}

// TestNobodyIsPassedOverWithASecret: a secret is distributed to the members in the
// replicated state, even if the peer list of this node lacks one of them.
func TestNobodyIsPassedOverWithASecret(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	had := make(map[string]string)
	tr := newCluster3(t, func(c *cluster.Config) {
		name := c.Name
		c.ReceiveSecret = func(secret []byte) error {
			mu.Lock()
			defer mu.Unlock()
			had[name] = string(secret)
			return nil
		}
	})
	require.NoError(t, tr.nodes[0].Secrets().Distribute(t.Context(), []byte("x")))
	forgetPeer(t, tr.nodes[0], "n3")
	require.NoError(t, tr.nodes[0].Secrets().Distribute(t.Context(), []byte("y")), "n3 must get it over the existing connection")
	mu.Lock()
	require.Equal(t, map[string]string{"n2": "y", "n3": "y"}, had)
	mu.Unlock()
	cluster.Isolate(tr.nodes[2], true) // this also closes the existing connection
	var failed *cluster.DistributeError
	require.ErrorAs(t, tr.nodes[0].Secrets().Distribute(t.Context(), []byte("z")), &failed)
	require.Len(t, failed.Failures, 1)
	require.Equal(t, "n3", failed.Failures[0].Name)
}

// unknownToken returns a join token that no cluster has issued.
func unknownToken(t testing.TB, secret string) string {
	raw := make([]byte, 32)
	copy(raw, secret)
	token, err := member.FormatToken(strings.Repeat("00", sha256.Size), raw)
	require.NoError(t, err)
	return token
}
