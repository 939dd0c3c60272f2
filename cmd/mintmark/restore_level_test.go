package main

import (
	"bytes"
	"crypto/rand"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/keys"
)

// TestRestoreOfAnOlderProgram: a backup of a cluster of feature level 1, whose
// rules know no replay. The restored cluster gets the level of its program first.
func TestRestoreOfAnOlderProgram(t *testing.T) {
	key, err := keys.NewClusterKey(rand.Reader)
	require.NoError(t, err)
	seal := sealerOf(key)
	m := issuer.Machine()
	m.Level, m.Since = 1, nil
	n, err := cluster.Open(t.Context(), cluster.Config{
		Dir: filepath.Join(t.TempDir(), "raft"), Machine: m, Bootstrap: true, Name: "n1", Version: "old",
		Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	settings := ledger.DefaultSettings()
	settings.BaseURL, settings.AppURL, settings.Audience = cellURL, cellURL, cellURL
	for _, c := range []ledger.Command{
		&ledger.Configure{Settings: settings},
		&ledger.PutUser{ID: "u-alice", Username: "alice", Password: "x"},
	} {
		_, _, err := n.Propose(t.Context(), &issuer.Entry{Command: c})
		require.NoError(t, err)
	}
	b, err := n.Backup(t.Context())
	require.NoError(t, err)
	require.LessOrEqual(t, b.Level, uint32(1))
	var state, records bytes.Buffer
	h := backup.Header{Kind: backup.KindState, Cluster: cellURL, ClusterKey: key.ID(), Seq: b.Seq, StateTime: time.UnixMilli(b.At).UTC()}
	require.NoError(t, backup.Write(&state, h, seal, b.Write))
	require.NoError(t, n.Close(t.Context()))

	j, err := journal.Open(journal.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	record, err := cbor.Marshal(ledger.Record{Seq: b.Seq + 1, At: ledger.Time(b.At), Effects: []ledger.Effect{{Kind: ledger.EffectUserDisabled, User: "u-alice"}}})
	require.NoError(t, err)
	j.Covered(b.Seq, b.At)
	j.Append(b.Seq+1, b.At, record)
	h.Kind = backup.KindJournal
	require.NoError(t, backup.Write(&records, h, seal, j.Export))
	require.NoError(t, j.Close())

	w := waitingCell(t, key)
	r, err := w.restore(state.Bytes(), admin.RestoreOptions{Journals: [][]byte{records.Bytes()}})
	require.NoError(t, err)
	require.Empty(t, r.Gap)
	require.Len(t, r.Warnings, 2, "neither says its life")
	require.True(t, w.disabled("alice"))
	lives := w.view().Lives()
	require.Len(t, lives, 1)
	require.Equal(t, b.Seq+1, lives[0].From)
}

// TestJournalOfTheDeadUnderAnotherKeyFile: the key of a node need not lie in its
// folder.
func TestJournalOfTheDeadUnderAnotherKeyFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	n := newCell(t, func(c *serverConfig) { c.Key = keySource{File: file} })
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
	require.ErrorContains(t, run(), "cluster.key is missing")
	require.NoFileExists(t, out)
	require.NoError(t, run("--cluster-key-file", file))
	require.Len(t, waitingCell(t, key).preview(state, readFile(t, out)).Changes, 1)

	out += "2"
	t.Setenv(envName(keyClusterKeyFile), file)
	require.NoError(t, run())
}
