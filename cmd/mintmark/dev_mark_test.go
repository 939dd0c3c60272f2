package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/dev"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestDevAndServeKeepApart: mintmark dev does not add its users with known passwords to
// the data of serve, and serve does not run on data that has such users.
func TestDevAndServeKeepApart(t *testing.T) {
	n := newCluster(t, "n1")
	n.Stop()
	o := dev.Options{Listen: "127.0.0.1:0", OpsListen: "127.0.0.1:0", DataDir: n.Dir}
	c, err := o.Config(io.Discard)
	require.NoError(t, err)
	_, err = server.Start(t.Context(), c)
	require.ErrorIs(t, err, server.ErrNotDevData)
	require.NoFileExists(t, filepath.Join(n.Dir, server.DevMark))

	// A folder of an older version of dev can be claimed by the mark that the error
	// names.
	require.NoError(t, os.WriteFile(filepath.Join(n.Dir, server.DevMark), nil, 0o600))
	c.Settings = func(s ledger.Settings, _ string) (ledger.Settings, error) { return s, nil }
	s, err := server.Start(t.Context(), c)
	require.NoError(t, err)
	require.NoError(t, s.Close(t.Context()))

	serve := config.Default()
	serve.Name, serve.DataDir, serve.Listen, serve.OpsListen, serve.ClusterListen = "n1", n.Dir, n.Public, n.Ops, n.Raft
	refused, err := server.FromOptions(&serve, version, serve.Logger(io.Discard))
	require.NoError(t, err)
	_, err = server.Start(t.Context(), refused)
	require.ErrorIs(t, err, server.ErrDevData)
}

// TestDevMarksWhatItMakes: a second start finds the mark of the first. A folder with a
// journal but without a log gets no mark.
func TestDevMarksWhatItMakes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ts := startTestServer(t, dir, fixtureText)
	ts.close()
	require.FileExists(t, filepath.Join(dir, "data", server.DevMark))
	startTestServer(t, dir, fixtureText).close()

	other := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.MkdirAll(filepath.Join(other, "journal"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(other, "journal", "1"), []byte("x"), 0o600))
	o := dev.Options{Listen: "127.0.0.1:0", OpsListen: "127.0.0.1:0", DataDir: other}
	c, err := o.Config(io.Discard)
	require.NoError(t, err)
	_, err = server.Start(t.Context(), c)
	require.ErrorContains(t, err, "is the journal of another cluster")
	require.NoFileExists(t, filepath.Join(other, server.DevMark))
}
