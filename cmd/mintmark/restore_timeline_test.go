package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestRestoreDistinguishesTimelines: a restored cluster begins another timeline, in which
// the same positions have other commands. Changes of the abandoned timeline are not
// replayed on a backup of the new one.
func TestRestoreDistinguishesTimelines(t *testing.T) {
	t.Parallel()
	one := newTestNode(t)
	first := one.backup()
	one.disable("alice")
	between := one.backup()
	one.propose(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-alice", State: ledger.Promote})
	inFirst := one.journal()
	key := one.key()
	deadFirst := one.offlineJournal()
	life := inspect(t, first).Timelines
	require.Len(t, life, 1)
	require.Equal(t, life, inspect(t, inFirst).Timelines)
	require.Equal(t, life, inspect(t, deadFirst).Timelines, "the journal of a stopped node's folder has the timelines")
	require.Equal(t, testNodeURL, inspect(t, deadFirst).Cluster)

	// Another timeline, which becomes longer than the first.
	two := newWaitingTestNode(t, key)
	_, err := two.restore(first, admin.RestoreOptions{Journals: [][]byte{inFirst}})
	require.NoError(t, err)
	require.True(t, two.disabled("alice"))
	for range 20 {
		two.propose(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-alice", State: ledger.Enable})
		two.disable("alice")
	}
	second := two.backup()
	two.disable("bob")
	inSecond := two.journal()
	deadSecond := two.offlineJournal()
	lives := inspect(t, second).Timelines
	require.Len(t, lives, 2)
	require.Equal(t, life[0], lives[0])
	require.NotEqual(t, life[0].ID, lives[1].ID)
	require.Equal(t, inspect(t, first).Seq+1, lives[1].From)
	require.Equal(t, lives, inspect(t, inSecond).Timelines)
	require.Equal(t, lives, inspect(t, deadSecond).Timelines)

	w := newWaitingTestNode(t, key)
	for name, test := range map[string]struct {
		state    []byte
		journals [][]byte
		changes  int // -1: refused
		says     string
	}{
		"its own":                          {second, [][]byte{inSecond, deadSecond}, 1, ""},
		"the one that was given up":        {second, [][]byte{inFirst}, -1, "the journal is of timeline " + life[0].ID + " of the cluster, which ended"},
		"the same, of a dead node":         {second, [][]byte{deadFirst}, -1, "which ended"},
		"both":                             {second, [][]byte{inSecond, inFirst}, -1, "which ended"},
		"the life out of this backup":      {first, [][]byte{inSecond}, 43, ""},
		"both lives, from their beginning": {first, [][]byte{inFirst, inSecond}, 43, ""},
		"its own, which was given up":      {first, [][]byte{inFirst}, 2, ""},
		"a life out of an older backup":    {between, [][]byte{inSecond}, -1, "which began when an older backup"},
	} {
		t.Run(name, func(t *testing.T) {
			o := admin.RestoreOptions{Journals: test.journals, DryRun: true}
			if test.changes < 0 {
				require.Contains(t, w.refuses(test.state, o), test.says)
				o.DryRun, o.AcceptGap = false, true
				require.Contains(t, w.refuses(test.state, o), test.says, "AcceptGap does not allow it either")
				return
			}
			r := w.preview(test.state, test.journals...)
			require.Empty(t, r.Gap)
			require.Empty(t, r.Warnings)
			require.Len(t, r.Changes, test.changes)
		})
	}

	// Two other timelines that both began with the first backup.
	other := newWaitingTestNode(t, key)
	_, err = other.restore(first, admin.RestoreOptions{AcceptGap: true})
	require.NoError(t, err)
	stranger := other.journal()
	require.Contains(t, w.refuses(first, admin.RestoreOptions{Journals: [][]byte{inSecond, stranger}}), "different restores")
	require.Contains(t, w.refuses(second, admin.RestoreOptions{Journals: [][]byte{stranger}}), "different restores")

	// Revocations of the second timeline are replayed on the first backup.
	_, err = w.restore(first, admin.RestoreOptions{Journals: [][]byte{inSecond}})
	require.NoError(t, err)
	require.True(t, w.disabled("alice"))
	require.True(t, w.disabled("bob"))
}

// TestRestoreOfFilesWithoutATimeline: a journal from the first moments of a cluster has
// no timeline. It is accepted, with a warning that this could not be verified.
func TestRestoreOfFilesWithoutATimeline(t *testing.T) {
	t.Parallel()
	n := newTestNode(t)
	state := n.backup()
	n.disable("alice")
	late, key := n.journal(), n.key()
	n.close()
	old := rewritten(t, late, key, func(h *backup.Header, from *journal.History, to *journal.Journal) {
		h.Timelines = nil
		to.Covered(0, 0)
		for r := range from.Records(0) {
			to.Append(r.Seq, r.At, r.Data)
		}
	})
	w := newWaitingTestNode(t, key)
	r := w.preview(state, old)
	require.Len(t, r.Changes, 1)
	require.Len(t, r.Warnings, 1)
	require.Contains(t, r.Warnings[0], "names no timeline of the cluster")
	require.Empty(t, w.preview(state, late).Warnings)
}
