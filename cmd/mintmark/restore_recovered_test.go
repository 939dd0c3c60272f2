package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/recovery"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/restore"
)

// TestRestoreTellsARecoveryApart: a recovered survivor reuses positions that the lost
// nodes had used for other commands. Journals of the lost nodes are refused if they
// include such positions.
func TestRestoreTellsARecoveryApart(t *testing.T) {
	t.Parallel()
	lost := newTestNode(t)
	first := lost.backup()
	lost.disable("alice")
	lost.close()
	left := folderOf(t, lost.dir) // the data of a node that is cut off from here on

	lost.start()
	lost.await()
	for range 10 {
		lost.propose(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-bob", State: ledger.Disable})
		lost.propose(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-bob", State: ledger.Enable})
	}
	lost.disable("bob")
	last, key := lost.backup(), lost.key()
	dead := lost.offlineJournal()
	life := inspect(t, dead).Timelines
	require.Len(t, life, 1)

	recoverIn(t, left)
	mark := readFile(t, filepath.Join(left, "raft", "recovered"))
	survivor := startTestNodeIn(t, left)
	survivor.await()
	require.NoFileExists(t, filepath.Join(left, "raft", "recovered"))
	label, err := survivor.s.Journal.Journal.Label()
	require.NoError(t, err)
	lives := inspect(t, survivor.backup()).Timelines
	require.Len(t, lives, 2, "the new timeline exists as soon as the node serves")
	require.Equal(t, life[0], lives[0])
	require.Contains(t, string(label), lives[1].ID)
	require.Equal(t, uint32(1), survivor.view().Restore().Count, "every grant may be fast-forwarded once")
	require.NotZero(t, survivor.view().Restore().Seq)
	require.Zero(t, survivor.view().Restore().At, "unlike a restore, a recovery does not restart idle times")

	// The node was killed before it had deleted the record of the recovery.
	survivor.close()
	require.NoError(t, os.WriteFile(filepath.Join(left, "raft", "recovered"), mark, 0o600))
	survivor.start()
	survivor.await()
	require.NoFileExists(t, filepath.Join(left, "raft", "recovered"))

	survivor.disable("alice")
	late := survivor.backup()
	require.Equal(t, lives, inspect(t, late).Timelines, "the restart begins no other timeline")
	require.Less(t, inspect(t, late).Seq, inspect(t, dead).Seq, "the lost node's positions go further")
	survivor.propose(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-alice", State: ledger.Enable})
	survivor.disable("alice")
	own := survivor.offlineJournal()
	require.Equal(t, lives, inspect(t, own).Timelines)

	w := newWaitingTestNode(t, key)
	refuses := func(state []byte, journals ...[]byte) {
		t.Helper()
		says := w.refuses(state, admin.RestoreOptions{AcceptGap: true, Journals: journals})
		require.Contains(t, says, "or a node that had no more recovered")
	}
	refuses(late, dead)
	refuses(late, dead, own)
	refuses(last, own)
	require.Empty(t, w.preview(late, own).Gap)
	// With a backup from before the recovery, the changes that only the lost node had are
	// left out.
	r := w.preview(first, dead, own)
	require.Empty(t, r.Gap)
	for _, change := range r.Changes {
		require.NotContains(t, change, "bob")
	}
	require.NotEmpty(t, r.Changes)
}

// TestRecoveryReplaysTheJournalsOfLostNodes: revocations made after the survivor stopped
// are replayed before it serves, and stay.
func TestRecoveryReplaysTheJournalsOfLostNodes(t *testing.T) {
	t.Parallel()
	lost := newTestNode(t)
	first := lost.backup()
	lost.close()
	left := folderOf(t, lost.dir) // the data of a node that is cut off from here on
	lost.start()
	lost.await()
	lost.disable("alice")
	leaked := lost.view().ActiveKey(ledger.ForSigning).ID
	_, err := lost.s.Issuer.Rekey.Replace(t.Context(), leaked)
	require.NoError(t, err)
	active, key := lost.view().ActiveKey(ledger.ForSigning).ID, lost.key()
	own, file := lost.view().Settings().BaseURL, filepath.Join(t.TempDir(), "journal")
	require.NoError(t, os.WriteFile(file, lost.offlineJournal(), 0o600))
	stranger := newTestNode(t)
	stranger.close()
	// The disk of the lost node is read-only.
	readOnly := folderOf(t, lost.dir)
	require.NoError(t, os.Chmod(filepath.Join(readOnly, "journal"), 0o500))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(readOnly, "journal"), 0o700) })
	before := listing(t, readOnly)

	moved := folderOf(t, lost.dir)
	label := filepath.Join(moved, "journal", "label")
	require.NoError(t, os.WriteFile(label, bytes.Replace(readFile(t, label), []byte(own), []byte("https://other.example"), 1), 0o600))

	for name, test := range map[string]struct {
		args []string
		says []string
	}{
		"of another address": {[]string{"--yes", "--journal", moved}, []string{"the journal is of the cluster https://other.example, and this folder is of " + own}},
		"with one": {[]string{"--journal", readOnly}, []string{
			"would change:\n", "user u-alice disabled", "key " + leaked + " dropped in emergency", "the journals have the revocations after that, up to command", "say --yes",
		}},
		"of another cluster": {[]string{"--yes", "--journal", stranger.dir}, []string{"of the cluster, which is not in the past of timeline"}},
		"no data folder":     {[]string{"--yes", "--journal", t.TempDir()}, []string{"not the data folder of a node"}},
	} {
		t.Run(name, func(t *testing.T) {
			said, err := recoverWith(left, test.args...)
			require.Error(t, err)
			for _, text := range test.says {
				require.Contains(t, said, text)
			}
			require.NoFileExists(t, filepath.Join(left, "raft", "recovered"), "a refused recovery changes nothing")
		})
	}

	for _, path := range []string{readOnly, file} {
		left := folderOf(t, left)
		said, err := recoverWith(left, "--yes", "--journal", path)
		require.NoError(t, err, said)
		require.Contains(t, said, "recovered: start the node")
		mark := readFile(t, filepath.Join(left, "raft", "recovered"))
		survivor := startTestNodeIn(t, left)
		survivor.await()
		holds := func() {
			t.Helper()
			require.True(t, survivor.disabled("alice"))
			require.False(t, survivor.disabled("bob"))
			require.Nil(t, survivor.view().Key(leaked))
			require.Equal(t, active, survivor.view().ActiveKey(ledger.ForSigning).ID)
			require.NoFileExists(t, filepath.Join(left, "raft", "recovered"))
		}
		holds()

		// The node was killed before it had deleted the record of the recovery.
		survivor.close()
		require.NoError(t, os.WriteFile(filepath.Join(left, "raft", "recovered"), mark, 0o600))
		survivor.start()
		survivor.await()
		holds()
		require.Equal(t, uint32(1), survivor.view().Restore().Count)

		r := newWaitingTestNode(t, key).preview(first, survivor.journal())
		require.Contains(t, strings.Join(r.Changes, "\n"), "user u-alice disabled", "the survivor's own journal has the replayed change")
	}
	require.Equal(t, before, listing(t, readOnly))
}

