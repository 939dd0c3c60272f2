package chaos

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// A cluster is a set of nodes, each a process of its own, and the links between them. A
// cluster without links is one "mintmark dev".
type cluster struct {
	t       testing.TB
	binary  string
	dir     string
	single  bool
	started time.Time // time zero of the history
	links   *links    // nil: nodes are reached at their own addresses
	base    string    // the issuer: the address of the first node, in place of a load balancer's
	flags   []string  // additional flags of all nodes

	publisher []string // environment of nodes that fetch documents from this test

	mu    sync.Mutex
	nodes []*node // guarded by mu; without replaced nodes
}

// A node is a node of the cluster, with its invitation.
type node struct {
	*testkit.Node
	c          *cluster
	invitation string // file with the join token
}

// newCluster starts nodes that reach each other through links.
func newCluster(t testing.TB, binary string, n int) *cluster {
	t.Helper()
	c := newSingle(t, binary, false)
	c.assemble(n)
	return c
}

// assemble starts n nodes and forms one cluster.
func (c *cluster) assemble(n int) {
	c.t.Helper()
	t := c.t
	for i := range n {
		c.add(fmt.Sprintf("n%d", i+1))
	}
	for i, node := range c.nodes {
		if i > 0 {
			c.invite(node, "cluster", "invite", "--name", node.Name)
		}
		require.NoError(t, node.start())
		if i == 0 {
			require.True(t, testkit.Until(eventually, node.Alive), "%s is not alive", node.Name)
			node.Must("", "cluster", "init", "--public-url", c.base)
		}
		c.requireReady(node)
	}
	require.True(t, testkit.Until(eventually, func() bool { return len(c.voters()) == n }), "all are voters")
}

// newDev starts the single node of "mintmark dev".
func newDev(t testing.TB, binary string) *cluster {
	t.Helper()
	c := newSingle(t, binary, true)
	n := c.add("n1")
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "fixtures.yaml"), []byte("users: []\n"), 0o600))
	require.NoError(t, n.start())
	c.requireReady(n)
	return c
}

func newSingle(t testing.TB, binary string, single bool) *cluster {
	t.Helper()
	c := &cluster{t: t, binary: binary, dir: t.TempDir(), single: single, started: time.Now(), links: newLinks()}
	c.serveDocuments()
	return c
}

// printTails logs the end of every node's log.
func (c *cluster) printTails() {
	for _, n := range c.all() {
		testkit.PrintTail(c.t, n.Name, n.Log)
	}
}

// add adds a node without starting it.
func (c *cluster) add(name string) *node {
	c.t.Helper()
	n := &node{Node: testkit.NewNode(c.t, c.dir, name, testkit.Program(c.binary, commandLimit)), c: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nodes = append(c.nodes, n); c.base == "" {
		c.base = n.URL()
	}
	return n
}

// forget removes a node that was replaced.
func (c *cluster) forget(gone *node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var left []*node
	for _, n := range c.nodes {
		if n != gone {
			left = append(left, n)
		}
	}
	c.nodes = left
}

// invite obtains the join token of a node from another node.
func (c *cluster) invite(n *node, arguments ...string) {
	c.t.Helper()
	var by *node
	require.True(c.t, testkit.Until(eventually, func() bool {
		for _, other := range c.all() {
			if by = other; other != n && other.Ready() {
				return true
			}
		}
		return false
	}), "no node can invite %s", n.Name)
	n.invitation = filepath.Join(c.dir, n.Name+".token")
	require.NoError(c.t, os.WriteFile(n.invitation, []byte(by.Must("", arguments...)), 0o600))
}

func (c *cluster) all() []*node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*node(nil), c.nodes...)
}

func (c *cluster) node(name string) *node {
	for _, n := range c.all() {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// anyBut returns the first node other than one, or one if it is alone.
func (c *cluster) anyBut(one *node) *node {
	for _, n := range c.all() {
		if n != one {
			return n
		}
	}
	return one
}

func (c *cluster) any() *node {
	all := c.all()
	return all[rand.IntN(len(all))]
}

// named selects a node by name, or any other if it was replaced.
func (c *cluster) named(name string) func() *node {
	return func() *node {
		if n := c.node(name); n != nil {
			return n
		}
		return c.any()
	}
}

// now returns the time since the cluster was made, which is the time of histories.
func (c *cluster) now() time.Duration { return time.Since(c.started) }

// start starts the node's process. It joins the cluster unless it is a member.
func (n *node) start() error {
	arguments := n.ServeArgs()
	if n.c.single {
		arguments = append([]string{
			"dev", "--public-url", n.URL(), "--listen", n.Public, "--ops-listen", n.Ops, "--data-dir", n.Dir,
			"--fixtures", filepath.Join(n.c.dir, "fixtures.yaml"),
		}, n.Flags...)
	} else {
		for _, to := range n.c.all() {
			if to != n && n.c.links != nil {
				arguments = append(arguments, "--peer", to.Name+"="+n.addressOf(to))
			}
		}
		if n.invitation != "" {
			arguments = append(arguments, "--token-file", n.invitation, "--join", n.addressOf(n.c.anyBut(n)))
		}
	}
	c := exec.Command(n.c.binary, append(arguments, n.c.flags...)...)
	c.Env = append(testkit.CleanEnv(), "MINTMARK_TEST_DISK="+n.controlFile("disk"), "MINTMARK_TEST_CLOCK="+n.controlFile("clock"))
	c.Env = append(c.Env, n.c.publisher...)
	return n.Launch(c)
}

// addressOf returns the address at which the node reaches another.
func (n *node) addressOf(to *node) string {
	if n.c.links == nil {
		return to.Raft
	}
	return n.c.links.address(n.c.t, pair{n.Name, to.Name}, to.Raft)
}

// controlFile returns the file that controls the node's disk or clock.
func (n *node) controlFile(what string) string { return filepath.Join(n.c.dir, n.Name+"."+what) }

func (c *cluster) requireReady(nodes ...*node) {
	c.t.Helper()
	for _, n := range nodes {
		require.True(c.t, testkit.Until(eventually, n.Ready), "%s is not ready", n.Name)
	}
}
