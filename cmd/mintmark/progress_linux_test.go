package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// longOperations begin what may take long, and let it wait until the test ends. stderr is
// where it reports; duration is how long it takes at least, if it can be chosen.
var longOperations = map[string]struct {
	begin    func(t *testing.T, stderr io.Writer, duration time.Duration)
	terminal string // what a terminal shows after two seconds
	line     string // what a log has after ten
}{
	"save": {func(t *testing.T, stderr io.Writer, _ time.Duration) {
		unread, out := io.Pipe()
		n := newTestNode(t)
		inBackground(t, nil, out, stderr, func() { _ = unread.Close() }, "cluster", "backup", "save", "-", "--data-dir", n.dir)
	}, "saving the backup", `(?m)^saving the backup: 10s$`},
	"restore": {func(t *testing.T, stderr io.Writer, _ time.Duration) {
		in, unwritten := io.Pipe()
		n := startTestNode(t)
		inBackground(t, in, io.Discard, stderr, func() { _ = unwritten.Close() }, "cluster", "backup", "restore", "-", "--data-dir", n.dir)
		_, err := io.WriteString(unwritten, "the beginning")
		require.NoError(t, err)
	}, "restoring the backup", `(?m)^restoring the backup: 0\.0 MiB, 10s$`},
	"bench": {func(t *testing.T, stderr io.Writer, duration time.Duration) {
		ts := newTestServer(t)
		inBackground(t, nil, io.Discard, stderr, func() {}, "bench", "refresh", "--yes", "--connections", "1", "--grants", "2",
			"--warmup", "0s", "--duration", duration.String(), "--data-dir", filepath.Join(ts.dir, "data"))
	}, "measuring", `(?m)^measuring: \d+ %, \d+ requests/s, 0 failed, 10s$`},
	"join": {func(t *testing.T, stderr io.Writer, _ time.Duration) {
		token := filepath.Join(t.TempDir(), "token")
		require.NoError(t, os.WriteFile(token, []byte("unknown\n"), 0o600))
		startTestNode(t, func(c *server.Config) {
			c.Cluster.Join, c.Cluster.TokenFile = "127.0.0.1:1", token
			c.Stderr, c.Log = stderr, slog.New(slog.NewTextHandler(stderr, nil))
			if _, ok := stderr.(*os.File); ok {
				c.Log = slog.New(slog.DiscardHandler)
			}
		})
	}, "joining", `msg="join not finished" progress="joining: .*10s"`},
}

// inBackground executes a command, which release makes end, until the end of the test.
func inBackground(t *testing.T, in io.Reader, out, stderr io.Writer, release func(), args ...string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		executeMain(context.Background(), args, in, out, stderr)
	}()
	t.Cleanup(func() {
		release()
		<-done
	})
}

// TestProgressOnATerminal: each long operation shows its progress after two seconds.
func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	for name, o := range longOperations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			person, terminal := testkit.Terminal(t)
			var seen testkit.Buffer
			go func() { _, _ = io.Copy(&seen, person) }() // until the terminal is closed
			began := time.Now()
			o.begin(t, terminal, 5*time.Second)
			require.Eventually(t, func() bool { return regexp.MustCompile(o.terminal).Match(seen.Bytes()) }, 30*time.Second, 10*time.Millisecond)
			require.GreaterOrEqual(t, time.Since(began), 2*time.Second)
		})
	}
}

// TestProgressInALog: without a terminal each has a line every ten seconds.
func TestProgressInALog(t *testing.T) {
	t.Parallel()
	for name, o := range longOperations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen testkit.Buffer
			began := time.Now()
			o.begin(t, &seen, 12*time.Second)
			require.Eventually(t, func() bool { return regexp.MustCompile(o.line).Match(seen.Bytes()) }, 40*time.Second, 10*time.Millisecond, "%s", &seen)
			require.GreaterOrEqual(t, time.Since(began), 10*time.Second)
		})
	}
}
