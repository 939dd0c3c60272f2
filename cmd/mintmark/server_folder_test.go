package main

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/journal"
)

// TestSecondProcess: a second process reports that the data is in use, before it changes
// anything.
func TestSecondProcess(t *testing.T) {
	t.Parallel()
	c := newTestNode(t)
	require.NoError(t, c.s.Journal.Flush())
	segments, err := filepath.Glob(filepath.Join(c.dir, "journal", "*.journal"))
	require.NoError(t, err)
	require.NotEmpty(t, segments)
	path := segments[len(segments)-1]
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("half a write")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	before := readFile(t, path)

	_, err = server.Start(t.Context(), c.conf)
	require.ErrorContains(t, err, "another process")
	require.Equal(t, before, readFile(t, path))
}

// TestDamagedClusterKey: the error names the file and has no part of the key.
func TestDamagedClusterKey(t *testing.T) {
	t.Parallel()
	c := newTestNode(t)
	c.close()
	path := filepath.Join(c.dir, "cluster.key")
	whole := readFile(t, path)
	for what, damaged := range damages(whole) {
		require.NoError(t, os.RemoveAll(path))
		if damaged != nil {
			require.NoError(t, os.WriteFile(path, damaged, 0o600))
		}
		_, err := server.Start(t.Context(), c.conf)
		require.ErrorContains(t, err, "cluster.key", what)
		if damaged == nil {
			require.ErrorIs(t, err, config.ErrNoClusterKey, what)
		}
		require.NotContains(t, err.Error(), string(whole[:20]), what)
	}
	require.NoError(t, os.WriteFile(path, whole, 0o600))
	c.start()
	c.await()
}

// TestDamagedJournal: a node with a damaged journal starts. A restore reports what the
// journal then lacks as a gap, so nothing that was revoked comes back unnoticed.
func TestDamagedJournal(t *testing.T) {
	t.Parallel()
	c := newTestNode(t)
	state := c.backup()
	c.disable("alice")
	require.NoError(t, c.s.Journal.Flush())
	c.close()
	saved := t.TempDir()
	require.NoError(t, os.CopyFS(saved, os.DirFS(c.dir)))
	key := readFile(t, filepath.Join(saved, "cluster.key"))
	w := startTestNode(t)
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "cluster.key"), key, 0o600))

	files, err := filepath.Glob(filepath.Join(saved, "journal", "*"))
	require.NoError(t, err)
	require.Len(t, files, 3, "no expectation for damage to one of these files: %v", files)
	for _, file := range files {
		for what, damaged := range damages(readFile(t, file)) {
			t.Run(filepath.Base(file)+" "+what, func(t *testing.T) {
				dir := t.TempDir()
				require.NoError(t, os.CopyFS(dir, os.DirFS(saved)))
				for _, name := range []string{"cluster.key", "raft/node.key"} {
					require.NoError(t, os.Chmod(filepath.Join(dir, name), 0o600))
				}
				path := filepath.Join(dir, "journal", filepath.Base(file))
				require.NoError(t, os.RemoveAll(path))
				if damaged != nil {
					require.NoError(t, os.WriteFile(path, damaged, 0o600))
				}
				d := startTestNodeIn(t, dir)
				d.await()
				require.True(t, d.disabled("alice"))
				r := w.preview(state, d.journal())
				require.True(t, r.Gap != "" || slices.ContainsFunc(r.Changes, func(line string) bool {
					return strings.Contains(line, "alice")
				}), "%+v", r)
			})
		}
	}
}

// damages returns damaged versions of a file; nil means that the file is missing.
func damages(whole []byte) map[string][]byte {
	all := map[string][]byte{"gone": nil, "emptied": {}, "half": whole[:len(whole)/2]}
	for i := 0; i < len(whole); i += max(1, len(whole)/5) {
		changed := bytes.Clone(whole)
		changed[i] ^= 1
		all[fmt.Sprint("bit of byte ", i)] = changed
	}
	return all
}

// TestFailedInit: a failed init reports the cause to the operator. What it leaves behind
// does not prevent the next start.
func TestFailedInit(t *testing.T) {
	n := newNode(t, "n1")
	key := filepath.Join(n.Dir, "cluster.key")
	require.NoError(t, os.WriteFile(key, []byte("no key"), 0o600))
	n.launch(t)
	initialize := []string{"cluster", "init", "--public-url", "https://id.example"}
	n.requireStatus(t, "no cluster")
	r := n.operate(t, initialize...)
	require.Equal(t, cli.ExitUnhealthy, r.Code)
	require.Contains(t, r.Err, "the node could not start: ")
	require.Contains(t, r.Err, "cluster.key")
	require.Error(t, n.Process().Wait())

	// An earlier start opened the journal and then failed to open the log.
	require.NoError(t, os.Remove(key))
	j, err := journal.Open(journal.Config{Dir: filepath.Join(n.Dir, "journal")})
	require.NoError(t, err)
	require.NoError(t, j.Close())
	n.launch(t)
	n.requireStatus(t, "no cluster")
	r = n.operate(t, initialize...)
	require.Equal(t, cli.ExitOK, r.Code, r.Err)
	require.True(t, n.WaitReady(30*time.Second))
	n.Stop()

	require.NoError(t, os.RemoveAll(filepath.Join(n.Dir, "raft")))
	require.Contains(t, n.refused(t), "is the journal of another cluster, or of this one before its data was lost")
}

// TestNoOneReadsTheAnnouncement: a node that can't write its addresses closes what it has
// opened, and reports why it ends.
func TestNoOneReadsTheAnnouncement(t *testing.T) {
	t.Parallel()
	c := newTestNode(t)
	c.close()
	o := config.Default()
	o.DataDir, o.Name, o.Drain = c.dir, "n1", 0
	o.Listen, o.OpsListen, o.ClusterListen = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	err := server.Run(t.Context(), server.RunOptions{
		Version: version, Options: o, Stdout: closedPipe{}, Stderr: io.Discard, Log: slog.New(slog.DiscardHandler),
	})
	require.ErrorIs(t, err, io.ErrClosedPipe)
	s, err := server.Start(t.Context(), c.conf)
	require.NoError(t, err, "the folder is not in use")
	require.NoError(t, s.Close(t.Context()))
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
