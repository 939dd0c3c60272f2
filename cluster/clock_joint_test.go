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
	// stampTolerance is what a stamp may be off by, and a second for the test.
	stampTolerance = 11 * time.Second
)

// newClockCluster3 is a cluster of three with clocks to step.
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

// waitClocksConfirmed waits until every node knows that the others believe their clocks.
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

// proposeAll proposes by each node, and returns the stamps that were acknowledged. It
// does not wait for long for somebody to lead.
func (tr *cluster3) proposeAll() (at []time.Time) {
	// All at once: a joint jump of some minutes is accepted after a while.
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

// waitHealthy waits until all nodes are healthy again, without an operator, and
// stamp the right time.
func (tr *cluster3) waitHealthy() {
	tr.t.Helper()
	tr.waitHealthyAt(time.Now())
}

// waitHealthyAt is goesOn where the right time was so a moment ago.
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

// TestClocksThatJumpTogether: that several nodes jumped to the same time is no
// reason to believe it, since one cause may have moved them all.
func TestClocksThatJumpTogether(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		nodes int // from the leader on
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
			for range 2 { // each takes three seconds where nobody leads
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

// TestClocksThatStayElsewhere: nothing is decided until an operator says which
// clocks are right.
func TestClocksThatStayElsewhere(t *testing.T) {
	t.Parallel()
	tr, clocks := newClockCluster3(t)
	for _, c := range clocks[:2] {
		c.jump(days400)
		c.skip(time.Hour) // it lasts
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

	// And the third comes to them by itself: they do not jump.
	clocks[2].jump(days400)
	require.Eventually(t, func() bool { return healthCheck(tr.nodes[2], "clock") == nil }, 10*time.Second, 10*time.Millisecond)
}

// TestClocksAreCorrectedTogether: by some minutes, for good. That needs nobody.
// Once they are set back, nothing is decided before they are where they were.
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

// TestRestartsLaunderNoJump: clocks that are refused as long as the nodes run are
// refused after a restart too, beside a node whose clock is steady.
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

// TestRollingRestartLaundersNoJump: the node that restarts last meets none whose clock
// is right any more, but those that restarted before it know what it was.
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

// TestRestartOfAllLaundersNoJump: no node runs on that knows better, nor does a node
// that is alone. Set right, the clocks need nobody.
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

// TestJumpsAddUpOverRestarts: jumps that a majority may accept by itself are no more
// than that together, also where the nodes restart in between, or vouch for each
// other.
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
	// The third comes to them, and all restart with two others that vouch.
	clocks[(i+2)%3].jump(step)
	accepted((i + 2) % 3)
	require.InDelta(t, step, unconfirmedJumps(tr.nodes[(i+2)%3]), float64(stampTolerance), "they can't vouch for more than they know")
	for j := range tr.nodes {
		tr.restart(j)
		accepted(j)
	}
	tr.waitClocksConfirmed()

	jump(2 * step)
	refused := func() {
		t.Helper()
		for range 2 {
			for _, at := range tr.proposeAll() { // by the third, until it knows of the others
				require.WithinDuration(t, clocks[(i+2)%3].now(), at, stampTolerance)
			}
		}
		for _, j := range wrong {
			require.Error(t, healthCheck(tr.nodes[j], "clock"))
		}
	}
	refused()
	require.ErrorContains(t, healthCheck(tr.nodes[i], "clock"), "and by 4m5", "it says why")
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

// TestJumpsOfANodeAloneAddUpOverRestarts, where a majority is that node.
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

// TestOneWrongClockKeepsNobodyFromStarting where another steady one agrees with
// who starts.
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

// TestClockOfANodeAloneComesBack: nothing was stamped, and nobody is asked.
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

// TestStampsAreNeverAheadOfAMajority: a leader is in the middle of its clocks, and
// state time is that of a leader before it.
func TestStampsAreNeverAheadOfAMajority(t *testing.T) {
	t.Parallel()
	tr, clocks := newClockCluster3(t)
	i := tr.leader()
	clocks[i].jump(8 * time.Second) // no jump, and within what is tolerated of a leader
	from := time.Now()
	at := tr.proposeAll()
	require.Len(t, at, 3)
	require.WithinRange(t, at[2], from.Add(8*time.Second).Truncate(time.Millisecond), time.Now().Add(8*time.Second))

	// The next leader's clock is 9 s ahead of both others', and state time is 8 s
	// ahead of that.
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
	require.Eventually(t, func() bool { // when it has heard of their clocks
		_, _, err := tr.nodes[j].Propose(t.Context(), &machinetest.Set{Name: "a"})
		return errors.As(err, &ahead)
	}, 5*time.Second, 10*time.Millisecond)
	require.Greater(t, ahead.By, 10*time.Second)
	require.LessOrEqual(t, ahead.By, 18*time.Second)
}
