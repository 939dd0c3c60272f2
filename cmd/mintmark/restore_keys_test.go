package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/keyring"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/restore"
	"github.com/mintmark-auth/mintmark/keys"
)

// TestRestoreAcrossClusterKeys: a backup from before a change of the cluster key is
// restored with a journal from after it. Each file is opened with the key that its header
// names, and the restored keyring is sealed under the node's own key.
func TestRestoreAcrossClusterKeys(t *testing.T) {
	t.Parallel()
	n := newTestNode(t)
	old := n.key()
	state := n.backup()
	before := n.journal()
	n.disable("alice")
	_, err := admin.RewrapKeys.Call(t.Context(), n.operator(), admin.RewrapRequest{})
	require.NoError(t, err)
	now := n.key()
	require.NotEqual(t, old.ID(), now.ID())
	added, err := n.s.Issuer.Keyring.Add(t.Context(), ledger.ForSigning)
	require.NoError(t, err)
	after := n.journal()
	n.close()
	require.Equal(t, old.ID(), inspect(t, state).ClusterKey)
	require.Equal(t, now.ID(), inspect(t, after).ClusterKey)
	given := []admin.Plain{admin.Plain(old.Text())}

	// restored requires that nothing is sealed under another key than the node's own.
	restored := func(t *testing.T, w *testNode) {
		t.Helper()
		require.Equal(t, now.ID(), w.key().ID())
		for row := range w.view().Keys() {
			require.Equal(t, now.ID(), row.SealedUnder, row.ID)
		}
		w.close()
		_ = os.Remove(filepath.Join(w.dir, "cluster.key.old"))
		w.start()
		w.await()
		require.NoError(t, keyring.CheckOpenable(slices.Collect(w.view().Keys()), keys.FixedClusterKey(now, "")))
	}

	t.Run("with a key that others can read", func(t *testing.T) {
		w := newWaitingTestNode(t, old)
		require.NoError(t, os.Chmod(filepath.Join(w.dir, "cluster.key"), 0o644))
		_, err := w.restore(state, admin.RestoreOptions{AcceptGap: true})
		require.ErrorContains(t, err, filepath.Join(w.dir, "cluster.key")+": key file is open to others")
		var refused *admin.Problem
		require.ErrorAs(t, err, &refused)
		require.Equal(t, admin.Refused, refused.Class)
	})
	t.Run("without the old key", func(t *testing.T) {
		w := newWaitingTestNode(t, now)
		_, err := w.restore(state, admin.RestoreOptions{Journals: [][]byte{after}})
		require.ErrorContains(t, err, "sealed under cluster key "+old.ID())
		require.ErrorIs(t, err, restore.ErrKeyMissing)
	})
	t.Run("a damaged file is not a matter of keys", func(t *testing.T) {
		w := newWaitingTestNode(t, now)
		short := w.refuses(state[:len(state)/2], admin.RestoreOptions{AcceptGap: true})
		require.Contains(t, short, "cut short")
		require.NotContains(t, short, "key")
		short = w.refuses(state, admin.RestoreOptions{Journals: [][]byte{before[:len(before)-1]}, Keys: given})
		require.Contains(t, short, "cut short")
		require.NotContains(t, short, "key")
		require.NoError(t, os.Remove(filepath.Join(w.dir, "cluster.key")))
		require.Contains(t, w.refuses(state[:len(state)-1], admin.RestoreOptions{AcceptGap: true}), "cut short")
		require.Contains(t, w.refuses(state, admin.RestoreOptions{AcceptGap: true}), "cluster.key is missing")
	})
	t.Run("with the old key given", func(t *testing.T) {
		w := newWaitingTestNode(t, now)
		r, err := w.restore(state, admin.RestoreOptions{Journals: [][]byte{after}, Keys: given})
		require.NoError(t, err)
		require.Empty(t, r.Gap)
		require.True(t, w.disabled("alice"))
		restored(t, w)
	})
	t.Run("with the old key beside the new one", func(t *testing.T) {
		w := newWaitingTestNode(t, now)
		require.NoError(t, os.WriteFile(filepath.Join(w.dir, "cluster.key.old"), old.Text(), 0o600))
		_, err := w.restore(state, admin.RestoreOptions{Journals: [][]byte{before, after}})
		require.NoError(t, err)
		require.True(t, w.disabled("alice"))
		restored(t, w)
	})
	t.Run("a change is not undone", func(t *testing.T) {
		w := newWaitingTestNode(t, old)
		why := w.refuses(state, admin.RestoreOptions{Journals: [][]byte{after}, Keys: []admin.Plain{admin.Plain(now.Text())}})
		require.Contains(t, why, "the cluster key was changed to "+now.ID())
	})
	t.Run("without a journal", func(t *testing.T) {
		w := newWaitingTestNode(t, now)
		_, err := w.restore(state, admin.RestoreOptions{AcceptGap: true, Keys: given})
		require.NoError(t, err)
		require.False(t, w.disabled("alice"))
		restored(t, w)
	})
	t.Run("the change is in a hole", func(t *testing.T) {
		lost := rewritten(t, after, now, func(_ *backup.Header, from *journal.History, to *journal.Journal) {
			to.Covered(0, 0)
			known := recordsOf(t, from)
			for r := range from.Records(0) {
				if known[r.Seq].Effects[0].Kind == ledger.EffectRewrapped {
					to.Skipped(r.Seq, r.Seq, r.At)
					continue
				}
				to.Append(r.Seq, r.At, r.Data)
			}
		})
		w := newWaitingTestNode(t, now)
		r, err := w.restore(state, admin.RestoreOptions{Journals: [][]byte{lost}, AcceptGap: true, Keys: given})
		require.NoError(t, err)
		require.NotEmpty(t, r.Gap)
		require.NotNil(t, w.view().Key(added), "the new key survives in a keyring that was under two cluster keys")
		restored(t, w)
	})
	t.Run("a key that nobody has", func(t *testing.T) {
		w := newWaitingTestNode(t, old)
		require.Contains(t, w.refuses(state, admin.RestoreOptions{Journals: [][]byte{after}}), "this journal is sealed under cluster key "+now.ID())
		// The journal itself can be opened, but a key that it adds can't.
		under := rewrappedFile(t, after, now, old)
		_, err := w.restore(state, admin.RestoreOptions{Journals: [][]byte{under}, AcceptGap: true})
		require.ErrorContains(t, err, "is sealed under cluster key "+now.ID())
		require.ErrorIs(t, err, restore.ErrKeyMissing)
	})
}

// recordsOf returns the records of a journal by Seq.
func recordsOf(t testing.TB, h *journal.History) map[uint64]ledger.Record {
	t.Helper()
	all := map[uint64]ledger.Record{}
	for r := range h.Records(0) {
		var record ledger.Record
		require.NoError(t, machine.Unmarshal(r.Data, &record))
		all[record.Seq] = record
	}
	return all
}
