package chaos

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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

	mu    sync.Mutex
	nodes []*node // guarded by mu; without replaced nodes
}

// A node has the same addresses and folder in all its processes.
type node struct {
	c                 *cluster
	name, dir, log    string
	public, ops, raft string   // host:port
	invitation        string   // file with the join token
	flags             []string // additional flags

	mu   sync.Mutex
	proc *process // guarded by mu
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
			c.invite(node, "cluster", "invite", "--name", node.name)
		}
		require.NoError(t, node.start())
		if i == 0 {
			require.True(t, until(eventually, node.alive), "%s does not live", node.name)
			node.must("cluster", "init", "--public-url", c.base)
		}
		c.requireReady(node)
	}
	require.True(t, until(eventually, func() bool { return len(c.voters()) == n }), "all are voters")
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
	t.Cleanup(func() {
		for _, n := range c.all() {
			n.release()
		}
		if t.Failed() {
			c.printTails()
		}
	})
	return c
}

// printTails logs the end of every node's log.
func (c *cluster) printTails() {
	for _, n := range c.all() {
		printTail(c.t, n.name, n.log)
	}
}

// add adds a node without starting it.
func (c *cluster) add(name string) *node {
	c.t.Helper()
	n := &node{
		c: c, name: name, dir: filepath.Join(c.dir, name), log: filepath.Join(c.dir, name+".log"),
		public: freeAddress(c.t), ops: freeAddress(c.t), raft: freeAddress(c.t),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nodes = append(c.nodes, n); c.base == "" {
		c.base = "http://" + n.public
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
	require.True(c.t, until(eventually, func() bool {
		for _, other := range c.all() {
			if by = other; other != n && other.ready() {
				return true
			}
		}
		return false
	}), "no node can invite %s", n.name)
	n.invitation = filepath.Join(c.dir, n.name+".token")
	token := by.must(arguments...)
	require.NoError(c.t, os.WriteFile(n.invitation, token, 0o600))
}

func (c *cluster) all() []*node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*node(nil), c.nodes...)
}

func (c *cluster) node(name string) *node {
	for _, n := range c.all() {
		if n.name == name {
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
	arguments := []string{"--listen", n.public, "--ops-listen", n.ops, "--data-dir", n.dir}
	if n.c.single {
		arguments = append([]string{
			"dev", "--public-url", "http://" + n.public,
			"--fixtures", filepath.Join(n.c.dir, "fixtures.yaml"),
		}, arguments...)
	} else {
		arguments = append([]string{"serve", "--name", n.name, "--cluster-listen", n.raft}, arguments...)
		for _, to := range n.c.all() {
			if to != n && n.c.links != nil {
				arguments = append(arguments, "--peer", to.name+"="+n.addressOf(to))
			}
		}
		if n.invitation != "" {
			arguments = append(arguments, "--token-file", n.invitation, "--join", n.addressOf(n.c.anyBut(n)))
		}
	}
	arguments = append(append(arguments, n.c.flags...), n.flags...)
	p, err := launch(n.c.binary, n.log, []string{
		"MINTMARK_TEST_DISK=" + n.controlFile("disk"), "MINTMARK_TEST_CLOCK=" + n.controlFile("clock"),
	}, arguments...)
	n.mu.Lock()
	n.proc = p
	n.mu.Unlock()
	return err
}

// addressOf returns the address at which the node reaches another.
func (n *node) addressOf(to *node) string {
	if n.c.links == nil {
		return to.raft
	}
	return n.c.links.address(n.c.t, pair{n.name, to.name}, to.raft)
}

// controlFile returns the file that controls the node's disk or clock.
func (n *node) controlFile(what string) string { return filepath.Join(n.c.dir, n.name+"."+what) }

func (n *node) process() *process {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.proc
}

func (n *node) running() bool { p := n.process(); return p != nil && p.running() }

// release ends the node in any state.
func (n *node) release() {
	if n.running() {
		_ = n.process().signal(syscall.SIGCONT)
		n.process().kill()
	}
}

func (n *node) alive() bool { return n.asks("/livez") }
func (n *node) ready() bool { return n.asks("/readyz") }

// probe is the client for the operators' listener, with a short timeout.
var probe = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func (n *node) asks(path string) bool {
	if !n.running() {
		return false
	}
	r, err := probe.Get("http://" + n.ops + path)
	if err != nil {
		return false
	}
	defer r.Body.Close()
	_, _ = io.Copy(io.Discard, r.Body)
	return r.StatusCode == http.StatusOK
}

func (c *cluster) requireReady(nodes ...*node) {
	c.t.Helper()
	for _, n := range nodes {
		require.True(c.t, until(eventually, n.ready), "%s is not ready", n.name)
	}
}

var usedAddresses sync.Map

// freeAddress returns a free loopback address, below the kernel's range of client ports,
// so that it stays free while its node is down. Each is returned once.
func freeAddress(t testing.TB) string {
	t.Helper()
	for range 1000 {
		address := fmt.Sprintf("127.0.0.1:%d", 18000+rand.IntN(14000))
		if _, given := usedAddresses.LoadOrStore(address, true); given {
			continue
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		require.NoError(t, l.Close())
		return address
	}
	require.Fail(t, "no free port")
	return ""
}
