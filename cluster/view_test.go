package cluster_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-memdb"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
)

func TestViewAtWaits(t *testing.T) {
	t.Parallel()
	n := open(t, config(t, ""))
	_, index, err := n.Propose(t.Context(), &machinetest.Set{Name: "a", Value: 1})
	require.NoError(t, err)
	txn, err := n.ViewAt(t.Context(), index)
	require.NoError(t, err)
	require.Equal(t, uint64(1), machinetest.Find(txn, "a").Value)
	require.Equal(t, index, n.Applied())

	type result struct {
		txn *memdb.Txn
		err error
	}
	later := make(chan result, 1)
	go func() {
		txn, err := n.ViewAt(context.Background(), index+1)
		later <- result{txn, err}
	}()
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = n.ViewAt(short, index+1)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, cluster.ErrUnavailable)
	select {
	case <-later:
		t.Fatal("answered before the index was applied")
	default:
	}
	_, next, err := n.Propose(t.Context(), &machinetest.Set{Name: "a", Value: 2})
	require.NoError(t, err)
	require.Equal(t, index+1, next)
	r := <-later
	require.NoError(t, r.err)
	require.Equal(t, uint64(2), machinetest.Find(r.txn, "a").Value)

	go func() {
		_, err := n.ViewAt(context.Background(), index+1000)
		later <- result{nil, err}
	}()
	shut(t, n)
	require.ErrorIs(t, (<-later).err, cluster.ErrUnavailable, "Close ends the wait")
}

func TestViewsDoNotChange(t *testing.T) {
	t.Parallel()
	n := open(t, config(t, ""))
	old := n.View()
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a", Value: 1})
	require.NoError(t, err)
	require.Zero(t, machinetest.Find(old, "a").Value)
	require.Equal(t, uint64(1), machinetest.Find(n.View(), "a").Value)
}

func TestChanged(t *testing.T) {
	t.Parallel()
	n := open(t, config(t, ""))
	registers, others := n.Changed("registers"), n.Changed("others")
	require.Equal(t, registers, n.Changed("registers"), "all waiters share one channel")
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.NoError(t, err)
	<-registers
	select {
	case <-others:
		t.Fatal("a change of another table")
	default:
	}

	var snapshot bytes.Buffer
	require.NoError(t, machinetest.Filled(3).Save(&snapshot))
	registers = n.Changed("registers")
	require.NoError(t, n.RestoreNow(&snapshot))
	<-registers
	<-others
	require.Equal(t, uint64(2), machinetest.Find(n.View(), "2").Value)
	require.Panics(t, func() { n.Changed("nowhere") })
}

// TestChangedMissesNothing: a caller that gets the channel before the view sees every
// value, or a later one.
func TestChangedMissesNothing(t *testing.T) {
	t.Parallel()
	n := open(t, config(t, ""))
	const last = 300
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				changed := n.Changed("registers")
				if machinetest.Find(n.View(), "a").Value == last {
					return
				}
				select {
				case <-changed:
				case <-time.After(10 * time.Second):
					t.Error("missed a change")
					return
				}
			}
		})
	}
	for i := uint64(1); i <= last; i++ {
		_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a", Value: i})
		require.NoError(t, err)
	}
	wg.Wait()
}

func TestReadyMeansCommit(t *testing.T) {
	t.Parallel()
	gate := newGate()
	c := cluster.WithHooks(config(t, ""), cluster.Hooks{FSM: gate.pass})
	c.ProposeTimeout = 50 * time.Millisecond
	n := open(t, c)
	require.NoError(t, n.Ready(t.Context()))
	gate.shut()
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.ErrorIs(t, err, cluster.ErrUnknown)
	require.ErrorIs(t, n.Ready(context.Background()), cluster.ErrUnavailable, "Ready ends without a deadline of the caller")
	gate.open()
	require.NoError(t, n.Ready(t.Context()))
	require.Equal(t, uint64(1), n.Seq(), "the command with the unknown outcome was applied")
	shut(t, n)
	require.ErrorIs(t, n.Ready(t.Context()), cluster.ErrUnavailable)
}

