package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestRestoreTellsARecoveryApart: a survivor that was recovered uses positions
// that the lost nodes had used for other commands. Their journals are refused
// where they tell of those.
func TestRestoreTellsARecoveryApart(t *testing.T) {
	lost := newCell(t)
	first := lost.backup()
	lost.disable("alice")
	lost.close()
	left := folderOf(t, lost.dir) // a node that is cut off here

	lost.start()
	lost.await()
	for range 10 {
		lost.propose(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-bob", State: ledger.Disable})
		lost.propose(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-bob", State: ledger.Enable})
	}
	lost.disable("bob")
	last, key := lost.backup(), lost.key()
	dead := lost.dead()
	life := inspect(t, dead).Lives
	require.Len(t, life, 1)

	recoverIn(t, left)
	mark := readFile(t, filepath.Join(left, "raft", "recovered"))
	survivor := startCellIn(t, left)
	survivor.await()
	require.NoFileExists(t, filepath.Join(left, "raft", "recovered"))
	label, err := survivor.s.journal.Journal.Label()
	require.NoError(t, err)
	lives := inspect(t, survivor.backup()).Lives
	require.Len(t, lives, 2, "as soon as it serves")
	require.Equal(t, life[0], lives[0])
	require.Contains(t, string(label), lives[1].ID)
	require.Zero(t, survivor.view().Restore().Count, "it is no restore")
	require.Zero(t, survivor.view().Restore().Seq)
	require.Zero(t, survivor.view().Restore().At)

	// It was killed before it had forgotten that it was recovered.
	survivor.close()
	require.NoError(t, os.WriteFile(filepath.Join(left, "raft", "recovered"), mark, 0o600))
	survivor.start()
	survivor.await()
	require.NoFileExists(t, filepath.Join(left, "raft", "recovered"))

	survivor.disable("alice")
	late := survivor.backup()
	require.Equal(t, lives, inspect(t, late).Lives, "it is the same life")
	require.Less(t, inspect(t, late).Seq, inspect(t, dead).Seq, "what the lost node did after it has later positions")
	survivor.propose(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-alice", State: ledger.Enable})
	survivor.disable("alice")
	own := survivor.dead()
	require.Equal(t, lives, inspect(t, own).Lives)

	w := waitingCell(t, key)
	refuses := func(state []byte, journals ...[]byte) {
		t.Helper()
		says := w.refuses(state, admin.RestoreOptions{AcceptGap: true, Journals: journals})
		require.Contains(t, says, "or a node that had no more recovered")
	}
	refuses(late, dead)
	refuses(late, dead, own)
	refuses(last, own)
	require.Empty(t, w.preview(late, own).Gap)
	// Both from before: what the lost node did alone is left out.
	r := w.preview(first, dead, own)
	require.Empty(t, r.Gap)
	for _, change := range r.Changes {
		require.NotContains(t, change, "bob")
	}
	require.NotEmpty(t, r.Changes)
}

// recoverIn makes the node of a folder a cluster of one.
func recoverIn(t testing.TB, dir string) {
	t.Helper()
	c := (&management{dataDir: dir, output: "text"}).clusterRecover()
	c.SetArgs([]string{"--yes"})
	c.SetOut(io.Discard)
	c.SetErr(io.Discard)
	require.NoError(t, c.Execute())
}

// folderOf is a copy of the data of a node that was stopped.
func folderOf(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	require.NoError(t, os.CopyFS(to, os.DirFS(dir)))
	require.NoError(t, filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chmod(path, 0o600)
	}))
	return to
}

// TestRecoveryLeavesNoHole in the journal, though what a crash cut off that is in
// no log any more after it.
func TestRecoveryLeavesNoHole(t *testing.T) {
	c := newCell(t)
	first := c.backup()
	c.close()
	before := folderOf(t, filepath.Join(c.dir, "journal"))
	c.start()
	c.await()
	c.disable("alice")
	c.close()
	require.NoError(t, os.RemoveAll(filepath.Join(c.dir, "journal")))
	require.NoError(t, os.CopyFS(filepath.Join(c.dir, "journal"), os.DirFS(before)))

	recoverIn(t, c.dir)
	dead := inspect(t, c.dead())
	require.Len(t, dead.Lives, 1)
	mark, err := cluster.Recovered(filepath.Join(c.dir, "raft"))
	require.NoError(t, err)
	require.LessOrEqual(t, dead.Seq, mark.Seq, "what comes then is of another life")
	c.start()
	c.await()
	c.disable("bob")
	own := c.journal()

	r := waitingCell(t, c.key()).preview(first, own)
	require.Empty(t, r.Gap)
	all := strings.Join(r.Changes, "\n")
	require.Contains(t, all, "alice")
	require.Contains(t, all, "bob")
}
