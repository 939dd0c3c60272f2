package main

import (
	"net"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// A serviceManager receives systemd's notifications on a socket.
type serviceManager struct {
	path string

	mu    sync.Mutex // guards lines
	lines []string   // received lines except WATCHDOG=1
	alive int        // number of WATCHDOG=1 received
}

func newServiceManager(t *testing.T) *serviceManager {
	t.Helper()
	m := &serviceManager{path: filepath.Join(t.TempDir(), "notify")}
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.path, Net: "unixgram"})
	require.NoError(t, err)
	done := make(chan struct{})
	t.Cleanup(func() { _ = l.Close(); <-done })
	go func() {
		defer close(done)
		for b := make([]byte, 4096); ; {
			n, err := l.Read(b)
			if err != nil {
				return
			}
			m.mu.Lock()
			if line := string(b[:n]); line == "WATCHDOG=1" {
				m.alive++
			} else {
				m.lines = append(m.lines, line)
			}
			m.mu.Unlock()
		}
	}()
	return m
}

// await waits for a line with that prefix, and drops it and the lines before it.
func (m *serviceManager) await(t *testing.T, begins string) string {
	t.Helper()
	var found string
	require.True(t, testkit.Until(testkit.Limit, func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		for i, line := range m.lines {
			if strings.HasPrefix(line, begins) {
				found, m.lines = line, m.lines[i+1:]
				return true
			}
		}
		return false
	}), begins)
	return found
}

// lives waits for two more watchdog notifications.
func (m *serviceManager) lives(t *testing.T) {
	t.Helper()
	count := func() int { m.mu.Lock(); defer m.mu.Unlock(); return m.alive }
	before := count()
	require.True(t, testkit.Until(testkit.Limit, func() bool { return count() >= before+2 }))
}

// TestServiceManager: a node that waits for an operator reports READY=1 and watchdog
// notifications, although it is not ready for requests. It then reports that it serves,
// reloads and stops.
func TestServiceManager(t *testing.T) {
	m := newServiceManager(t)
	n := newNodeProcess(t, t.TempDir(), "n1")
	c := self(t, "mintmark", n.Dir, n.ServeArgs()...)
	c.Env = append(c.Env, "NOTIFY_SOCKET="+m.path, "WATCHDOG_USEC=300000")
	begun := time.Now()
	require.NoError(t, n.Launch(c))
	require.Contains(t, m.await(t, "STATUS="), "no cluster was created or joined yet")
	m.await(t, "READY=1")
	require.GreaterOrEqual(t, time.Since(begun), 3*time.Second)
	require.False(t, n.Ready())
	m.lives(t)

	n.Must("", "cluster", "init", "--public-url", n.URL())
	require.Equal(t, "STATUS=serving "+n.URL(), m.await(t, "STATUS=serving"))
	require.NoError(t, n.Process().Signal(syscall.SIGHUP))
	m.await(t, "RELOADING=1")
	m.await(t, "READY=1")
	m.lives(t)
	n.Stop()
	m.await(t, "STOPPING=1")
}