// TestTheLogCompletesAJournal: a killed node may leave a journal that ends before its
// log. When the journal is read from the folder, the rest is taken from the log. The
// folder is not changed.
func TestTheLogCompletesAJournal(t *testing.T) {
	t.Parallel()
	lost := newTestNode(t)
	first, key := lost.backup(), lost.key()
	lost.close()
	left := folderOf(t, lost.dir)
	lost.start()
	lost.await()
	lost.disable("alice")
	lost.close()
	replaced := func(file string) { // puts back the older version of a file or folder
		t.Helper()
		require.NoError(t, os.RemoveAll(filepath.Join(lost.dir, file)))
		require.NoError(t, os.Rename(filepath.Join(folderOf(t, left), file), filepath.Join(lost.dir, file)))
	}
	replaced("journal")

	for _, decided := range []bool{true, false} {
		t.Run(fmt.Sprint("decided ", decided), func(t *testing.T) {
			if !decided {
				replaced(filepath.Join("raft", "commit-marker"))
			}
			state, _ := readOffline(t, lost.dir, "save")
			before := listing(t, lost.dir)
			journal := lost.offlineJournal()
			read := inspect(t, journal)
			require.Equal(t, inspect(t, state).Seq, read.Seq)
			require.Equal(t, decided, read.Tail == nil)
			w := newWaitingTestNode(t, key)
			require.Empty(t, w.preview(state, journal).Gap)
			r := w.preview(first, journal)
			require.Empty(t, r.Gap)
			require.Contains(t, strings.Join(r.Changes, "\n"), "user u-alice disabled")

			for _, path := range []string{lost.dir, filepath.Join(t.TempDir(), "journal")} {
				if path != lost.dir {
					require.NoError(t, os.WriteFile(path, journal, 0o600))
				}
				left := folderOf(t, left)
				said, err := recoverWith(left, "--yes", "--journal", path)
				require.NoError(t, err, said)
				require.Contains(t, said, "user u-alice disabled")
				require.Contains(t, said, fmt.Sprintf("up to command %d, ", read.Seq))
				require.NotContains(t, said, "may have come back")
				require.Equal(t, !decided, strings.Contains(said, "were decided: what they took away is taken away here"), said)
				survivor := startTestNodeIn(t, left)
				survivor.await()
				require.True(t, survivor.disabled("alice"))
				require.False(t, survivor.disabled("bob"))
			}
			require.Equal(t, before, listing(t, lost.dir))
		})
	}

	require.NoError(t, os.Remove(filepath.Join(lost.dir, "raft", "log", "wal-meta.db")))
	journal, warning := readOffline(t, lost.dir, "journal")
	lacks := strings.TrimSpace(strings.TrimPrefix(warning, "warning: "))
	require.Contains(t, lacks, filepath.Join(lost.dir, "raft", "log", "wal-meta.db")+" is missing or empty")
	require.Contains(t, newWaitingTestNode(t, key).preview(first, journal).Gap, lacks)
	said, err := recoverWith(left, "--yes", "--journal", lost.dir)
	require.NoError(t, err, said)
	require.Contains(t, said, "lost: "+lacks)
	require.Contains(t, said, "may have come back")
}

