package cluster_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
)

// TestEvents: each event is logged once on each node concerned.
func TestEvents(t *testing.T) {
	t.Parallel()
	logs := make(map[string]*logBuffer)
	tr := newCluster3(t, func(c *cluster.Config) {
		logs[c.Name] = new(logBuffer)
		c.Logger = slog.New(slog.NewTextHandler(logs[c.Name], nil))
	})
	once := func(name, line string) {
		t.Helper()
		require.Eventually(t, func() bool { return logs[name].count(line) == 1 }, 20*time.Second, time.Millisecond, "%s: %s", name, line)
	}
	once("n2", "node caught up and became a voter")
	once("n3", "node caught up and became a voter")
	require.Zero(t, logs["n1"].count("node caught up and became a voter"), "n1 was a voter from the start")
	once("n2", `leader changed" name=n1`)
	once("n1", `node added" name=n2`)
	once("n1", `node added" name=n3`)
	once("n2", `node added" name=n3`)
	require.Zero(t, logs["n3"].count("node added"), "n3 knows the others since it joined")

	tr.waitClocksKnown()
	require.NoError(t, tr.nodes[0].TransferLeadership(t.Context(), "n2"))
	once("n1", `leader changed" name=n2`)
	once("n3", `leader changed" name=n2`)
	require.Eventually(t, func() bool { leading, _ := tr.nodes[1].Leading(); return leading }, 20*time.Second, time.Millisecond)
	require.NoError(t, tr.nodes[0].Remove(t.Context(), "n3", false))
	once("n1", `node removed" name=n3`)
	once("n2", `node removed" name=n3`)

	shut(t, tr.nodes[2])
	shut(t, tr.nodes[1])
	once("n1", "no leader known")
	tr.restart(1)
	once("n1", "leader known again")
	require.Equal(t, 1, logs["n1"].count("no leader known"))
}
