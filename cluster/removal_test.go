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

// drop takes a node out of the cluster of three that is stopped or no member any more.
func (tr *cluster3) drop(i int) {
	tr.nodes = slices.Delete(tr.nodes, i, i+1)
	tr.confs = slices.Delete(tr.confs, i, i+1)
}

// newCluster2 is a cluster of two.
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

// requireWrite makes sure that a node can have something decided.
func requireWrite(t testing.TB, n *cluster.Node) {
	t.Helper()
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "goes on"})
	require.NoError(t, err)
}

// TestRemovedLeaderOfTwo: the node that is left needs the one that goes until
// the configuration has one voter only.
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

// TestRemovedFollowerOfTwo: whatever becomes of it, the leader goes on alone.
func TestRemovedFollowerOfTwo(t *testing.T) {
	t.Parallel()
	tr := newCluster2(t)
	i := tr.leader()
	require.NoError(t, tr.nodes[1-i].Remove(t.Context(), tr.confs[1-i].Name, false), "asked of itself")
	require.Len(t, tr.nodes[i].Members(), 1)
	shut(t, tr.nodes[1-i])
	requireWrite(t, tr.nodes[i])
	var err error
	require.Eventually(t, func() bool {
		err = tr.nodes[i].Remove(t.Context(), tr.confs[i].Name, true)
		require.Error(t, err)
		return !strings.Contains(err.Error(), "another node is being removed") // who was removed heard it first
	}, 20*time.Second, time.Millisecond)
	requireRefused(t, err, "no voter left")
	require.Len(t, tr.nodes[i].Members(), 1)
}

// TestTwoRemovalsAtOnce never take away more than one at a time: each is done or
// refused, and those that are left decide.
func TestTwoRemovalsAtOnce(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := tr.leader()
	errs := make([]error, 3)
	var removing sync.WaitGroup
	for k := 1; k < 3; k++ {
		removing.Go(func() {
			errs[k] = tr.nodes[(i+k)%3].Remove(t.Context(), tr.confs[(i+3-k)%3].Name, false) // each asks for the other's
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

// TestRemovalsOneAtATime: while one is between its steps another is refused, and
// the leader does not take the node in again.
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
	for range 3 { // as often as the leader looks
		requireRefused(t, tr.nodes[i].Remove(t.Context(), tr.confs[second].Name, false), "another node is being removed")
		require.NotContains(t, tr.nodes[i].Voters(), tr.nodes[first].ID())
		require.Len(t, tr.nodes[i].Members(), 3, "its key is good until the configuration has followed")
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

// TestRemovedNodeIsRefusedEverywhere when the answer is there, on connections
// that stood before too, whomever was asked.
func TestRemovedNodeIsRefusedEverywhere(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	i := tr.leader()
	victim, other := (i+1)%3, (i+2)%3
	for range 3 {
		for _, j := range []int{i, other} {
			require.Equal(t, 3, len(tr.nodes[victim].Overview(t.Context()).Nodes), "so that it has connections")
			require.True(t, cluster.HasPeer(tr.nodes[j], tr.nodes[victim].ID()))
		}
	}
	require.NoError(t, tr.nodes[other].Remove(t.Context(), tr.nodes[victim].ID(), false))
	for _, j := range []int{i, other} {
		require.False(t, cluster.HasPeer(tr.nodes[j], tr.nodes[victim].ID()))
	}
	requireRefused(t, tr.nodes[other].Remove(t.Context(), tr.confs[victim].Name, false), "has no node")
}

// TestRemovalWaitsForThoseThatAreBehind: a member that has not applied it yet
// would listen to the removed one still.
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
		require.Fail(t, "it was answered", "%v", err)
	case <-time.After(100 * time.Millisecond):
	}
	g.open()
	require.NoError(t, <-done)
	require.False(t, cluster.HasPeer(tr.nodes[slow], tr.nodes[victim].ID()))
}

// TestRemovalDoesNotDependOnAVoterThatHangs: it answers, and would commit
// nothing; without the node that goes the leader would fall.
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

// TestRemovalNeedsAQuorum: where one of two is down nothing can be decided, not
// even that, with force or without.
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

// TestForcedRemovalLeavesNothingHalfDone: it waits for the others in vain, and
// the cluster is as it was.
func TestForcedRemovalLeavesNothingHalfDone(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t, func(c *cluster.Config) { c.ProposeTimeout = 3 * time.Second })
	i := tr.leader()
	down, living := (i+1)%3, (i+2)%3
	shut(t, tr.nodes[down])
	err := tr.nodes[living].Remove(t.Context(), tr.confs[living].Name, true)
	requireRefused(t, err, "no majority")
	requireRefused(t, err, "and "+tr.confs[down].Name+" not")
	require.ErrorIs(t, err, member.ErrNoMajorityLeft, "as at the leader")
	require.Len(t, tr.nodes[i].Members(), 3)
	require.Len(t, tr.nodes[i].Voters(), 3)
	requireWrite(t, tr.nodes[living])

	// It is done as soon as those that it waits for are there.
	done := make(chan error, 1)
	go func() { done <- tr.nodes[i].Remove(context.Background(), tr.confs[living].Name, true) }()
	tr.start(down)
	require.NoError(t, <-done)
	require.Len(t, tr.nodes[i].Members(), 2)
	tr.drop(living)
	tr.settle(2)
}

// TestReplacedLeader: it hands over and goes, as any other.
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

// TestReplacedNodeWaitsForAMajority: with the new node and another one down, the
// old one does not go.
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
	g.waitBlocked(t) // the old node is out of the configuration, and its key is good
	require.Len(t, tr.nodes[i].Members(), 4)
	err = tr.nodes[other].Remove(t.Context(), "n4", false)
	requireRefused(t, err, "another node is being removed")
	require.ErrorIs(t, err, member.ErrRemovalUnderWay)
	g.open()
	require.Eventually(t, func() bool { return len(tr.nodes[other].Members()) == 3 }, 10*time.Second, time.Millisecond)
}

// TestLeaderFallsBetweenTheStepsOfARemoval: the next one takes the node in again,
// and the removal can be asked for again.
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

	// Of the two that the configuration has, one is cut off: its key was not
	// dropped, so the cluster is whole when it is back.
	require.Len(t, tr.nodes[other].Members(), 3)
	cluster.Isolate(tr.nodes[i], false)
	tr.settle(3)
	requireWrite(t, tr.nodes[victim])
	require.NoError(t, tr.nodes[victim].Remove(t.Context(), tr.confs[victim].Name, false))
	tr.drop(victim)
	tr.settle(2)
	requireWrite(t, tr.nodes[0])
}

