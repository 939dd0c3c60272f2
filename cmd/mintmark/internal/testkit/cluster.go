package testkit

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Limit is how long anything may take on a machine that is busy.
const Limit = time.Minute

// A Cluster is three nodes, each a process of its own.
type Cluster struct {
	T     testing.TB
	Nodes [3]*Node

	start func(n *Node, more ...string)
}

// NewCluster makes nodes n1, n2 and n3 in a folder. start starts a process of a node
// with more flags, and returns at once or when it serves. Form must follow.
func NewCluster(t testing.TB, dir string, operator Executor, start func(n *Node, more ...string)) *Cluster {
	t.Helper()
	c := &Cluster{T: t, start: start}
	for i, name := range []string{"n1", "n2", "n3"} {
		c.Nodes[i] = NewNode(t, dir, name, operator)
	}
	return c
}

// Form starts the nodes and makes them one cluster. init initializes the first one,
// and is nil if its folder has data.
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
			require.True(c.T, Until(Limit, n.Alive), "%s does not live", n.Name)
			init(n)
		}
		require.True(c.T, n.WaitReady(Limit), "%s is not ready", n.Name)
	}
	c.Settle()
}

// Settle waits until each node reports a healthy cluster of three voters that have
// applied nearly the same.
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

// Leader is the index of the leader, according to any node that answers.
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
