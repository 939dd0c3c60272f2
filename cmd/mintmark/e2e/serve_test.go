package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A node is one running "mintmark serve", a cluster of one.
type node struct {
	server
	dir string
	log *lockedText
}

// serve creates a cluster of one, as an operator does, with further settings. It has
// alice with her password, and cal-app.
func serve(t testing.TB, port int, redirectURI string, settings ...string) *node {
	t.Helper()
	n := &node{server: server{t: t}, dir: filepath.Join(t.TempDir(), "data"), log: new(lockedText)}
	c := exec.Command(binary, append([]string{
		"serve", "--name", "n1", "--data-dir", n.dir, "--drain", "0s", "--listen", strings.TrimPrefix(local(port), "http://"),
		"--ops-listen", "127.0.0.1:0", "--cluster-listen", "127.0.0.1:0",
	}, settings...)...)
	c.Env = append(os.Environ(), "MINTMARK_UPSTREAM_CLIENT_SECRET="+upstreamSecret)
	c.Stderr = n.log
	stdout, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		assert.NoError(t, c.Process.Signal(os.Interrupt))
		slow := time.AfterFunc(20*time.Second, func() { _ = c.Process.Kill() })
		defer slow.Stop()
		assert.NoError(t, c.Wait(), "mintmark serve after an interrupt: %s", n.log)
		assert.NotContains(t, n.log.String(), upstreamSecret)
	})
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(n.dir, "admin.sock"))
		return err == nil
	}, 30*time.Second, 10*time.Millisecond, "%s", n.log)
	n.run("", "cluster", "init", "--public-url", local(port))
	lines := bufio.NewReader(stdout)
	first, err := firstLine(c, lines)
	require.NoError(t, err, "%s", n.log)
	require.NoError(t, json.Unmarshal(first, &n.server))
	go func() { _, _ = io.Copy(io.Discard, lines) }()

	n.run("correct horse", "user", "add", "alice", "--name", "Alice Example", "--email", "alice@example.com", "--password-file", "-")
	n.run("", "client", "add", "--id", "cal-app", "--name", "Calendar App", "--owner", "alice", "--redirect-uri", redirectURI,
		"--scope", "PROFILE_READ", "--scope", "BOOKING_READ")
	n.run("", "client", "approve", "cal-app")
	return n
}

// run runs an operators' command.
func (n *node) run(stdin string, arguments ...string) string {
	n.t.Helper()
	c := exec.Command(binary, append(arguments, "--data-dir", n.dir)...)
	c.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	require.NoError(n.t, err, "%s: %s", arguments, &stderr)
	return string(out)
}

// A lockedText is the output of a process so far.
type lockedText struct {
	mu sync.Mutex
	b  strings.Builder
}

// Write appends to it.
func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
