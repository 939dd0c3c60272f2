package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/clustertest"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// A cluster3 is three processes that make a cluster.
type cluster3 struct {
	t     testing.TB
	nodes [3]*nodeProcess
}

// A nodeProcess is one "mintmark serve".
type nodeProcess struct {
	*process
	name, dir                string
	listen, ops, clusterAddr string
	url, opsURL              string
	flags                    []string // beside those that every node has
}

// startCluster3 makes a cluster. The folder of its first node may have data of a
// node that ran alone, which is served as if mintmark dev had not made it. All
// have the same flags beside their own.
func startCluster3(t testing.TB, dir, first string, flags ...string) *cluster3 {
	t.Helper()
	c := &cluster3{t: t}
	for i, name := range []string{"n1", "n2", "n3"} {
		n := &nodeProcess{name: name, dir: filepath.Join(dir, name), listen: clustertest.Address(t), ops: clustertest.Address(t), clusterAddr: clustertest.Address(t), flags: flags}
		if i == 0 && first != "" {
			n.dir = first
			require.NoError(t, os.Remove(filepath.Join(first, server.DevMark)))
		}
		n.url, n.opsURL = "http://"+n.listen, "http://"+n.ops
		c.nodes[i] = n
		if i == 0 {
			n.start(t)
			require.True(t, n.waitReady(20*time.Second), "the first node is not ready")
			continue
		}
		token := filepath.Join(dir, name+".token")
		invited, err := admin.InviteNode.Call(t.Context(), c.nodes[0].operator(t), admin.Invitation{Name: name, Lifetime: time.Hour})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(token, []byte(invited.Token.Reveal()), 0o600))
		n.start(t, "--join", c.nodes[0].clusterAddr, "--token-file", token)
	}
	c.settle()
	return c
}

// start runs the node. It returns when it serves.
func (n *nodeProcess) start(t testing.TB, more ...string) {
	t.Helper()
	n.process = startProcess(t, "mintmark", n.dir, append([]string{
		"serve", "--data-dir", n.dir, "--name", n.name, "--listen", n.listen, "--ops-listen", n.ops,
		"--cluster-listen", n.clusterAddr,
	}, append(more, n.flags...)...)...)
	var s server.Serving
	require.NoError(t, json.Unmarshal([]byte(n.line), &s), n.line)
}

func (n *nodeProcess) operator(t testing.TB) *admin.Caller {
	t.Helper()
	c, err := admin.NewCaller(n.dir)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func (n *nodeProcess) isReady() bool {
	r, err := http.Get(n.opsURL + "/readyz")
	if err != nil {
		return false
	}
	defer r.Body.Close()
	return r.StatusCode == http.StatusOK
}

func (n *nodeProcess) waitReady(within time.Duration) bool {
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if n.isReady() {
			return true
		}
	}
	return false
}

func (c *cluster3) status(from int) (admin.ClusterStatus, error) {
	caller, err := admin.NewCaller(c.nodes[from].dir)
	if err != nil {
		return admin.ClusterStatus{}, err
	}
	defer caller.Close()
	return admin.ShowCluster.Call(c.t.Context(), caller, admin.StatusQuery{})
}

// settle waits until all three vote, and have applied the same.
func (c *cluster3) settle() {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		for i := range c.nodes {
			s, err := c.status(i)
			if err != nil || !s.Healthy || len(s.Nodes) != 3 {
				return false
			}
			for _, n := range s.Nodes {
				if n.Role != admin.RoleVoter || n.Lag > 100 {
					return false
				}
			}
		}
		return true
	}, time.Minute, 50*time.Millisecond)
}

// leader is the index of the node that leads, as any node that answers says.
func (c *cluster3) leader() int {
	c.t.Helper()
	found := -1
	require.Eventually(c.t, func() bool {
		for i := range c.nodes {
			s, err := c.status(i)
			if err != nil {
				continue
			}
			for j, n := range c.nodes {
				if n.name == s.Leader {
					found = j
					return true
				}
			}
		}
		return false
	}, 20*time.Second, 20*time.Millisecond)
	return found
}
