package testkit

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Limit is the time limit of any step. It is long enough for a busy machine.
const Limit = time.Minute

// A Cluster is three nodes, each of which is a process.
type Cluster struct {
	T     testing.TB
	Nodes [3]*Node

	start func(n *Node, more ...string)
}

// NewCluster makes nodes n1, n2 and n3 in a folder. start starts the process of a node
// with further flags. It may return at once, or when the node serves. Call Form next.
func NewCluster(t testing.TB, dir string, operator Executor, start func(n *Node, more ...string)) *Cluster {
	t.Helper()
	c := &Cluster{T: t, start: start}
	for i, name := range []string{"n1", "n2", "n3"} {
		c.Nodes[i] = NewNode(t, dir, name, operator)
	}
	return c
}

// Form starts the nodes and joins them to one cluster. init initializes the first node;
// it is nil if the node's folder already has data.
func (c *Cluster) Form(init func(first *Node)) {
	c.T.Helper()
	first := c.Nodes[0]
	for i, n := range c.Nodes {
		switch {
		case i > 0:
			token := filepath.Join(filepath.Dir(n.Log), n.Name+".token")
			require.NoError(c.T, os.WriteFile(token, []byte(first.OK("", "cluster", "invite", "--name", n.Name)), 0o600))
			c.start(n, "--join", first.Raft, "--token-file", token)
		case init == nil:
			c.start(n)
		default:
			c.start(n)
			require.True(c.T, Until(Limit, n.Alive), "%s is not alive", n.Name)
			init(n)
		}
		require.True(c.T, n.WaitReady(Limit), "%s is not ready", n.Name)
	}
	c.Settle()
}

// Settle waits until each node reports a healthy cluster of three voters that have
// applied nearly the same commands.
func (c *Cluster) Settle() {
	c.T.Helper()
	require.True(c.T, Until(Limit, func() bool {
		for _, n := range c.Nodes {
			s, err := n.Status()
			if err != nil || !s.Healthy || len(s.Nodes) != len(c.Nodes) {
				return false
			}
			for _, m := range s.Nodes {
				if m.Role != "voter" || m.Lag > 100 {
					return false
				}
			}
		}
		return true
	}), "the cluster does not become healthy")
}

// Leader returns the index of the leader, as reported by any node that answers.
func (c *Cluster) Leader() int {
	c.T.Helper()
	leader := -1
	require.True(c.T, Until(Limit, func() bool {
		for _, n := range c.Nodes {
			s, err := n.Status()
			if err != nil {
				continue
			}
			for i, n := range c.Nodes {
				if n.Name == s.Leader {
					leader = i
					return true
				}
			}
		}
		return false
	}), "no node knows a leader")
	return leader
}
