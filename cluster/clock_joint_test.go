package cluster_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

const (
	days400 = 400 * 24 * time.Hour
	// stampTolerance is the largest allowed error of a timestamp, plus a second for the
	// test.
	stampTolerance = 11 * time.Second
)

// newClockCluster3 returns a cluster of three nodes and their adjustable clocks.
func newClockCluster3(t *testing.T) (*cluster3, []*steppedClock) {
	var clocks []*steppedClock
	tr := newCluster3(t, func(c *cluster.Config) {
		clocks = append(clocks, new(steppedClock))
		clocks[len(clocks)-1].set(c)
	})
	tr.waitClocksKnown()
	tr.waitClocksConfirmed()
	return tr, clocks
}

// waitClocksConfirmed waits until every node knows that the other nodes confirm its
// clock.
func (tr *cluster3) waitClocksConfirmed() {
	tr.t.Helper()
	require.Eventually(tr.t, func() bool {
		for _, n := range tr.nodes {
			if healthCheck(n, "clock") != nil || !cluster.ClockConfirmed(n) {
				return false
			}
		}
		return true
	}, 10*time.Second, 10*time.Millisecond)
}

// proposeAll proposes one command on each node and returns the timestamps of those that
// succeeded. It waits at most two seconds, also when there is no leader.
func (tr *cluster3) proposeAll() (at []time.Time) {
	// The proposals run at the same time: a joint jump of some minutes is accepted after
	// a while.
	ctx, cancel := context.WithTimeout(tr.t.Context(), 2*time.Second)
	defer cancel()
	stamped := make(chan time.Time, len(tr.nodes))
	var trying sync.WaitGroup
	for _, n := range tr.nodes {
		trying.Go(func() {
			if v, _, err := n.Propose(ctx, &machinetest.Set{Name: "a"}); err == nil {
				stamped <- time.UnixMilli(v.(command.Meta).At)
			}
		})
	}
	trying.Wait()
	close(stamped)
	for t := range stamped {
		at = append(at, t)
	}
	return at
}

// waitHealthy waits until the cluster has recovered by itself, and requires that every
// node stamps the current time.
func (tr *cluster3) waitHealthy() {
	tr.t.Helper()
	tr.waitHealthyAt(time.Now())
}

// waitHealthyAt is waitHealthy with another correct time: right is the correct time when
// it is called.
func (tr *cluster3) waitHealthyAt(right time.Time) {
	tr.t.Helper()
	from := time.Now()
	tr.settle(3)
	tr.leader()
	for _, n := range tr.nodes {
		v, _, err := n.Propose(tr.t.Context(), &machinetest.Set{Name: "after"})
		require.NoError(tr.t, err)
		require.WithinDuration(tr.t, right.Add(time.Since(from)), time.UnixMilli(v.(command.Meta).At), stampTolerance)
	}
}

// TestClocksThatJumpTogether: nodes do not confirm each other's jump to the same time,
// since one cause may have moved all their clocks.
func TestClocksThatJumpTogether(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		nodes int // number of nodes that jump, starting with the leader
		by    time.Duration
	}{
		{"two, 400 days ahead", 2, days400},
		{"two, two hours ahead", 2, 2 * time.Hour},
		{"two, two hours back", 2, -2 * time.Hour},
		{"all, 400 days ahead", 3, days400},
		{"all, two hours back", 3, -2 * time.Hour},
		{"all, four minutes ahead", 3, 4 * time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tr, clocks := newClockCluster3(t)
			i := tr.leader()
			for j := range tc.nodes {
				clocks[(i+j)%3].jump(tc.by)
			}
			for range 2 { // without a leader each call takes two seconds
				for _, at := range tr.proposeAll() {
					require.WithinDuration(t, time.Now(), at, stampTolerance)
				}
			}
			require.ErrorContains(t, healthCheck(tr.nodes[i], "clock"), "jumped")
			for _, c := range clocks {
				c.jump(0)
			}
			tr.waitHealthy()
			tr.requireSameState()
		})
	}
}