// TestEndsOfLogsMayDiffer: a leader that lost its majority leaves entries that the others
// never had. The journals of both nodes can still be combined, since at most one of the
// two ends was decided.
func TestEndsOfLogsMayDiffer(t *testing.T) {
	t.Parallel()
	n := newTestNode(t)
	first, key := n.backup(), n.key()
	shared := inspect(t, first).Seq
	n.close()
	dir := folderOf(t, n.dir)
	ends := map[string][]byte{}
	for name, user := range map[string]string{n.dir: "alice", dir: "bob"} {
		c := startTestNodeIn(t, name)
		c.await()
		c.disable(user)
		ends[user] = c.offlineJournal()
	}
	w := newWaitingTestNode(t, key)
	says := w.refuses(first, admin.RestoreOptions{Journals: [][]byte{ends["alice"], ends["bob"]}})
	require.Contains(t, says, "the journals contradict each other")

	end := func(user string, term uint64) []byte {
		return rewritten(t, ends[user], key, func(h *backup.Header, from *journal.History, to *journal.Journal) {
			if term > 0 {
				h.Tail = &backup.Tail{From: shared + 1, Term: term}
			}
			span := from.Spans()[0]
			to.Covered(span.From-1, span.FromAt)
			for r := range from.Records(0) {
				to.Append(r.Seq, r.At, r.Data)
			}
			to.Covered(span.To, span.ToAt)
		})
	}
	for name, test := range map[string]struct {
		alice, bob uint64 // last term of the log; 0 if the end of the journal was decided
		want       string
	}{
		"the later term":   {7, 9, "bob"},
		"in either order":  {9, 7, "alice"},
		"what was decided": {0, 9, "alice"},
	} {
		t.Run(name, func(t *testing.T) {
			r := w.preview(first, end("alice", test.alice), end("bob", test.bob))
			require.Empty(t, r.Gap)
			require.Len(t, r.Changes, 1)
			require.Contains(t, r.Changes[0], "user u-"+test.want+" disabled")
			require.Len(t, r.Warnings, int(min(test.alice, 1)), "a warning for the end that is used")
		})
	}
}

