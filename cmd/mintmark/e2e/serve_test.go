package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// A node is a running "mintmark serve", which is a cluster of one node. CLI is the
// command line of its operator.
type node struct {
	server
	*testkit.CLI
	*testkit.Process
}

// serve creates a cluster of one node, as an operator does, with further settings. The
// cluster has alice, with her password, and the client cal-app.
func serve(t testing.TB, port int, redirectURI string, settings ...string) *node {
	t.Helper()
	dir := t.TempDir()
	n := &node{server: server{t: t}, CLI: &testkit.CLI{T: t, Dir: filepath.Join(dir, "data"), Execute: testkit.Program(binary, testkit.Limit)}}
	c := exec.Command(binary, append([]string{
		"serve", "--name", "n1", "--data-dir", n.Dir, "--drain", "0s", "--listen", strings.TrimPrefix(local(port), "http://"),
		"--ops-listen", "127.0.0.1:0", "--cluster-listen", "127.0.0.1:0",
	}, settings...)...)
	c.Env = append(os.Environ(), "MINTMARK_UPSTREAM_CLIENT_SECRET="+upstreamSecret)
	var err error
	n.Process, err = testkit.Start(c, filepath.Join(dir, "log"))
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, n.Stop(syscall.SIGINT, 20*time.Second))
		assert.NotContains(t, n.LogText(), upstreamSecret)
	})
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(n.Dir, "admin.sock"))
		return err == nil
	}, 30*time.Second, 10*time.Millisecond)
	n.OK("", "cluster", "init", "--public-url", local(port))
	first, err := n.FirstLine(30 * time.Second)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(first), &n.server))

	n.OK("correct horse", "user", "add", "alice", "--name", "Alice Example", "--email", "alice@example.com", "--password-file", "-")
	n.OK("", "client", "add", "--id", "cal-app", "--name", "Calendar App", "--owner", "alice", "--redirect-uri", redirectURI,
		"--scope", "PROFILE_READ", "--scope", "BOOKING_READ")
	n.OK("", "client", "approve", "cal-app")
	return n
}