// TestClocksThatStayElsewhere: two clocks stay wrong. No command is decided until an
// operator accepts a clock.
func TestClocksThatStayElsewhere(t *testing.T) {
	t.Parallel()
	tr, clocks := newClockCluster3(t)
	for _, c := range clocks[:2] {
		c.jump(days400)
		c.skip(time.Hour) // the wrong time persists
	}
	clocks[2].skip(time.Hour)
	require.Eventually(t, func() bool {
		for _, n := range tr.nodes {
			if leading, _ := n.Leading(); leading {
				return false
			}
		}
		return healthCheck(tr.nodes[0], "clock") != nil && healthCheck(tr.nodes[1], "clock") != nil
	}, 10*time.Second, 10*time.Millisecond)
	require.Empty(t, tr.proposeAll())
	require.NoError(t, tr.nodes[0].AcceptClock())
	require.NoError(t, tr.nodes[1].AcceptClock())
	require.Eventually(t, func() bool {
		v, _, err := tr.nodes[2].Propose(t.Context(), &machinetest.Set{Name: "a"})
		return err == nil && time.Until(time.UnixMilli(v.(command.Meta).At)) > days400-time.Hour
	}, 10*time.Second, 10*time.Millisecond)

	// When the third clock jumps to their time, it is accepted without an operator,
	// because theirs did not jump.
	clocks[2].jump(days400)
	require.Eventually(t, func() bool { return healthCheck(tr.nodes[2], "clock") == nil }, 10*time.Second, 10*time.Millisecond)
}

// TestClocksAreCorrectedTogether: all clocks move by two minutes and stay there. They are
// accepted without an operator. After they are set back, no command is decided until they
// pass the time of the last decision again.
func TestClocksAreCorrectedTogether(t *testing.T) {
	t.Parallel()
	tr, clocks := newClockCluster3(t)
	jump := func(to time.Duration) {
		for _, c := range clocks {
			c.jump(to)
		}
		require.Eventually(t, func() bool {
			for _, n := range tr.nodes {
				if healthCheck(n, "clock") == nil {
					return false
				}
			}
			return true
		}, 10*time.Second, 10*time.Millisecond)
		for _, c := range clocks {
			c.skip(20 * time.Second)
		}
		tr.waitClocksConfirmed()
	}
	jump(2 * time.Minute)
	require.Eventually(t, func() bool {
		at := tr.proposeAll()
		return len(at) == 3 && time.Until(at[0]) > 2*time.Minute
	}, 10*time.Second, 10*time.Millisecond)

	jump(0)
	i := tr.leader()
	_, _, err := tr.nodes[i].Propose(t.Context(), &machinetest.Set{Name: "a"})
	var ahead *watchdog.StateTimeError
	require.ErrorAs(t, err, &ahead)
	require.ErrorIs(t, err, cluster.ErrUnavailable)
	require.InDelta(t, 100*time.Second, ahead.By, float64(30*time.Second))
	for _, n := range tr.nodes {
		require.ErrorAs(t, healthCheck(n, "time"), &ahead)
		require.InDelta(t, 100*time.Second, n.Stats().StateAhead, float64(30*time.Second))
	}
	for _, c := range clocks {
		c.skip(2 * time.Minute)
	}
	require.Eventually(t, func() bool { return len(tr.proposeAll()) == 3 }, 10*time.Second, 10*time.Millisecond)
	for _, n := range tr.nodes {
		require.NoError(t, healthCheck(n, "time"))
	}
}

// TestRestartsLaunderNoJump: a restart does not make a jumped clock acceptable while a
// node with a steady clock runs.
func TestRestartsLaunderNoJump(t *testing.T) {
	t.Parallel()
	tr, clocks := newClockCluster3(t)
	i := tr.leader()
	wrong := []int{i, (i + 1) % 3}
	for _, j := range wrong {
		clocks[j].jump(9 * time.Minute)
	}
	require.Empty(t, tr.proposeAll())
	for _, j := range wrong {
		tr.restart(j)
		require.ErrorContains(t, healthCheck(tr.nodes[j], "clock"), "ahead of the clocks of nodes that run steadily", "at once")
	}
	require.Eventually(t, func() bool { return tr.nodes[(i+2)%3].Stats().Reachable == 3 }, 10*time.Second, 10*time.Millisecond)
	require.Empty(t, tr.proposeAll())
	for _, c := range clocks {
		c.jump(0)
	}
	tr.waitHealthy()
	tr.requireSameState()
}

// TestRollingRestartLaundersNoJump: the node that restarts last finds no peer with a
// correct clock, but the peers that restarted earlier remember that their clocks jumped.
func TestRollingRestartLaundersNoJump(t *testing.T) {
	t.Parallel()
	tr, clocks := newClockCluster3(t)
	i := tr.leader()
	for turn := range 6 {
		j := (i + turn) % 3
		clocks[j].jump(9 * time.Minute)
		tr.restart(j)
		require.Eventually(t, func() bool {
			err := healthCheck(tr.nodes[j], "clock")
			return err != nil && strings.Contains(err.Error(), "ahead of the clocks of nodes that run steadily")
		}, 10*time.Second, 10*time.Millisecond, "restart %d", turn)
	}
	for _, c := range clocks {
		c.skip(time.Minute)
	}
	require.Empty(t, tr.proposeAll())
	for j, n := range tr.nodes {
		require.Error(t, healthCheck(n, "clock"))
		clocks[j].jump(0)
	}
	tr.waitHealthyAt(time.Now().Add(time.Minute))
	tr.requireSameState()
}