// TestRemovedNodeLearnsIt from those who refuse it, says so, and does not start
// again.
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

// TestCutOffNodeIsNoRemovedNode: nobody answers it, which says nothing.
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
	cluster.CheckMembership(tr.nodes[i]) // now they answer
	require.NoError(t, tr.nodes[i].Removed())
	for _, c := range tr.nodes[i].Checks() {
		require.NoError(t, c.Err)
	}
	requireWrite(t, tr.nodes[i])
}

// slowToDepose lets the first node lead on for a while when the others do
// without it.
func slowToDepose(c *cluster.Config) {
	if c.Name == "n1" {
		*c = cluster.WithHooks(*c, cluster.Hooks{Raft: func(r *raft.Config) {
			r.HeartbeatTimeout, r.ElectionTimeout, r.LeaderLeaseTimeout = time.Minute, time.Minute, time.Minute
		}})
	}
}

// TestDeposedLeaderReleasesNoSecret: a node that was removed asks again, by the
// token it once used, where nobody has heard of that.
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
	require.Empty(t, refusal, "the answer may have been lost")
	require.Equal(t, "the cluster key", string(secret))

	cluster.Isolate(tr.nodes[0], true)
	require.Eventually(t, func() bool {
		return tr.nodes[1].Remove(ctx, "n4", false) == nil
	}, 20*time.Second, 10*time.Millisecond)
	leading, _ := tr.nodes[0].Leading()
	require.True(t, leading, "or the test shows nothing")
	refusal, secret = cluster.Admit(ctx, tr.nodes[0], token, id, address, key)
	require.NotEmpty(t, refusal)
	require.Empty(t, secret)
	refusal, secret = cluster.Admit(ctx, tr.nodes[1], token, id, address, key)
	require.Contains(t, refusal, "not known")
	require.Empty(t, secret)
}

// TestInventedTokensCostLittle: however many come, they share the Barriers of strangers.
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
					t.Error("somebody was let in")
				}
			})
		}
		strangers.Wait() // the next hundred come later, and see to it that Barriers add up
	}
	took := time.Since(started)
	passed := tr.nodes[i].Barriers().Passed() - before
	require.LessOrEqual(t, passed, uint64(took.Seconds()*20)+1)
}

// TestNewTokenWorksEverywhere, at a node that has not heard of it yet too.
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
		require.Fail(t, "it was answered by a node that can't know", "%v", err)
	case <-time.After(100 * time.Millisecond):
	}
	g.open()
	require.NoError(t, <-done)
}

// TestNobodyIsPassedOverWithASecret: who is a member is in the state, whatever
// list this node dials by.
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
	require.NoError(t, tr.nodes[0].Secrets().Distribute(t.Context(), []byte("y")), "by the connection that stands")
	mu.Lock()
	require.Equal(t, map[string]string{"n2": "y", "n3": "y"}, had)
	mu.Unlock()
	cluster.Isolate(tr.nodes[2], true) // and ends it
	var failed *cluster.DistributeError
	require.ErrorAs(t, tr.nodes[0].Secrets().Distribute(t.Context(), []byte("z")), &failed)
	require.Len(t, failed.Failures, 1)
	require.Equal(t, "n3", failed.Failures[0].Name)
}

// unknownToken is a join token that nobody made.
func unknownToken(t testing.TB, secret string) string {
	raw := make([]byte, 32)
	copy(raw, secret)
	token, err := member.FormatToken(strings.Repeat("00", sha256.Size), raw)
	require.NoError(t, err)
	return token
}
