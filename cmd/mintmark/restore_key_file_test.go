package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
)

// TestJournalOfTheDeadUnderAnotherKeyFile: the journal of a lost node can be read with a
// cluster key file outside its folder.
func TestJournalOfTheDeadUnderAnotherKeyFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	n := newTestNode(t, func(c *server.Config) { c.Key = config.KeySource{File: file} })
	state := n.backup()
	n.disable("alice")
	key := n.key()
	n.close()
	require.NoFileExists(t, filepath.Join(n.dir, "cluster.key"))

	out := filepath.Join(t.TempDir(), "journal")
	run := func(more ...string) error {
		c := rootCommand()
		c.SetOut(new(bytes.Buffer))
		c.SetErr(new(bytes.Buffer))
		c.SetArgs(append([]string{"cluster", "backup", "journal", out, "--data-dir", n.dir}, more...))
		return c.ExecuteContext(t.Context())
	}
	require.ErrorIs(t, run(), config.ErrNoClusterKey)
	r := commandLine(t, "cluster", "backup", "journal", out, "--data-dir", n.dir)
	require.Contains(t, r.Err, "cluster.key is missing: ")
	require.Contains(t, r.Err, "or name its file with --cluster-key-file)\n")
	require.NoFileExists(t, out)
	require.NoError(t, run("--cluster-key-file", file))
	require.Len(t, newWaitingTestNode(t, key).preview(state, readFile(t, out)).Changes, 1)

	out += "2"
	t.Setenv(config.Variable(config.KeyClusterKeyFile), file)
	require.NoError(t, run())
}
