package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// logLine waits for a JSON line with that message in a node's log.
func (n *nodeProcess) logLine(t testing.TB, message string) map[string]any {
	t.Helper()
	var found map[string]any
	require.Eventually(t, func() bool {
		for _, line := range n.logLines(t) {
			if line["msg"] == message {
				found = line
			}
		}
		return found != nil
	}, 20*time.Second, 10*time.Millisecond, message)
	return found
}

// logLines returns the lines of a node's log, each of which must be JSON.
func (n *nodeProcess) logLines(t testing.TB) (lines []map[string]any) {
	t.Helper()
	all := bytes.Split([]byte(n.Process().LogText()), []byte("\n"))
	for _, line := range all[:len(all)-1] {
		var m map[string]any
		require.NoError(t, json.Unmarshal(line, &m), "%s", line)
		lines = append(lines, m)
	}
	return lines
}

// TestHangup: SIGHUP never ends a node, whatever the node is doing. It reloads the
// settings that can change at run time. Every line of the log is JSON.
func TestHangup(t *testing.T) {
	dir := t.TempDir()
	_, tokens, _ := seed(t, dir, 2)
	n := newNodeOf(t, filepath.Join(dir, "data"))
	config := filepath.Join(dir, "node.yaml")
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write(config, "log-format: json\n")
	n.start(t, "--config", config)
	require.True(t, n.WaitReady(20*time.Second))
	started := n.logLine(t, "process started")
	require.Equal(t, version, started["version"])
	require.Equal(t, n.Public, started["listen"])
	require.Equal(t, map[string]any{
		"config": "flag --config", "data-dir": "flag --data-dir", "name": "flag --name", "listen": "flag --listen",
		"ops-listen": "flag --ops-listen", "cluster-listen": "flag --cluster-listen",
		"log-format": config + ":1",
	}, started["settings_from"])
	require.Equal(t, n.Raft, n.logLine(t, "node started")["cluster_listen"])

	// One request is half sent, and others are in progress, when the signals arrive.
	slow, err := net.Dial("tcp", n.Public)
	require.NoError(t, err)
	defer slow.Close()
	body := refreshForm(tokens[0])
	_, err = fmt.Fprintf(slow, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s",
		oauth.PathToken, n.Public, len(body), body[:10])
	require.NoError(t, err)
	var others sync.WaitGroup
	stop := make(chan struct{})
	others.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			r, err := http.Get(n.URL() + oauth.PathJWKS)
			if err != nil || r.StatusCode != http.StatusOK {
				t.Errorf("request during SIGHUP failed: %v %v", r, err)
				return
			}
			_ = r.Body.Close()
		}
	})
	hangup := func() { require.NoError(t, n.Process().Signal(syscall.SIGHUP)) }
	for range 20 {
		hangup()
	}
	n.logLine(t, "configuration reloaded")

	write(config, "log-format: json\nlog-level: debug\ndrain: 2s\n")
	hangup()
	require.Equal(t, []any{"drain"}, n.logLine(t, "changed settings not applied, restart required")["settings"])
	write(config, "log-format: jason\n")
	hangup()
	require.Contains(t, n.logLine(t, "configuration not reloaded")["error"], "log-format")

	close(stop)
	others.Wait()
	_, err = slow.Write([]byte(body[10:]))
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(slow), nil)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)

	require.NoError(t, n.Process().Signal(syscall.SIGTERM))
	n.logLine(t, "node stop requested")
	for range 20 {
		_ = n.Process().Signal(syscall.SIGHUP) // the process may have ended
	}
	require.NoError(t, n.Process().Wait(), "the exit code is 0")
	require.NotEmpty(t, n.logLines(t))
}

// TestHangupOfAWaitingNode: a node that waits for a cluster reloads and continues to
// wait.
func TestHangupOfAWaitingNode(t *testing.T) {
	n := newNode(t, "n1")
	n.launch(t, "--log-format", "json")
	n.logLine(t, "process started")
	(&startingServer{t: t, dir: n.Dir}).requireStatus(noCluster)
	require.NoError(t, n.Process().Signal(syscall.SIGHUP))
	n.logLine(t, "configuration reloaded")
	require.NoError(t, (&startingServer{t: t, dir: n.Dir}).init(hereURL))
	require.Equal(t, hereURL, n.serving(t).BaseURL)
}

// TestHangupEndsDev: SIGHUP ends "mintmark dev", since its terminal was closed. A process
// started by nohup continues.
func TestHangupEndsDev(t *testing.T) {
	require.False(t, signal.Ignored(syscall.SIGHUP), "the test was started with SIGHUP ignored, as nohup does")
	fixtures := filepath.Join(t.TempDir(), "fixtures.yaml")
	require.NoError(t, os.WriteFile(fixtures, []byte(benchFixtures), 0o600))
	p, _ := startDev(t, t.TempDir(), fixtures)
	require.NoError(t, p.Signal(syscall.SIGHUP))
	require.NoError(t, p.Wait())
	require.Contains(t, p.LogText(), "mintmark: stopping")

	signal.Ignore(syscall.SIGHUP) // inherited by the child process
	p, _ = startDev(t, t.TempDir(), fixtures)
	signal.Reset(syscall.SIGHUP)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	require.NoError(t, err)
	require.Regexp(t, `(?m)^SigIgn:\s.*1$`, string(status), "the child ignores SIGHUP")
}

// TestLogOfAFailure: the last line of the log is JSON too and has the error.
func TestLogOfAFailure(t *testing.T) {
	for what, args := range map[string][]string{
		"a setting":  {"--listen", "nowhere"},
		"a listener": {"--listen", "127.0.0.1:0", "--ops-listen", "192.0.2.1:1", "--cluster-listen", "127.0.0.1:0"},
	} {
		n := newNode(t, "n1")
		require.NoError(t, n.Launch(self(t, "mintmark", n.Dir, append([]string{"serve", "--data-dir", n.Dir, "--name", "n1", "--log-format", "json"}, args...)...)))
		require.Error(t, n.Process().Wait(), what)
		require.Equal(t, cli.ExitLocal, n.Process().Command.ProcessState.ExitCode(), what)
		lines := n.logLines(t)
		require.NotEmpty(t, lines, what)
		last := lines[len(lines)-1]
		require.Equal(t, "node failed", last["msg"], what)
		require.NotEmpty(t, last["error"], what)
	}
}
