package chaos

import (
	"bufio"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

var transfers = flag.Int("transfers", 100, "transfers of leadership, after which no goroutine may be left over")

// TestNoLeakOverTransfers checks L2: a change of leadership leaks no goroutine.
func TestNoLeakOverTransfers(t *testing.T) {
	times := *transfers
	c := newCluster3(t, build(t))
	// The first operations create goroutines that stay.
	c.transfer(t, 20)
	before := c.goroutines(t)
	term := c.requireStatus(t).Term
	c.transfer(t, times)
	require.GreaterOrEqual(t, c.requireStatus(t).Term, term+uint64(times))
	var after map[string]int
	// Operations with a deadline need time to end.
	require.True(t, testkit.Until(2*maxRequestTime, func() bool {
		after = c.goroutines(t)
		for name, n := range after {
			if n > before[name]+slackGoroutines {
				return false
			}
		}
		return true
	}), "L2: goroutines before %v, after %d transfers %v", before, times, after)
	t.Logf("goroutines before %v, after %d transfers %v", before, times, after)
}

// slackGoroutines is the number for requests and connections that start and end.
const slackGoroutines = 15

// transfer transfers leadership several times.
func (c *cluster) transfer(t *testing.T, times int) {
	t.Helper()
	for n := range times {
		require.True(t, testkit.Until(eventually, func() bool { return c.any().run("cluster", "transfer-leader").Code == exitOK }), "transfer %d", n)
	}
	require.True(t, testkit.Until(eventually, func() bool { return c.leader() != nil }))
	c.requireReady(c.all()...)
}

func (c *cluster) requireStatus(t *testing.T) testkit.Status {
	t.Helper()
	s, err := c.status()
	require.NoError(t, err)
	return s
}

// goroutines returns the number of each node's goroutines.
func (c *cluster) goroutines(t *testing.T) map[string]int {
	t.Helper()
	all := map[string]int{}
	for _, n := range c.all() {
		count, err := n.metric("go_goroutines")
		require.NoError(t, err)
		all[n.Name] = int(count)
	}
	return all
}

// metric returns a metric without labels.
func (n *node) metric(name string) (float64, error) {
	r, err := testkit.Probe.Get(n.OpsURL() + "/metrics")
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	for lines.Scan() {
		if value, found := strings.CutPrefix(lines.Text(), name+" "); found {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("%s does not export %s", n.Name, name)
}