// TestRestartOfAllLaundersNoJump: after all nodes restart, none has a steady clock, and
// yet the jump is not accepted. The same holds for a single node. Clocks that are set
// right need no operator.
func TestRestartOfAllLaundersNoJump(t *testing.T) {
	t.Parallel()
	waits := func(n *cluster.Node, why string) {
		t.Helper()
		require.Eventually(t, func() bool {
			err := healthCheck(n, "clock")
			return err != nil && strings.Contains(err.Error(), why)
		}, 10*time.Second, 10*time.Millisecond)
	}
	tr, clocks := newClockCluster3(t)
	for j, n := range tr.nodes {
		clocks[j].jump(9 * time.Minute)
		waits(n, "jumped forward")
	}
	for range 2 {
		for _, n := range tr.nodes {
			shut(t, n)
		}
		for j := range tr.nodes {
			tr.start(j)
		}
		for _, n := range tr.nodes {
			waits(n, "since it jumped while this node ran")
		}
		require.Empty(t, tr.proposeAll())
	}
	for j := range tr.nodes {
		clocks[j].jump(0)
	}
	tr.waitClocksConfirmed()

	alone, clock := config(t, ""), new(steppedClock)
	clock.set(&alone)
	n := open(t, alone)
	clock.jump(9 * time.Minute)
	waits(n, "jumped forward")
	shut(t, n)
	n = open(t, alone)
	waits(n, "since it jumped while this node ran")
	require.NoError(t, n.AcceptClock())
	shut(t, n)
	n = open(t, alone)
	require.NoError(t, healthCheck(n, "clock"))
}

// TestJumpsAddUpOverRestarts: a majority may accept small jumps by itself only up to a
// total limit. Neither restarts nor peers that confirm each other reset the total.
func TestJumpsAddUpOverRestarts(t *testing.T) {
	t.Parallel()
	const step = 4*time.Minute + 55*time.Second
	tr, clocks := newClockCluster3(t)
	i := tr.leader()
	wrong := []int{i, (i + 1) % 3}
	jump := func(to time.Duration) {
		for _, j := range wrong {
			clocks[j].jump(to)
		}
		for _, j := range wrong {
			require.Eventually(t, func() bool { return healthCheck(tr.nodes[j], "clock") != nil }, 10*time.Second, 10*time.Millisecond)
		}
		for _, c := range clocks {
			c.skip(20 * time.Second)
		}
	}
	accepted := func(nodes ...int) {
		for _, j := range nodes {
			require.Eventually(t, func() bool { return healthCheck(tr.nodes[j], "clock") == nil }, 10*time.Second, 10*time.Millisecond)
		}
	}
	jump(step)
	accepted(wrong...)
	for _, j := range wrong {
		tr.restart(j)
		accepted(j)
	}
	// The third clock follows, and all nodes restart while the other two confirm them.
	clocks[(i+2)%3].jump(step)
	accepted((i + 2) % 3)
	require.InDelta(t, step, unconfirmedJumps(tr.nodes[(i+2)%3]), float64(stampTolerance), "the third node takes over the unconfirmed total of the nodes that confirm it")
	for j := range tr.nodes {
		tr.restart(j)
		accepted(j)
	}
	tr.waitClocksConfirmed()

	jump(2 * step)
	refused := func() {
		t.Helper()
		for range 2 {
			for _, at := range tr.proposeAll() { // decided by the third node until it hears of the other clocks
				require.WithinDuration(t, clocks[(i+2)%3].now(), at, stampTolerance)
			}
		}
		for _, j := range wrong {
			require.Error(t, healthCheck(tr.nodes[j], "clock"))
		}
	}
	refused()
	require.ErrorContains(t, healthCheck(tr.nodes[i], "clock"), "unconfirmed earlier jumps: 4m5", "the reason names the total")
	for _, j := range wrong {
		tr.restart(j)
	}
	for _, c := range clocks {
		c.skip(20 * time.Second)
	}
	refused()
	for _, j := range wrong {
		require.NoError(t, tr.nodes[j].AcceptClock())
	}
	require.Eventually(t, func() bool { return len(tr.proposeAll()) == 3 }, 20*time.Second, 10*time.Millisecond)
}

