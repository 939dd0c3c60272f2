package cluster_test

import (
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

// startedLater returns c with a clock that is d ahead, as if the node had been stopped
// for d.
func startedLater(c cluster.Config, d time.Duration) cluster.Config {
	c.Now = func() time.Time { return time.Now().Add(d) }
	return c
}

// haltOf proposes a command and returns the halt recorded in the state: how long no
// command could be decided.
func haltOf(t *testing.T, n *cluster.Node) time.Duration {
	t.Helper()
	_, index, err := n.Propose(t.Context(), &machinetest.Set{Name: "after"})
	require.NoError(t, err)
	_, err = n.ViewAt(t.Context(), index)
	require.NoError(t, err)
	return time.Duration(n.LastMeta().Halted) * time.Millisecond
}

// TestRestartIsAHalt: after a restart a single node measures the halt from the time in
// its folder (the file live), not from the last command.
func TestRestartIsAHalt(t *testing.T) {
	t.Parallel()
	const away = 5 * time.Minute
	c := config(t, "")
	n := open(t, c)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.NoError(t, err)
	require.Zero(t, n.LastMeta().Halted, "a first start ends no halt")
	shut(t, n)
	require.FileExists(t, filepath.Join(c.Dir, "live"))

	n = open(t, startedLater(c, away))
	halt := haltOf(t, n)
	require.InDelta(t, away.Seconds(), halt.Seconds(), 10)
	require.Equal(t, halt, haltOf(t, n), "the halt is recorded once")
	shut(t, n)

	n = open(t, startedLater(c, away))
	require.Equal(t, halt, haltOf(t, n), "a short halt is not recorded")
	shut(t, n)

	drop(t, c.Dir, "live")
	n = open(t, startedLater(c, 2*away))
	require.Equal(t, halt, haltOf(t, n), "a node that lost the file live records no halt")
}

// TestHaltOnABusyDisk: while the halt waits to be logged, the node still answers peers
// that ask until when commands could be decided.
func TestHaltOnABusyDisk(t *testing.T) {
	t.Parallel()
	gate := newGate()
	c := config(t, "")
	c.QueueTimeout = time.Hour
	c.Elapsed = watchdog.Elapsed()
	n := open(t, cluster.WithHooks(c, cluster.Hooks{
		Logs: func(l raft.LogStore) raft.LogStore { return &stallingLogs{l, gate} },
	}))
	gate.shut()
	var told sync.WaitGroup
	told.Go(func() { _, _, _ = n.Propose(t.Context(), &machinetest.Set{Name: "a"}) })
	gate.waitBlocked(t)
	later := time.Now().Add(time.Minute).UnixMilli()
	told.Go(func() { cluster.RecordLive(n, later) })
	known := make(chan struct{})
	go func() {
		for cluster.Live(n) < later {
			runtime.Gosched()
		}
		close(known)
	}()
	select {
	case <-known:
	case <-time.After(20 * time.Second):
		t.Error("the node does not answer while the halt is not in the log")
	}
	gate.open()
	told.Wait()
	<-known
	require.Eventually(t, func() bool { return n.LastMeta().Halted > 50_000 }, 20*time.Second, time.Millisecond)
}

// waitLive waits until every node has seen the live time advance by more than d.
func (tr *cluster3) waitLive(d time.Duration) {
	tr.t.Helper()
	for _, n := range tr.nodes {
		from := cluster.Live(n)
		require.Eventually(tr.t, func() bool { return cluster.Live(n)-from > d.Milliseconds() }, 30*time.Second, 10*time.Millisecond)
	}
}

// TestIdleIsNoHalt: the cluster is idle, then leadership moves to a node that was cut
// off. No halt is recorded.
func TestIdleIsNoHalt(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	tr.waitLive(time.Second)
	i := tr.leader()
	other := tr.nodes[(i+1)%3]
	cluster.Isolate(other, true)
	from := cluster.Live(tr.nodes[i])
	require.Eventually(t, func() bool { return cluster.Live(tr.nodes[i])-from > 4000 }, 30*time.Second, 10*time.Millisecond)
	require.Less(t, cluster.Live(other)-from, int64(3000), "the isolated node has not seen the live time advance")
	cluster.Isolate(other, false)
	tr.settle(3)
	require.Eventually(t, func() bool {
		return tr.nodes[tr.leader()].TransferLeadership(t.Context(), other.ID()) == nil
	}, 20*time.Second, 10*time.Millisecond)
	tr.settle(3)
	require.Zero(t, haltOf(t, other))
}

// TestLeaderWithoutAMajorityIsAHalt: a leader that loses its majority and keeps running
// records the halt.
func TestLeaderWithoutAMajorityIsAHalt(t *testing.T) {
	t.Parallel()
	tr := newCluster3(t)
	tr.waitLive(time.Second)
	i := tr.leader()
	began := time.Now()
	for _, n := range tr.nodes {
		cluster.Isolate(n, true)
	}
	away := time.Now()
	require.Eventually(t, func() bool { return time.Since(away) > 5*time.Second }, 20*time.Second, 10*time.Millisecond)
	least := time.Since(away)
	for _, n := range tr.nodes {
		cluster.Isolate(n, false)
	}
	tr.settle(3)
	halt := haltOf(t, tr.nodes[i])
	require.Greater(t, halt, least-2*time.Second)
	require.Less(t, halt, time.Since(began)+2*time.Second)
	tr.requireSameState()
}

// TestAllStoppedIsAHalt: after all nodes were stopped, the next leader records the halt,
// whichever node it is.
func TestAllStoppedIsAHalt(t *testing.T) {
	t.Parallel()
	const away = 5 * time.Minute
	tr := newCluster3(t)
	tr.waitLive(time.Second)
	for _, n := range tr.nodes {
		shut(t, n)
	}
	for i := range tr.nodes {
		tr.relisten(i)
		tr.nodes[i] = open(t, startedLater(tr.confs[i], away))
	}
	tr.settle(3)
	require.InDelta(t, away.Seconds(), haltOf(t, tr.nodes[0]).Seconds(), 20)
	tr.requireSameState()
}

// TestUnansweredQueriesAreNoEndOfAHalt: a node that is elected, and then can't ask a
// majority when commands could last be decided, does not forget what it knows itself.
func TestUnansweredQueriesAreNoEndOfAHalt(t *testing.T) {
	t.Parallel()
	const away = 5 * time.Minute
	tr := newCluster3(t)
	tr.waitLive(time.Second)
	for _, n := range tr.nodes {
		shut(t, n)
	}
	start := func(i int) {
		tr.relisten(i)
		tr.nodes[i] = open(t, startedLater(tr.confs[i], away))
	}
	start(0)
	known := cluster.Live(tr.nodes[0])
	require.NotZero(t, known)
	require.False(t, cluster.CollectLive(tr.nodes[0]), "the other nodes do not run")
	require.Equal(t, known, cluster.Live(tr.nodes[0]))
	start(1)
	start(2)
	tr.settle(3)
	require.InDelta(t, away.Seconds(), haltOf(t, tr.nodes[0]).Seconds(), 20)
	tr.requireSameState()
}
