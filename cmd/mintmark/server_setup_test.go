package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/clustertest"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/replica"
)

// serveConfig returns the configuration of "mintmark serve" for a server in this process.
func serveConfig(t testing.TB, dir string, change ...func(*config.Options)) server.Config {
	t.Helper()
	o := config.Default()
	o.DataDir, o.Name, o.Drain = dir, "n1", 0
	o.Listen, o.OpsListen, o.ClusterListen = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	for _, f := range change {
		f(&o)
	}
	c, err := server.FromOptions(&o, version, o.Logger(io.Discard))
	require.NoError(t, err)
	c.Log = slog.New(slog.DiscardHandler)
	return c
}

// startingServer is a server that starts in the background.
type startingServer struct {
	t    testing.TB
	dir  string
	done chan error
	s    *server.Server
}

func startServer(t testing.TB, c server.Config) *startingServer {
	t.Helper()
	b := &startingServer{t: t, dir: c.DataDir, done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		var err error
		b.s, err = server.Start(ctx, c)
		b.done <- err
	}()
	t.Cleanup(func() {
		cancel()
		if b.s != nil {
			b.close()
		}
	})
	return b
}

func (b *startingServer) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(b.t, b.s.Close(ctx))
	b.s = nil
}

// requireStatus waits until the node reports to operators what it waits for.
func (b *startingServer) requireStatus(what string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		c, err := admin.NewCaller(b.dir)
		if err != nil {
			return false
		}
		defer c.Close()
		s, err := admin.ShowCluster.Call(b.t.Context(), c, admin.StatusQuery{})
		return err == nil && strings.Contains(strings.Join(s.Problems, "\n"), what)
	}, 20*time.Second, 10*time.Millisecond)
}

func (b *startingServer) init(publicURL string) error {
	b.t.Helper()
	c, err := admin.NewCaller(b.dir)
	require.NoError(b.t, err)
	defer c.Close()
	_, err = admin.InitCluster.Call(b.t.Context(), c, admin.NewCluster{PublicURL: publicURL})
	return err
}

const (
	noCluster = "this node belongs to no cluster yet"
	hereURL   = "https://id.example"
)

// TestInitThatDoesNotAgree: an init that contradicts the node's flags creates nothing.
func TestInitThatDoesNotAgree(t *testing.T) {
	dir := t.TempDir()
	c := serveConfig(t, dir, func(o *config.Options) { o.PublicURL = hereURL })
	var log bytes.Buffer
	c.Log = slog.New(slog.NewJSONHandler(&log, nil))
	b := startServer(t, c)
	b.requireStatus(noCluster)
	var p *admin.Problem
	require.ErrorAs(t, b.init("https://elsewhere.example"), &p)
	require.Equal(t, admin.Refused, p.Class)
	require.Contains(t, p.Text, "must be the same")
	require.NoFileExists(t, filepath.Join(dir, "cluster.key"))
	require.NoDirExists(t, filepath.Join(dir, "raft", "snapshots"))
	require.NoError(t, b.init(hereURL))
	require.NoError(t, <-b.done)
	require.Equal(t, hereURL, b.s.Settings.BaseURL)
	b.close()
	require.Contains(t, log.String(), `"operation":"cluster.init"`, "operations before there is a cluster are logged, too")
}

// TestInitCutShort: init can be repeated, wherever the first one was interrupted.
func TestInitCutShort(t *testing.T) {
	t.Run("before the log had an entry", func(t *testing.T) {
		dir := t.TempDir()
		_, err := cluster.Open(t.Context(), cluster.Config{Dir: filepath.Join(dir, "raft"), Machine: replica.Machine()})
		require.ErrorIs(t, err, cluster.ErrEmpty)
		logs, err := filepath.Glob(filepath.Join(dir, "raft", "log", "*.wal"))
		require.NoError(t, err)
		require.NotEmpty(t, logs)
		b := startServer(t, serveConfig(t, dir))
		b.requireStatus(noCluster)
		require.NoError(t, b.init(hereURL))
		require.NoError(t, <-b.done)
	})

	t.Run("before there were settings", func(t *testing.T) {
		dir := t.TempDir()
		c := serveConfig(t, dir)
		agree := c.Settings
		c.Settings = func(s ledger.Settings, at string) (ledger.Settings, error) {
			if s.BaseURL == "" {
				return s, errors.New("cut short")
			}
			return agree(s, at)
		}
		b := startServer(t, c)
		b.requireStatus(noCluster)
		require.Error(t, b.init(hereURL))
		require.ErrorContains(t, <-b.done, "cut short")

		b = startServer(t, serveConfig(t, dir))
		b.requireStatus(server.ErrNoAddresses.Error())
		r := operatorOf(t, dir).Run("", "user", "list")
		require.Equal(t, cli.ExitUnhealthy, r.Code)
		require.Contains(t, r.Err, "mintmark cluster init")
		require.NoError(t, b.init(hereURL))
		require.NoError(t, <-b.done)
		require.Equal(t, hereURL, b.s.Settings.BaseURL)
		require.Error(t, b.init(hereURL))
		b.close()

		// The next start needs no init; a start with flags would also have completed it.
		b = startServer(t, serveConfig(t, dir, func(o *config.Options) { o.PublicURL = hereURL }))
		require.NoError(t, <-b.done)
	})
}

// TestWaitingNodeAnswers: a node without a cluster answers that it does not serve yet.
func TestWaitingNodeAnswers(t *testing.T) {
	c := serveConfig(t, t.TempDir(), func(o *config.Options) { o.Listen, o.OpsListen = clustertest.Address(t), clustertest.Address(t) })
	b := startServer(t, c)
	b.requireStatus(noCluster)
	status, header, _ := asked(t, "http://"+c.Listen+"/v2/me")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "1", header.Get("Retry-After"))
	_, _, text := asked(t, "http://"+c.OpsListen+"/readyz?verbose")
	require.Contains(t, text, "no cluster was created or joined yet")
	require.NoError(t, b.init(hereURL))
	require.NoError(t, <-b.done)
	status, _, _ = asked(t, "http://"+c.Listen+publicDocuments[0])
	require.Equal(t, http.StatusOK, status)
}

// TestReadyIsOneWord: /readyz and the metric mintmark_ready always agree.
func TestReadyIsOneWord(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ready := func() bool {
		t.Helper()
		status, _, _ := asked(t, ts.Ops+"/readyz")
		_, _, text := asked(t, ts.Ops+"/metrics")
		require.Equal(t, status == http.StatusOK, strings.Contains(text, "\nmintmark_ready 1\n"))
		return status == http.StatusOK
	}
	require.True(t, ready())
	require.NoError(t, ts.s.Node.Close(t.Context()))
	require.False(t, ready(), "the stopped leader is still known, but nothing can be committed")
}