// TestFreshViewOfAFollower: a follower's fresh view waits until the follower has applied
// everything before the leader's Barrier.
func TestFreshViewOfAFollower(t *testing.T) {
	t.Parallel()
	gate, made := newGate(), 0
	tr := newCluster3(t, func(c *cluster.Config) {
		if made++; made == 3 {
			*c = cluster.WithHooks(*c, cluster.Hooks{FSM: gate.pass})
		}
	})
	require.NoError(t, tr.nodes[tr.leader()].TransferLeadership(t.Context(), "n1"))
	gate.shut()
	_, index, err := tr.nodes[0].Propose(t.Context(), &machinetest.Set{Name: "a", Value: 7})
	require.NoError(t, err)
	gate.waitBlocked(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err = tr.nodes[2].ViewFresh(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, tr.nodes[2].Applied(), index)
	gate.open()
	txn, err := tr.nodes[2].ViewFresh(t.Context())
	require.NoError(t, err)
	require.Equal(t, uint64(7), machinetest.Find(txn, "a").Value)
}

// TestFreshViewReportsSoonThatTheLeaderHangs: a caller has proposed nothing yet, so it does not
// have to wait as long as for a proposal.
func TestFreshViewReportsSoonThatTheLeaderHangs(t *testing.T) {
	t.Parallel()
	var gates []*gate
	tr := newCluster3(t, func(c *cluster.Config) {
		g := newGate()
		gates = append(gates, g)
		*c = cluster.WithHooks(*c, cluster.Hooks{Logs: func(l raft.LogStore) raft.LogStore { return &stallingLogs{l, g} }})
		c.LeaderTimeout, c.ProposeTimeout = time.Second, time.Hour
	})
	leader := tr.leader()
	gates[leader].shut()
	defer gates[leader].open()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	follower := tr.nodes[(leader+1)%3]
	_, err := follower.ViewFresh(ctx)
	require.ErrorIs(t, err, cluster.ErrUnavailable)
	_, err = follower.ViewPaced(ctx)
	require.ErrorIs(t, err, cluster.ErrUnavailable)
	require.NoError(t, ctx.Err(), "it waited for the leader's answer")
}

// TestBarrierUnderWayIsNotShared: a Barrier that is under way may have entered the log
// before the write that a later caller wants to see. Callers that come meanwhile share
// the next Barrier.
func TestBarrierUnderWayIsNotShared(t *testing.T) {
	t.Parallel()
	gate := newGate()
	n := open(t, cluster.WithHooks(config(t, ""), cluster.Hooks{
		Logs: func(l raft.LogStore) raft.LogStore { return &stallingLogs{l, gate} },
	}))
	before := n.Barriers().Passed()
	gate.shut()
	fresh := make(chan error, 10)
	look := func() {
		_, err := n.ViewFresh(context.Background())
		fresh <- err
	}
	go look()
	gate.waitBlocked(t)
	for range 9 {
		go look()
	}
	require.Eventually(t, func() bool { return n.Barriers().Waits(false) }, 10*time.Second, time.Millisecond)
	gate.open()
	for range 10 {
		require.NoError(t, <-fresh)
	}
	passed := n.Barriers().Passed() - before
	require.GreaterOrEqual(t, passed, uint64(2))
	require.LessOrEqual(t, passed, uint64(10))
}

// TestUnauthenticatedShareBarriers: all unauthenticated callers together cause at most 20
// Barriers a second, whichever node they ask and by whichever call.
func TestUnauthenticatedShareBarriers(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	leader := tr.nodes[tr.leader()]
	_, _, err := leader.Propose(t.Context(), &machinetest.Set{Name: "a", Value: 1})
	require.NoError(t, err)
	before, logged, started := leader.Barriers().Passed(), leader.Seq(), time.Now()
	var strangers sync.WaitGroup
	for _, n := range tr.nodes {
		for range 20 {
			strangers.Go(func() {
				for range 8 {
					txn, err := n.ViewPaced(t.Context())
					if err != nil || machinetest.Find(txn, "a").Value != 1 {
						t.Errorf("a stale view, or %v", err)
					}
				}
			})
			strangers.Go(func() {
				for range 4 {
					if _, _, err := n.Propose(t.Context(), &machinetest.Raise{Name: "a", Known: 7, ConfirmFresh: true, Unauthenticated: true}); err != nil {
						t.Error(err)
					}
					if err := n.Ready(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	strangers.Wait()
	passed, took := leader.Barriers().Passed()-before, time.Since(started)
	require.LessOrEqual(t, passed, uint64(took.Seconds()*20)+1)
	require.NotZero(t, passed)
	require.Equal(t, logged, leader.Seq(), "no command was logged")
}

// TestUnauthenticatedDelayNobody: an authenticated caller does not wait for the paced
// Barriers of unauthenticated callers.
func TestUnauthenticatedDelayNobody(t *testing.T) {
	t.Parallel()
	n := open(t, config(t, ""))
	n.Barriers().SetPace(time.Hour)
	_, err := n.ViewPaced(t.Context())
	require.NoError(t, err)
	waiting, cancel := context.WithCancel(t.Context())
	held := make(chan error, 1)
	go func() {
		_, err := n.ViewPaced(waiting)
		held <- err
	}()
	require.Eventually(t, func() bool { return n.Barriers().Waits(true) }, 10*time.Second, time.Millisecond)
	_, err = n.ViewFresh(t.Context())
	require.NoError(t, err)
	_, _, err = n.Propose(t.Context(), &machinetest.Raise{Name: "a", Known: 7, ConfirmFresh: true})
	require.NoError(t, err)
	cancel()
	require.ErrorIs(t, <-held, cluster.ErrUnavailable)
}
