package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// startBootstrap starts a process that serves a generated folder.
func (n *nodeProcess) startBootstrap(t testing.TB, more ...string) *nodeProcess {
	t.Helper()
	require.NoError(t, n.Launch(self(t, "mintmark", n.Dir, append([]string{
		"serve", "--config", filepath.Join(n.Dir, "config.yaml"), "--data-dir", n.Dir, "--listen", n.Public, "--ops-listen", n.Ops,
	}, more...)...)))
	return n
}

// requireServing waits until the node is ready.
func (n *nodeProcess) requireServing(t testing.TB) {
	t.Helper()
	s := n.serving(t)
	require.Equal(t, "https://id.example", s.BaseURL)
	require.Equal(t, n.Name, s.Name)
	require.True(t, n.WaitReady(20*time.Second), n.Name)
}

// requireExit waits for the end of the process, and returns its exit code and log.
func (n *nodeProcess) requireExit(t testing.TB) (code int, log string) {
	t.Helper()
	p := n.Process()
	require.True(t, testkit.Until(testkit.Limit, func() bool { return !p.Running() }), n.Name)
	return p.Command.ProcessState.ExitCode(), p.LogText()
}

// TestGeneratedFoldersBecomeACluster starts real processes from generated folders: the
// files are copied, and no command is entered.
func TestGeneratedFoldersBecomeACluster(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	c := newCluster3(t, dir, nil)
	args := []string{"cluster", "generate", "--public-url", "https://id.example", "--app-url", "https://app.example", "--out", out}
	for _, n := range c.nodes {
		args = append(args, "--node", n.Name+"="+n.Raft)
	}
	r := commandLine(t, args...)
	require.Equal(t, cli.ExitOK, r.Code, r.Err)
	give := func(n *nodeProcess) {
		require.NoError(t, os.RemoveAll(n.Dir))
		require.NoError(t, exec.Command("cp", "-r", filepath.Join(out, n.Name), n.Dir).Run())
	}
	for _, n := range c.nodes {
		give(n)
	}

	// Two of three nodes wait, and report for which node.
	n1, n2 := c.nodes[0].startBootstrap(t), c.nodes[1].startBootstrap(t)
	for i := range 2 {
		require.Eventually(t, func() bool {
			s, err := c.status(i)
			return err == nil && !s.Healthy && len(s.Problems) == 1 && strings.Contains(s.Problems[0], "waits for n3 (") &&
				!strings.Contains(s.Problems[0], "n1 (") && !strings.Contains(s.Problems[0], "n2 (")
		}, 20*time.Second, 20*time.Millisecond)
		require.False(t, c.nodes[i].Ready())
	}
	r = commandLine(t, "cluster", "init", "--public-url", "https://id.example", "--data-dir", c.nodes[0].Dir)
	require.Equal(t, cli.ExitRefused, r.Code)
	require.Contains(t, r.Err, server.ErrInitialNodes.Error())

	n3 := c.nodes[2].startBootstrap(t)
	for _, f := range []*nodeProcess{n1, n2, n3} {
		f.requireServing(t)
	}
	c.Settle()
	require.Eventually(t, func() bool {
		s, err := c.status(2)
		return err == nil && s.Level > 0 // every node has reported its level
	}, 20*time.Second, 20*time.Millisecond)
	s, err := c.status(2)
	require.NoError(t, err)
	for _, purpose := range []string{"signing", "credential"} {
		active := slices.DeleteFunc(slices.Clone(s.Keys), func(k admin.ClusterKey) bool {
			return string(k.Purpose) != purpose || string(k.State) != "active"
		})
		require.Len(t, active, 1, purpose)
	}

	// A node that lost its data is refused, and the others continue.
	require.NoError(t, n3.Process().Signal(syscall.SIGTERM))
	code, log := n3.requireExit(t)
	require.Equal(t, cli.ExitOK, code, log)
	give(c.nodes[2])
	code, log = c.nodes[2].startBootstrap(t).requireExit(t)
	require.Equal(t, cli.ExitLocal, code)
	require.Contains(t, log, "mintmark cluster replace")
	require.True(t, c.nodes[0].Ready())

	// The other nodes can be stopped and started with the same files. A setting that
	// differs from the cluster's is refused.
	for _, f := range []*nodeProcess{n1, n2} {
		require.NoError(t, f.Process().Signal(syscall.SIGTERM))
		code, log := f.requireExit(t)
		require.Equal(t, cli.ExitOK, code, log)
	}
	wrong := c.nodes[1].startBootstrap(t, "--public-url", "https://other.example")
	n1 = c.nodes[0].startBootstrap(t)
	code, log = wrong.requireExit(t)
	require.Equal(t, cli.ExitLocal, code)
	require.Contains(t, log, "must be the same")
	n2 = c.nodes[1].startBootstrap(t)
	n1.requireServing(t)
	n2.requireServing(t)
}
