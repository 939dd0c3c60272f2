package main

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/watchdog"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/dev"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// devOn returns the options of "mintmark dev" in a folder.
func devOn(dir string) dev.Options {
	return dev.Options{Listen: "127.0.0.1:0", OpsListen: "127.0.0.1:0", DataDir: dir}
}

// TestStatusWhileItWaitsForItsClock: a single node whose clock is not trusted reports
// that, without advice that would make its operator delete the data.
func TestStatusWhileItWaitsForItsClock(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]func(*testing.T, func(*server.Config)) *testNode{
		"serve": func(t *testing.T, clocked func(*server.Config)) *testNode { return newTestNode(t, clocked) },
		"dev": func(t *testing.T, clocked func(*server.Config)) *testNode {
			dir := t.TempDir()
			conf, err := devOn(dir).Config(io.Discard)
			require.NoError(t, err)
			conf.Log = slog.New(slog.DiscardHandler)
			c := startTestNodeIn(t, dir, func(c *server.Config) { *c = conf }, clocked)
			c.await()
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			var ahead atomic.Int64
			c := first(t, func(c *server.Config) {
				c.Now, c.Elapsed = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }, watchdog.Elapsed()
			})
			c.close()
			ahead.Store(int64(time.Hour))
			c.start()
			var s admin.ClusterStatus
			require.Eventually(t, func() bool { // at first the node reads its data
				var err error
				s, err = admin.ShowCluster.Call(t.Context(), c.operator(), admin.StatusQuery{})
				return err == nil && len(s.Problems) > 0 && s.Problems[0] != "this node does not serve yet: still starting"
			}, 20*time.Second, 10*time.Millisecond)
			require.False(t, s.Healthy)
			require.Len(t, s.Problems, 1)
			require.Regexp(t, `^this node does not serve yet: this node's clock, which shows .* is 1h0m\ds ahead of when it last ran, and no other source confirms it`, s.Problems[0])
		})
	}
}

// TestDevIsToldToStopBeforeItServes: stopping "mintmark dev" while it waits, for example
// for its clock, is not an error.
func TestDevIsToldToStopBeforeItServes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, dev.Run(ctx, devOn(t.TempDir()), io.Discard, io.Discard))
}
