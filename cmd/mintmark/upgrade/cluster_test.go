package upgrade

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A cluster is three nodes, each a process of its own.
type cluster struct {
	t     testing.TB
	dir   string
	nodes []*node
}

// A node has the same addresses and folder in all its processes, of either version.
type node struct {
	c                 *cluster
	name, dir, log    string
	public, ops, raft string // host:port
	joins             []string

	command *exec.Cmd
	exited  chan struct{}
	binary  string
	ready   atomic.Bool // last result of /readyz
}

// newCluster starts three nodes of a version and forms one cluster.
func newCluster(t testing.TB, binary string) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: t.TempDir()}
	for i, name := range []string{"n1", "n2", "n3"} {
		n := &node{
			c: c, name: name, dir: filepath.Join(c.dir, name), log: filepath.Join(c.dir, name+".log"),
			public: freeAddress(t), ops: freeAddress(t), raft: freeAddress(t),
		}
		c.nodes = append(c.nodes, n)
		t.Cleanup(func() { n.end(t) })
		if i > 0 {
			token := filepath.Join(c.dir, name+".token")
			require.NoError(t, os.WriteFile(token, c.nodes[0].must("cluster", "invite", "--name", name), 0o600))
			n.joins = []string{"--join", c.nodes[0].raft, "--token-file", token}
		}
		n.start(binary)
		if i == 0 {
			require.True(t, until(eventually, func() bool { return n.asks("/livez") }))
			n.must("cluster", "init", "--public-url", "http://"+n.public)
		}
		require.True(t, until(eventually, func() bool { return n.asks("/readyz") }), "%s is not ready", name)
	}
	c.settle()
	return c
}

func (n *node) start(binary string) {
	n.c.t.Helper()
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	require.NoError(n.c.t, err)
	defer log.Close()
	c := exec.Command(binary, append([]string{
		"serve", "--name", n.name, "--data-dir", n.dir, "--listen", n.public, "--ops-listen", n.ops, "--cluster-listen", n.raft,
	}, n.joins...)...)
	c.Env, c.Stderr = clean(), log
	require.NoError(n.c.t, c.Start())
	exited := make(chan struct{})
	go func() {
		_ = c.Wait()
		close(exited)
	}()
	n.command, n.exited, n.binary = c, exited, binary
}

// clean returns the environment without variables that the program would read as
// settings.
func clean() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MINTMARK_") })
}

func (n *node) running() bool {
	select {
	case <-n.exited:
		return false
	default:
		return true
	}
}

// stop ends the process as a service manager does.
func (n *node) stop() {
	n.c.t.Helper()
	require.NoError(n.c.t, n.command.Process.Signal(syscall.SIGTERM))
	n.wait()
	require.Zero(n.c.t, n.command.ProcessState.ExitCode(), "%s after SIGTERM", n.name)
}

// wait waits for the end of the process.
func (n *node) wait() {
	n.c.t.Helper()
	select {
	case <-n.exited:
	case <-time.After(eventually):
		require.Fail(n.c.t, "the process does not end", n.name)
	}
}

// end kills the process at the end of the test.
func (n *node) end(t testing.TB) {
	if n.command != nil && n.running() {
		_ = n.command.Process.Kill()
		<-n.exited
	}
	if !t.Failed() {
		return
	}
	text, _ := os.ReadFile(n.log)
	t.Logf("the end of the log of %s:\n%s", n.name, text[max(0, len(text)-4000):])
}

var probe = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func (n *node) asks(path string) bool {
	r, err := probe.Get("http://" + n.ops + path)
	if err != nil {
		return false
	}
	defer r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// run runs an operators' command of the new version on a node of either version.
func (n *node) run(input string, arguments ...string) (out []byte, code int, remarks string) {
	ctx, cancel := context.WithTimeout(context.Background(), eventually)
	defer cancel()
	c := exec.CommandContext(ctx, newBinary, append(arguments, "--data-dir", n.dir)...)
	var stdout, stderr bytes.Buffer
	c.Env, c.Stdin, c.Stdout, c.Stderr = clean(), strings.NewReader(input), &stdout, &stderr
	_ = c.Run() // the exit code has the result
	return stdout.Bytes(), c.ProcessState.ExitCode(), stderr.String()
}

func (n *node) must(arguments ...string) []byte {
	n.c.t.Helper()
	return n.mustWith("", arguments...)
}

func (n *node) mustWith(input string, arguments ...string) []byte {
	n.c.t.Helper()
	out, code, remarks := n.run(input, arguments...)
	require.Zero(n.c.t, code, "%v on %s: %s", arguments, n.name, remarks)
	return out
}

// status is the cluster as known by a node.
type status struct {
	Leader  string
	Healthy bool
	Level   uint32
	Nodes   []struct {
		Name, Role, State, Version string
		Level                      uint32
		Lag                        uint64
	}
}

func (n *node) status() (s status, err error) {
	out, code, remarks := n.run("", "cluster", "status", "-o", "json")
	if err := json.Unmarshal(out, &s); err != nil {
		return s, fmt.Errorf("cluster status on %s: exit code %d: %s", n.name, code, remarks)
	}
	return s, nil
}

// settle waits until all three nodes vote and every node reports the cluster as healthy.
func (c *cluster) settle() {
	c.t.Helper()
	require.True(c.t, until(eventually, func() bool {
		for _, n := range c.nodes {
			s, err := n.status()
			if err != nil || !s.Healthy || len(s.Nodes) != 3 {
				return false
			}
			for _, m := range s.Nodes {
				if m.Role != "voter" {
					return false
				}
			}
		}
		return true
	}), "the cluster does not become healthy")
}

// makeLeader makes a node the leader.
func (c *cluster) makeLeader(name string) {
	c.t.Helper()
	require.True(c.t, until(eventually, func() bool {
		_, _, _ = c.nodes[0].run("", "cluster", "transfer-leader", "--to", name)
		s, err := c.nodes[0].status()
		return err == nil && s.Leader == name
	}), "%s does not lead", name)
}

// requireSameState compares the whole state of all nodes. Nothing may be written
// meanwhile.
func (c *cluster) requireSameState() {
	c.t.Helper()
	type checksum struct {
		Applied  uint64
		Checksum string
	}
	var sums [3]checksum
	require.True(c.t, until(eventually, func() bool {
		for i, n := range c.nodes {
			if err := json.Unmarshal(n.must("cluster", "checksum", "-o", "json"), &sums[i]); err != nil {
				return false
			}
		}
		return sums[0].Applied == sums[1].Applied && sums[1].Applied == sums[2].Applied
	}), "the nodes do not reach the same index")
	require.Equal(c.t, sums[0], sums[1])
	require.Equal(c.t, sums[1], sums[2])
}

// freeAddress returns a free loopback address, below the kernel's range of client ports,
// so that it stays free while its node is down.
func freeAddress(t testing.TB) string {
	t.Helper()
	for range 1000 {
		address := fmt.Sprintf("127.0.0.1:%d", 18000+rand.IntN(14000))
		if l, err := net.Listen("tcp", address); err == nil {
			require.NoError(t, l.Close())
			return address
		}
	}
	require.Fail(t, "no free port")
	return ""
}