// TestRecoveryWithAnotherClusterKey: the lost nodes changed the cluster key after the
// survivor had stopped, and their journal has keys sealed under the new key.
func TestRecoveryWithAnotherClusterKey(t *testing.T) {
	t.Parallel()
	lost := newTestNode(t)
	old := lost.key()
	lost.close()
	left := folderOf(t, lost.dir)
	lost.start()
	lost.await()
	_, err := lost.s.Issuer.Rekey.Rewrap(t.Context(), false)
	require.NoError(t, err)
	require.NotEqual(t, old.ID(), lost.key().ID())
	key := lost.key()
	lost.close()

	said, err := recoverWith(left, "--yes", "--journal", lost.dir)
	require.Error(t, err)
	require.ErrorIs(t, err, restore.ErrKeyMissing, said)
	require.NoFileExists(t, filepath.Join(left, "raft", "recovered"))

	require.NoError(t, os.Remove(filepath.Join(left, "cluster.key")))
	require.NoError(t, key.WriteFile(filepath.Join(left, "cluster.key")))
	require.NoError(t, os.WriteFile(filepath.Join(left, "cluster.key.old"), old.Text(), 0o600))
	said, err = recoverWith(left, "--yes", "--journal", lost.dir)
	require.NoError(t, err, said)
	survivor := startTestNodeIn(t, left)
	survivor.await()
	for k := range survivor.view().Keys() {
		require.Equal(t, key.ID(), k.SealedUnder, k.ID)
	}
}

// listing returns the files of a folder with their sizes and times.
func listing(t testing.TB, dir string) (all []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		all = append(all, fmt.Sprintf("%s %d %s", path, info.Size(), info.ModTime()))
		return nil
	}))
	return all
}

// recoverIn recovers the node of a folder as a cluster of one.
func recoverIn(t testing.TB, dir string) {
	t.Helper()
	said, err := recoverWith(dir, "--yes")
	require.NoError(t, err, said)
}

// recoverWith returns the output of the command, including its error.
func recoverWith(dir string, args ...string) (said string, err error) {
	root := rootCommand()
	var out strings.Builder
	root.SetArgs(append([]string{"cluster", "recover", "--data-dir", dir}, args...))
	root.SetOut(&out)
	root.SetErr(&out)
	if err = root.Execute(); err != nil {
		out.WriteString(err.Error())
	}
	return out.String(), err
}

// folderOf returns a copy of the data of a stopped node.
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

// TestRecoveryLeavesNoHole: the journal of a recovered node has no gap, also if a crash
// cut off records that the log no longer has after the recovery.
func TestRecoveryLeavesNoHole(t *testing.T) {
	t.Parallel()
	c := newTestNode(t)
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
	dead := inspect(t, c.offlineJournal())
	require.Len(t, dead.Timelines, 1)
	mark, err := recovery.Pending(filepath.Join(c.dir, "raft"))
	require.NoError(t, err)
	require.LessOrEqual(t, dead.Seq, mark.Seq, "later commands belong to the new timeline")
	c.start()
	c.await()
	c.disable("bob")
	own := c.journal()

	r := newWaitingTestNode(t, c.key()).preview(first, own)
	require.Empty(t, r.Gap)
	all := strings.Join(r.Changes, "\n")
	require.Contains(t, all, "alice")
	require.Contains(t, all, "bob")
}
