package server

import (
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// told collects the states that a notifier sends.
type told struct {
	mu    sync.Mutex // guards lines
	lines []string
}

func (l *told) add(state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, state)
}

func (l *told) take() (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines, l.lines = l.lines, nil
	return lines
}

// TestNotifierOfAStartThatWaits: if a node waits longer than startGrace, the service
// manager gets READY nevertheless, so that it doesn't end the start. Otherwise it gets
// READY when the node serves.
func TestNotifierOfAStartThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log told
		n := &notifier{send: log.add}
		n.waiting("no leader\nis known")
		time.Sleep(startGrace - 1)
		synctest.Wait()
		n.waiting("the clock")
		require.Equal(t, []string{"STATUS=waiting: no leader is known", "STATUS=waiting: the clock"}, log.take())
		n.reloading(func() { log.add("reload") })
		require.Equal(t, []string{"reload"}, log.take(), "a reload must not send READY during the start")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Equal(t, []string{"READY=1"}, log.take())
		n.serving("https://id.example")
		n.reloading(func() { log.add("reload") })
		n.stopping()
		require.Equal(t, []string{"STATUS=serving https://id.example", "RELOADING=1", "reload", "READY=1", "STOPPING=1"}, log.take())

		n = &notifier{send: log.add}
		n.waiting("a leader")
		n.serving("https://id.example")
		time.Sleep(2 * startGrace)
		synctest.Wait()
		require.Equal(t, []string{"STATUS=waiting: a leader", "READY=1", "STATUS=serving https://id.example"}, log.take())
	})
}

// TestNotifierKeepsAlive: the watchdog gets three messages in each interval, until the
// notifier stops.
func TestNotifierKeepsAlive(t *testing.T) {
	t.Setenv("WATCHDOG_USEC", "3000000")
	synctest.Test(t, func(t *testing.T) {
		var log told
		n := &notifier{send: log.add}
		stop, err := n.keepAlive()
		require.NoError(t, err)
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, []string{"WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"}, log.take())
		stop()
		time.Sleep(time.Minute)
		require.Empty(t, log.take())
	})
	t.Setenv("WATCHDOG_USEC", "soon")
	_, err := (&notifier{}).keepAlive()
	require.ErrorContains(t, err, "watchdog")
	t.Setenv("WATCHDOG_USEC", "")
	stop, err := (&notifier{}).keepAlive()
	require.NoError(t, err)
	stop()
}

// TestNotifierOfAServiceManager: a service manager receives the states. If it no longer
// listens, the node continues.
func TestNotifierOfAServiceManager(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	require.NoError(t, err)
	t.Setenv("NOTIFY_SOCKET", path)
	n := newNotifier(slog.New(slog.DiscardHandler))
	n.ready()
	b := make([]byte, 100)
	size, err := l.Read(b)
	require.NoError(t, err)
	require.Equal(t, "READY=1", string(b[:size]))
	require.NoError(t, l.Close())
	n.stopping()
}
