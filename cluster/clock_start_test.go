package cluster_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine/machinetest"
	"github.com/mintmark-auth/mintmark/cluster/watchdog"
)

// stoppedNode returns the configuration and the clock of a node that was just stopped.
func stoppedNode(t *testing.T) (cluster.Config, *steppedClock) {
	clock := new(steppedClock)
	c := config(t, "")
	clock.set(&c)
	n := open(t, c)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "before"})
	require.NoError(t, err)
	shut(t, n)
	return c, clock
}

// TestStartWithAWrongClock: a single node that starts with a wrong clock decides nothing,
// and resumes by itself once the clock is right.
func TestStartWithAWrongClock(t *testing.T) {
	t.Parallel()
	for _, by := range []time.Duration{days400, time.Hour, -time.Hour, -20000 * 24 * time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			c, clock := stoppedNode(t)
			clock.jump(by)
			said := new(logBuffer)
			c.Logger = slog.New(slog.NewTextHandler(said, nil))
			n := open(t, c)
			_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "during"})
			require.ErrorIs(t, err, cluster.ErrUnavailable)
			require.ErrorContains(t, err, "no other source confirms it (nothing keeps this clock right")
			require.Error(t, healthCheck(n, "clock"))
			require.Equal(t, 1, said.count("clock not confirmed, deciding nothing"))

			clock.jump(0)
			waited := make(chan error)
			go func() { waited <- n.AwaitClock(t.Context(), func(string) {}) }()
			require.NoError(t, <-waited)
			v, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "after"})
			require.NoError(t, err)
			require.WithinDuration(t, time.Now(), time.UnixMilli(v.(command.Meta).At), stampTolerance)
			require.NoError(t, healthCheck(n, "clock"))
			require.Equal(t, 1, said.count("clock confirmed"))
		})
	}
}

// TestStartWaitsForAnOperator: while the clock stays wrong, AwaitClock blocks until an
// operator accepts the clock. After two minutes the node logs that it is waiting for an
// operator.
func TestStartWaitsForAnOperator(t *testing.T) {
	t.Parallel()
	c, clock := stoppedNode(t)
	clock.jump(time.Hour)
	said := new(logBuffer)
	c.Logger = slog.New(slog.NewTextHandler(said, nil))
	n := open(t, c)
	reasons := make(chan string, 10)
	waited := make(chan error, 1)
	go func() { waited <- n.AwaitClock(t.Context(), func(why string) { reasons <- why }) }()
	select {
	case why := <-reasons:
		require.Contains(t, why, "1h0m0s ahead of when it last ran")
	case err := <-waited:
		require.Fail(t, "AwaitClock returned early", "%v", err)
	}
	require.Zero(t, said.count("waiting for an operator"))
	clock.skip(3 * time.Minute)
	require.Eventually(t, func() bool { return said.count("waiting for an operator") == 1 }, 10*time.Second, 10*time.Millisecond)
	select {
	case err := <-waited:
		require.Fail(t, "AwaitClock returned before an operator accepted the clock", "%v", err)
	default:
	}
	require.NoError(t, n.AcceptClock())
	require.NoError(t, <-waited)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "after"})
	require.NoError(t, err)

	clock.jump(0) // setting the accepted clock back counts as a jump
	_, _, err = n.Propose(t.Context(), &machinetest.Set{Name: "after"})
	require.ErrorContains(t, err, "jumped back")
}

// TestAcceptedClockSurvivesAKill: AcceptClock persists the decision before it returns, so
// a killed node trusts the clock after its restart.
func TestAcceptedClockSurvivesAKill(t *testing.T) {
	t.Parallel()
	clock := new(steppedClock)
	c := config(t, "")
	clock.set(&c)
	n := open(t, c)
	clock.jump(time.Hour)
	require.ErrorContains(t, healthCheck(n, "clock"), "jumped")
	require.Eventually(t, func() bool {
		var at, jumps int64 // both in milliseconds
		require.NoError(t, watchdog.ReadTimes(filepath.Join(c.Dir, "last-run"), &at, &jumps))
		return (time.Duration(jumps) * time.Millisecond).Round(time.Second) == time.Hour
	}, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, n.AcceptClock())
	killed := t.TempDir()
	copyFolder(t, killed, c.Dir)
	shut(t, n)
	c.Dir = killed
	require.NoError(t, healthCheck(open(t, c), "clock"))
}

