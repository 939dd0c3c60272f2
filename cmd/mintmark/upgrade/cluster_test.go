package upgrade

import (
	"os/exec"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// A cluster is three nodes, each a process of its own, of either version.
type cluster struct {
	*testkit.Cluster
	t     testing.TB
	nodes []*node
}

// A node has the same addresses and folder in all its processes, of either version.
type node struct {
	*testkit.Node
	binary string
	ready  atomic.Bool // last result of /readyz
}

// newCluster starts three nodes of a version and forms one cluster. Operators have
// the new version.
func newCluster(t testing.TB, binary string) *cluster {
	t.Helper()
	c := &cluster{t: t}
	c.Cluster = testkit.NewCluster(t, t.TempDir(), testkit.Program(newBinary, testkit.Limit), func(n *testkit.Node, join ...string) {
		n.Flags = join
		c.named(n.Name).start(binary)
	})
	for _, n := range c.Nodes {
		c.nodes = append(c.nodes, &node{Node: n})
	}
	c.Form(func(first *testkit.Node) { first.OK("", "cluster", "init", "--public-url", first.URL()) })
	return c
}

func (n *node) start(binary string) {
	n.T.Helper()
	c := exec.Command(binary, n.ServeArgs()...)
	c.Env = testkit.CleanEnv()
	require.NoError(n.T, n.Launch(c))
	n.binary = binary
}

// makeLeader makes a node the leader.
func (c *cluster) makeLeader(name string) {
	c.t.Helper()
	require.True(c.t, testkit.Until(testkit.Limit, func() bool {
		_ = c.nodes[0].Run("", "cluster", "transfer-leader", "--to", name)
		s, err := c.nodes[0].Status()
		return err == nil && s.Leader == name
	}), "%s does not lead", name)
}

// requireSameState compares the whole state of all nodes. Nothing may be written
// meanwhile.
func (c *cluster) requireSameState() {
	c.t.Helper()
	var sums [3]testkit.Checksum
	require.True(c.t, testkit.Until(testkit.Limit, func() bool {
		for i, n := range c.nodes {
			var err error
			sums[i], err = n.Checksum()
			require.NoError(c.t, err)
		}
		return sums[0].Applied == sums[1].Applied && sums[1].Applied == sums[2].Applied
	}), "the nodes do not reach the same index")
	require.Equal(c.t, sums[0], sums[1])
	require.Equal(c.t, sums[1], sums[2])
}
