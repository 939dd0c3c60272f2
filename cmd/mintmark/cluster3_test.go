package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// A cluster3 is a cluster of three processes.
type cluster3 struct {
	*testkit.Cluster
	t     testing.TB
	nodes [3]*nodeProcess
}

// newCluster3 returns a cluster without processes. start starts the process of a node.
func newCluster3(t testing.TB, dir string, start func(n *nodeProcess, more ...string)) *cluster3 {
	t.Helper()
	c := &cluster3{t: t}
	c.Cluster = testkit.NewCluster(t, dir, executeMain, func(n *testkit.Node, more ...string) { start(&nodeProcess{n}, more...) })
	for i, n := range c.Nodes {
		c.nodes[i] = &nodeProcess{n}
	}
	return c
}

// startCluster3 starts a cluster. The folder of its first node is the data folder of a
// node that ran alone, used as if mintmark dev had not made it. All nodes have the same
// flags in addition to their own.
func startCluster3(t testing.TB, dir, first string, flags ...string) *cluster3 {
	t.Helper()
	c := newCluster3(t, dir, func(n *nodeProcess, more ...string) { n.start(t, more...) })
	for _, n := range c.nodes {
		n.Flags = flags
	}
	c.nodes[0].Dir = first
	require.NoError(t, os.Remove(filepath.Join(first, server.DevMark)))
	c.Form(nil)
	return c
}

func (c *cluster3) status(from int) (admin.ClusterStatus, error) {
	caller, err := admin.NewCaller(c.nodes[from].Dir)
	if err != nil {
		return admin.ClusterStatus{}, err
	}
	defer caller.Close()
	return admin.ShowCluster.Call(c.t.Context(), caller, admin.StatusQuery{})
}

// A nodeProcess is one "mintmark serve".
type nodeProcess struct{ *testkit.Node }

// newNodeProcess returns a node of that name with its own folder in dir, not started.
func newNodeProcess(t testing.TB, dir, name string) *nodeProcess {
	t.Helper()
	return &nodeProcess{testkit.NewNode(t, dir, name, executeMain)}
}

// newNodeOf returns a node that continues with data of mintmark dev.
func newNodeOf(t testing.TB, data string) *nodeProcess {
	t.Helper()
	n := newNodeProcess(t, t.TempDir(), "n1")
	n.Dir = data
	require.NoError(t, os.Remove(filepath.Join(data, server.DevMark)))
	return n
}

// launch starts "mintmark serve" without waiting for it.
func (n *nodeProcess) launch(t testing.TB, more ...string) {
	t.Helper()
	require.NoError(t, n.Launch(self(t, "mintmark", n.Dir, n.ServeArgs(more...)...)))
}

// start starts "mintmark serve" and waits until it serves.
func (n *nodeProcess) start(t testing.TB, more ...string) {
	t.Helper()
	n.launch(t, more...)
	n.serving(t)
}

// serving waits for the output line that reports that the node serves.
func (n *nodeProcess) serving(t testing.TB) (s server.Serving) {
	t.Helper()
	line, err := n.Process().FirstLine(testkit.Limit)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(line), &s), line)
	return s
}

func (n *nodeProcess) operator(t testing.TB) *admin.Caller {
	t.Helper()
	c, err := admin.NewCaller(n.Dir)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}
