package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/clustertest"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// A founder is a process that serves a generated folder.
type bootstrapNode struct {
	*nodeProcess
	log   string
	lines chan string // the line of JSON, closed at the end of standard output
}

// startBootstrap starts the process and does not wait for it.
func (n *nodeProcess) startBootstrap(t testing.TB, more ...string) *bootstrapNode {
	t.Helper()
	f := &bootstrapNode{nodeProcess: n, log: filepath.Join(t.TempDir(), "log"), lines: make(chan string, 1)}
	log, err := os.Create(f.log)
	require.NoError(t, err)
	defer log.Close()
	self, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command(self, append([]string{
		"serve", "--config", filepath.Join(n.dir, "config.yaml"), "--data-dir", n.dir, "--listen", n.listen, "--ops-listen", n.ops,
	}, more...)...)
	c.Env = append(os.Environ(), runAs+"=mintmark")
	c.Stderr = log
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	n.process = &process{t: t, command: c}
	t.Cleanup(n.process.kill)
	go func() {
		defer close(f.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			f.lines <- s.Text()
		}
	}()
	return f
}

// requireServing waits until the node is ready.
func (f *bootstrapNode) requireServing(t testing.TB) {
	t.Helper()
	select {
	case line, ok := <-f.lines:
		text, _ := os.ReadFile(f.log)
		require.True(t, ok, "%s ended: %s", f.name, text)
		var s server.Serving
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		require.Equal(t, "https://id.example", s.BaseURL)
		require.Equal(t, f.name, s.Name)
	case <-time.After(60 * time.Second):
		require.Fail(t, "does not serve", f.name)
	}
	require.True(t, f.waitReady(20*time.Second), f.name)
}

// requireExit waits for the end of the process, and returns what it said.
func (f *bootstrapNode) requireExit(t testing.TB) (code int, log string) {
	t.Helper()
	slow := time.AfterFunc(60*time.Second, func() { _ = f.command.Process.Kill() })
	defer slow.Stop()
	_ = f.command.Wait()
	text, err := os.ReadFile(f.log)
	require.NoError(t, err)
	return f.command.ProcessState.ExitCode(), string(text)
}

// TestGeneratedFoldersBecomeACluster with real processes: files are copied, and
// nobody types a command.
func TestGeneratedFoldersBecomeACluster(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	c := &cluster3{t: t}
	args := []string{"cluster", "generate", "--public-url", "https://id.example", "--app-url", "https://app.example", "--out", out}
	for i, name := range []string{"n1", "n2", "n3"} {
		c.nodes[i] = &nodeProcess{name: name, dir: filepath.Join(dir, name), listen: clustertest.Address(t), ops: clustertest.Address(t), clusterAddr: clustertest.Address(t)}
		c.nodes[i].opsURL = "http://" + c.nodes[i].ops
		args = append(args, "--node", name+"="+c.nodes[i].clusterAddr)
	}
	r := commandLine(t, args...)
	require.Equal(t, cli.ExitOK, r.Code, r.Err)
	give := func(n *nodeProcess) {
		require.NoError(t, os.RemoveAll(n.dir))
		require.NoError(t, exec.Command("cp", "-r", filepath.Join(out, n.name), n.dir).Run())
	}
	for _, n := range c.nodes {
		give(n)
	}

	// Two of three wait, and say for whom.
	n1, n2 := c.nodes[0].startBootstrap(t), c.nodes[1].startBootstrap(t)
	for i := range 2 {
		require.Eventually(t, func() bool {
			s, err := c.status(i)
			return err == nil && !s.Healthy && len(s.Problems) == 1 && strings.Contains(s.Problems[0], "waits for n3 (") &&
				!strings.Contains(s.Problems[0], "n1 (") && !strings.Contains(s.Problems[0], "n2 (")
		}, 20*time.Second, 20*time.Millisecond)
		require.False(t, c.nodes[i].isReady())
	}
	r = commandLine(t, "cluster", "init", "--public-url", "https://id.example", "--data-dir", c.nodes[0].dir)
	require.Equal(t, cli.ExitRefused, r.Code)
	require.Contains(t, r.Err, server.ErrInitialNodes.Error())

	n3 := c.nodes[2].startBootstrap(t)
	for _, f := range []*bootstrapNode{n1, n2, n3} {
		f.requireServing(t)
	}
	c.settle()
	require.Eventually(t, func() bool {
		s, err := c.status(2)
		return err == nil && s.Level > 0 // every node has reported its own
	}, 20*time.Second, 20*time.Millisecond)
	s, err := c.status(2)
	require.NoError(t, err)
	for _, purpose := range []string{"signing", "credential"} {
		active := slices.DeleteFunc(slices.Clone(s.Keys), func(k admin.ClusterKey) bool {
			return string(k.Purpose) != purpose || string(k.State) != "active"
		})
		require.Len(t, active, 1, purpose)
	}

	// A node that lost its data is refused, and the others go on.
	require.NoError(t, n3.command.Process.Signal(syscall.SIGTERM))
	code, log := n3.requireExit(t)
	require.Equal(t, cli.ExitOK, code, log)
	give(c.nodes[2])
	code, log = c.nodes[2].startBootstrap(t).requireExit(t)
	require.Equal(t, cli.ExitLocal, code)
	require.Contains(t, log, "mintmark cluster replace")
	require.True(t, c.nodes[0].isReady())

	// The others can be stopped, and started with the same files; a setting that
	// differs from the cluster's is refused.
	for _, f := range []*bootstrapNode{n1, n2} {
		require.NoError(t, f.command.Process.Signal(syscall.SIGTERM))
		code, log := f.requireExit(t)
		require.Equal(t, cli.ExitOK, code, log)
	}
	wrong := c.nodes[1].startBootstrap(t, "--public-url", "https://other.example")
	n1 = c.nodes[0].startBootstrap(t)
	code, log = wrong.requireExit(t)
	require.Equal(t, cli.ExitLocal, code)
	require.Contains(t, log, "they must be the same")
	n2 = c.nodes[1].startBootstrap(t)
	n1.requireServing(t)
	n2.requireServing(t)
}