// TestJumpsOfANodeAloneAddUpOverRestarts: the same limit holds for a node that is its own
// majority.
func TestJumpsOfANodeAloneAddUpOverRestarts(t *testing.T) {
	t.Parallel()
	clock := new(steppedClock)
	c := config(t, "")
	clock.set(&c)
	n := open(t, c)
	clock.jump(3 * time.Minute)
	require.Eventually(t, func() bool { return healthCheck(n, "clock") != nil }, 10*time.Second, 10*time.Millisecond)
	clock.skip(20 * time.Second)
	require.Eventually(t, func() bool { return healthCheck(n, "clock") == nil }, 10*time.Second, 10*time.Millisecond)
	shut(t, n)
	n = open(t, c)
	require.NoError(t, healthCheck(n, "clock"))
	clock.jump(6 * time.Minute)
	require.ErrorContains(t, healthCheck(n, "clock"), "jumped forward by 3m")
	clock.skip(time.Minute)
	require.Never(t, func() bool { return healthCheck(n, "clock") == nil }, 3*time.Second, 10*time.Millisecond)
	require.NoError(t, n.AcceptClock())
	require.NoError(t, healthCheck(n, "clock"))
}

// TestOneWrongClockKeepsNobodyFromStarting: a node starts although one peer's clock is
// wrong, because the other peer's steady clock agrees with its own.
func TestOneWrongClockKeepsNobodyFromStarting(t *testing.T) {
	t.Parallel()
	tr, clocks := newClockCluster3(t)
	i := tr.leader()
	wrong, starts := (i+1)%3, (i+2)%3
	clocks[wrong].jump(9 * time.Minute)
	require.NoError(t, tr.nodes[wrong].AcceptClock())
	tr.restart(starts)
	require.Eventually(t, func() bool { return healthCheck(tr.nodes[starts], "clock") == nil }, 5*time.Second, 10*time.Millisecond)
	v, _, err := tr.nodes[starts].Propose(t.Context(), &machinetest.Set{Name: "after"})
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), time.UnixMilli(v.(command.Meta).At), stampTolerance)
}

// TestClockOfANodeAloneComesBack: a single node resumes by itself when its clock returns,
// because nothing was stamped with the wrong time.
func TestClockOfANodeAloneComesBack(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{days400, time.Minute, -time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			clock := new(steppedClock)
			c := config(t, "")
			clock.set(&c)
			n := open(t, c)
			clock.jump(by)
			_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "during"})
			require.ErrorIs(t, err, cluster.ErrUnavailable)
			clock.jump(0)
			v, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "after"})
			require.NoError(t, err)
			require.WithinDuration(t, time.Now(), time.UnixMilli(v.(command.Meta).At), stampTolerance)
		})
	}
}

// TestStampsAreNeverAheadOfAMajority: a leader may run ahead of the other clocks within
// the tolerance. When the next leader's clock is behind the state time that resulted, it
// refuses to stamp.
func TestStampsAreNeverAheadOfAMajority(t *testing.T) {
	t.Parallel()
	tr, clocks := newClockCluster3(t)
	i := tr.leader()
	clocks[i].jump(8 * time.Second) // too small for a jump, and within a leader's tolerance
	from := time.Now()
	at := tr.proposeAll()
	require.Len(t, at, 3)
	require.WithinRange(t, at[2], from.Add(8*time.Second).Truncate(time.Millisecond), time.Now().Add(8*time.Second))

	// The next leader's clock is 9 s ahead of both other clocks, and the state time is 8
	// s ahead of the next leader's clock.
	j := (i + 1) % 3
	for k := range clocks {
		if clocks[k].jump(-9 * time.Second); k == j {
			clocks[k].jump(0)
		}
	}
	require.Eventually(t, func() bool {
		_ = tr.nodes[i].TransferLeadership(t.Context(), tr.confs[j].Name)
		return tr.leader() == j
	}, 10*time.Second, 10*time.Millisecond)
	var ahead *watchdog.StateTimeError
	require.Eventually(t, func() bool { // once the leader knows the other clocks
		_, _, err := tr.nodes[j].Propose(t.Context(), &machinetest.Set{Name: "a"})
		return errors.As(err, &ahead)
	}, 5*time.Second, 10*time.Millisecond)
	require.Greater(t, ahead.By, 10*time.Second)
	require.LessOrEqual(t, ahead.By, 18*time.Second)
}