// TestStartAfterATime: a node that was stopped for a long time does not wait if the
// kernel reports a synchronised clock or the configuration trusts the clock.
func TestStartAfterATime(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*cluster.Config){
		"the kernel vouches": func(c *cluster.Config) { c.Synchronised = func(time.Time) error { return nil } },
		"it is trusted":      func(c *cluster.Config) { c.TrustClock = true },
	} {
		t.Run(name, func(t *testing.T) {
			c, clock := stoppedNode(t)
			clock.jump(30 * 24 * time.Hour)
			change(&c)
			n := open(t, c)
			require.NoError(t, n.AwaitClock(t.Context(), nil))
			_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "after"})
			require.NoError(t, err)
		})
	}
}

// TestStartSoonAfterAStop: an idle node restarts long after its last command, but soon
// after its stop. It compares its clock with the time it last ran, which is in the file
// last-run.
func TestStartSoonAfterAStop(t *testing.T) {
	t.Parallel()
	c, clock := stoppedNode(t)
	n := open(t, c)
	clock.skip(24 * time.Hour)
	require.NoError(t, healthCheck(n, "clock"))
	shut(t, n)
	clock.jump(5 * time.Minute)
	n = open(t, c)
	require.NoError(t, healthCheck(n, "clock"))
	shut(t, n)

	require.NoError(t, os.Remove(filepath.Join(c.Dir, "last-run")))
	n = open(t, c)
	require.ErrorContains(t, healthCheck(n, "clock"), "ahead of the newest decision in its data folder")
}

// TestStartInAnEmptyFolder: with an empty folder an unconfirmed clock is only a warning,
// since there is no data it could harm.
func TestStartInAnEmptyFolder(t *testing.T) {
	t.Parallel()
	clock, said := new(steppedClock), new(logBuffer)
	clock.jump(days400)
	c := config(t, "")
	clock.set(&c)
	c.Logger = slog.New(slog.NewTextHandler(said, nil))
	n := open(t, c)
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	require.NoError(t, err)
	require.Equal(t, 1, said.count("accepted unconfirmed"))
}

// TestAllStartWithAWrongClock: three nodes that all start with the same wrong time do not
// confirm each other.
func TestAllStartWithAWrongClock(t *testing.T) {
	t.Parallel()
	tr, clocks := newClockCluster3(t)
	for i, n := range tr.nodes {
		shut(t, n)
		clocks[i].jump(days400)
	}
	for i := range 3 {
		tr.start(i)
	}
	require.Eventually(t, func() bool { // until the nodes have exchanged their clocks
		for _, n := range tr.nodes {
			if n.Stats().Reachable != 3 || healthCheck(n, "clock") == nil {
				return false
			}
		}
		return true
	}, 20*time.Second, 10*time.Millisecond)
	require.Empty(t, tr.proposeAll())
	for _, c := range clocks {
		c.jump(0)
	}
	tr.waitHealthy()
	tr.requireSameState()
}

// TestPeersConfirmAStart: the peers of a restarted node tell it whether its clock is
// right. Here it first is wrong, then right.
func TestPeersConfirmAStart(t *testing.T) {
	t.Parallel()
	tr, clocks := newClockCluster3(t)
	i := (tr.leader() + 1) % 3
	shut(t, tr.nodes[i])
	for _, c := range clocks {
		c.skip(48 * time.Hour)
	}
	clocks[i].jump(time.Hour)
	tr.start(i)
	require.Eventually(t, func() bool { return tr.nodes[i].Stats().Reachable == 3 }, 10*time.Second, 10*time.Millisecond)
	require.Error(t, healthCheck(tr.nodes[i], "clock"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, tr.nodes[i].AwaitClock(ctx, func(string) {}), "a node with peers does not wait")
	_, _, err := tr.nodes[i].Propose(t.Context(), &machinetest.Set{Name: "by another"})
	require.NoError(t, err)
	clocks[i].jump(0)
	require.Eventually(t, func() bool { return healthCheck(tr.nodes[i], "clock") == nil }, 10*time.Second, 10*time.Millisecond)
}

// TestStartOfAStateAheadOfTheClock: the kernel confirms the clock, but the state holds a
// later timestamp. No command is decided.
func TestStartOfAStateAheadOfTheClock(t *testing.T) {
	t.Parallel()
	c, clock := stoppedNode(t)
	clock.jump(-time.Hour)
	c.Synchronised = func(time.Time) error { return nil }
	n := open(t, c)
	require.NoError(t, healthCheck(n, "clock"))
	_, _, err := n.Propose(t.Context(), &machinetest.Set{Name: "a"})
	var ahead *watchdog.StateTimeError
	require.True(t, errors.As(err, &ahead), "%v", err)
	require.InDelta(t, time.Hour, ahead.By, float64(time.Minute))
	require.ErrorAs(t, healthCheck(n, "time"), &ahead)
}
