package upgrade

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

const app = "app"

func user(i int) string { return fmt.Sprintf("user-%d", i) }

// createAccounts creates accounts and a client with the operators' commands.
func (c *cluster) createAccounts() {
	c.t.Helper()
	first := c.nodes[0]
	for i := range clients {
		first.OK(password, "user", "add", user(i), "--password-file", "-")
	}
	first.OK(secret, "client", "add", "--id", app, "--name", "App", "--owner", user(0),
		"--redirect-uri", callback, "--scope", "PROFILE_READ", "--secret-file", "-")
	first.OK("", "client", "approve", app)
}

// level waits until every node reports that the cluster uses a feature level.
func (c *cluster) level(want uint32) {
	c.t.Helper()
	require.True(c.t, testkit.Until(testkit.Limit, func() bool {
		for _, n := range c.nodes {
			if s, err := n.Status(); err != nil || s.Level != want {
				return false
			}
		}
		return true
	}), "the cluster does not come to level %d", want)
}

// replace stops a node and starts it again with another binary.
func (c *cluster) replace(n *node, binary string) {
	c.t.Helper()
	n.Stop()
	n.start(binary)
	require.True(c.t, n.WaitReady(testkit.Limit), "%s is not ready", n.Name)
}

// checkMixed checks the invariants of nodes of both versions.
func (c *cluster) checkMixed(l *load, upgraded int) {
	t := c.t
	t.Helper()
	l.requireProgress(t)
	c.level(1)
	s, err := c.nodes[0].Status()
	require.NoError(t, err)
	for i, m := range s.Nodes {
		want, level := "old", uint32(1)
		if c.named(m.Name).binary == newBinary {
			want, level = "new", newLevel
		}
		require.Equal(t, want, m.Version, "node %d", i)
		require.Equal(t, level, m.Level)
	}
	// Nothing that an old node does not know is proposed, through any node.
	for _, n := range c.nodes[:upgraded] {
		r := n.Run("", "grant", "disconnect", "--user", user(0))
		require.Equal(t, 5, r.Code, r.Err)
		require.Contains(t, r.Err, "n3 (old, level 1)")
	}
	// All states are equal, and every process still runs.
	l.pauseDuring(c.requireSameState)
	for _, n := range c.nodes {
		require.True(t, n.Running(), n.Name)
	}
}

func (c *cluster) named(name string) *node {
	for _, n := range c.nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// TestRollingUpgrade upgrades from the older version to this one, a node at a time, with
// a leader of either version in between.
func TestRollingUpgrade(t *testing.T) {
	c := newCluster(t, oldBinary)
	c.level(1)
	c.createAccounts()
	l := startLoad(c, app, false)
	l.requireProgress(t)
	for i, n := range c.nodes {
		c.replace(n, newBinary)
		c.Settle()
		if i == 2 {
			break
		}
		for _, leader := range []string{"n1", "n3"} { // a new and an old leader
			c.makeLeader(leader)
			c.checkMixed(l, i+1)
		}
		c.checkReuse(l, i)
	}
	c.level(newLevel)
	l.requireProgress(t)
	l.end(t)
	c.requireSameState()

	// Once each node is upgraded, what was withheld is done.
	c.nodes[1].OK("", "grant", "disconnect", "--user", user(0))
	c.requireSameState()
	c.checkDowngradeRefused()
	c.restartEach()
}

// checkReuse: the reuse of a refresh token at an old node while a new one leads, and the
// other way round, is refused with invalid_grant and ends its grant.
func (c *cluster) checkReuse(l *load, i int) {
	t := c.t
	t.Helper()
	for _, leader := range []string{"n1", "n3"} {
		c.makeLeader(leader)
		for _, at := range []int{0, 2} {
			client := newClient(t, user(i), app, l.pick, false)
			code, err := client.allow()
			require.NoError(t, err)
			first, err := client.exchange(c.nodes[at], code)
			require.NoError(t, err)
			second, err := client.refresh(c.nodes[at], first)
			require.NoError(t, err)
			third, err := client.refresh(c.nodes[at], second)
			require.NoError(t, err)
			// A node without the third token in its state can't decide yet (503).
			require.True(t, testkit.Until(testkit.Limit, func() bool {
				_, err = client.refresh(c.nodes[at], first)
				return err == nil || !strings.Contains(err.Error(), "status 503")
			}), "%v", err)
			require.ErrorContains(t, err, "status 400", "leader %s, node %s", leader, c.nodes[at].Name)
			require.ErrorContains(t, err, "invalid_grant")
			_, err = client.refresh(c.nodes[2-at], third)
			require.ErrorContains(t, err, "invalid_grant", "the grant has ended")
		}
	}
}

// checkDowngradeRefused: a downgraded node refuses to start and logs the reason.
func (c *cluster) checkDowngradeRefused() {
	t, n := c.t, c.nodes[2]
	t.Helper()
	n.Stop()
	n.start(oldBinary)
	require.True(t, testkit.Until(testkit.Limit, func() bool { return !n.Running() }), "the process does not end")
	require.NotZero(t, n.Process().Command.ProcessState.ExitCode())
	require.Contains(t, n.Process().LogText(), fmt.Sprintf("the program does not have: feature level %d, this version has 1", newLevel))
	require.True(t, c.nodes[0].Ready())
	n.start(newBinary)
	require.True(t, n.WaitReady(testkit.Limit))
	c.Settle()
}

// restartEach restarts each node once more, with clients that keep connections open.
func (c *cluster) restartEach() {
	c.t.Helper()
	l := startLoad(c, app, true)
	for _, n := range c.nodes {
		l.requireProgress(c.t)
		c.replace(n, newBinary)
		time.Sleep(2 * pollInterval) // until the load balancers have polled it
		c.Settle()
	}
	l.requireProgress(c.t)
	l.end(c.t)
	c.requireSameState()
}
