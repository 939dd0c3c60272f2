package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestRestoreSaysWhatIsKnown: a restore reports the span that the journal covers, its
// gaps, and the time after which nothing is known. Without AcceptGap a gap prevents the
// restore.
func TestRestoreSaysWhatIsKnown(t *testing.T) {
	t.Parallel()
	n := newTestNode(t)
	early := n.journal()
	n.disable("alice")
	state := n.backup()
	just := n.journal()
	n.disable("bob")
	late := n.journal()
	key := n.key()
	saved, ended := inspect(t, state), inspect(t, late)
	require.Less(t, inspect(t, early).Seq, saved.Seq)
	require.Greater(t, ended.Seq, saved.Seq)
	n.close()
	// copied copies a span of records from one journal to another.
	copied := func(from *journal.History, to *journal.Journal, after, upTo uint64) {
		for r := range from.Records(after) {
			if r.Seq <= upTo {
				to.Append(r.Seq, r.At, r.Data)
			}
		}
		to.Covered(upTo, from.Spans()[0].ToAt)
	}
	at := saved.StateTime.UnixMilli()
	empty := rewritten(t, late, key, func(*backup.Header, *journal.History, *journal.Journal) {})
	holes := rewritten(t, late, key, func(_ *backup.Header, from *journal.History, to *journal.Journal) {
		to.Covered(0, 0)
		copied(from, to, 0, saved.Seq-2)
		to.Skipped(saved.Seq-1, saved.Seq+10, at+10)
		to.Covered(saved.Seq+12, at+12)
		to.Skipped(saved.Seq+13, saved.Seq+20, at+20)
		to.Covered(saved.Seq+25, at+25)
	})

	w := newWaitingTestNode(t, key)
	r := w.preview(state, late)
	require.Empty(t, r.Gap)
	require.Empty(t, r.Warnings)
	require.Len(t, r.Covered, 1)
	require.Equal(t, []any{ended.From, ended.Seq, ended.StateTime}, []any{r.Covered[0].From, r.Covered[0].To, r.Covered[0].Ends})
	require.Equal(t, ended.StateTime, r.KnownUntil)
	require.Equal(t, ended.Seq, r.Journal)
	require.Len(t, r.Changes, 1)
	require.Contains(t, r.Changes[0], "user u-bob disabled")

	r = w.preview(state, just)
	require.Empty(t, r.Gap, "the journal ends at the backup")
	require.Equal(t, saved.StateTime, r.KnownUntil)

	for name, test := range map[string]struct {
		journals [][]byte
		known    time.Time
		says     []string
	}{
		"no journal":        {nil, saved.StateTime, []string{"there is no journal: whatever was revoked, suspended, disabled or changed after " + formatUTC(saved.StateTime) + " is as it was then"}},
		"an empty one":      {[][]byte{empty}, saved.StateTime, []string{"the journal is empty"}},
		"before the backup": {[][]byte{early}, saved.StateTime, []string{"the journal ends at " + formatUTC(inspect(t, early).StateTime), "before the backup (" + formatUTC(saved.StateTime)}},
		"holes": {[][]byte{holes}, time.UnixMilli(at + 25).UTC(), []string{
			"the journal has nothing from " + formatUTC(saved.StateTime) + " to ", "; the journal has nothing from ",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := w.preview(state, test.journals...)
			why := w.refuses(state, admin.RestoreOptions{Journals: test.journals})
			for _, text := range test.says {
				require.Contains(t, r.Gap, text)
				require.Contains(t, why, text)
			}
			require.Equal(t, test.known, r.KnownUntil)
			require.Contains(t, why, server.ErrGap.Error())
			for _, text := range []string{r.Gap, why} {
				require.NotContains(t, text, "; ;")
				require.NotRegexp(t, `; ?$`, text)
			}
		})
	}
	require.Contains(t, w.preview(state, holes).Gap, fmt.Sprintf("(commands %d to", saved.Seq+1))
	require.Contains(t, w.preview(state, holes, late).Gap, fmt.Sprintf("(commands %d to", ended.Seq+1), "journals complete each other")

	r, err := w.restore(state, admin.RestoreOptions{Journals: [][]byte{early}, AcceptGap: true})
	require.NoError(t, err)
	require.NotEmpty(t, r.Gap)
	require.True(t, w.disabled("alice"))
	require.False(t, w.disabled("bob"), "bob was disabled after the end of the journal")
}

// TestRestoreSaysWhatItLeaves: journaled changes that can't be applied are reported by
// kind and count, and by name if an operator has to act.
func TestRestoreSaysWhatItLeaves(t *testing.T) {
	t.Parallel()
	n := newTestNode(t)
	state := n.backup()
	first := n.view().ActiveKey(ledger.ForSigning).ID
	n.propose(&ledger.PutUser{ID: "u-carol", Username: "carol", Password: "x"})
	n.disable("carol")
	_, err := n.s.Issuer.Rekey.Replace(t.Context(), first)
	require.NoError(t, err)
	late, key := n.journal(), n.key()
	require.Nil(t, n.view().Key(first))
	n.close()
	lost := rewritten(t, late, key, func(_ *backup.Header, from *journal.History, to *journal.Journal) {
		to.Covered(0, 0)
		known := recordsOf(t, from)
		for r := range from.Records(0) {
			if r.Seq > inspect(t, state).Seq && known[r.Seq].Effects[0].Kind != ledger.EffectKeyDropped {
				to.Skipped(r.Seq, r.Seq, r.At)
				continue
			}
			to.Append(r.Seq, r.At, r.Data)
		}
	})
	w := newWaitingTestNode(t, key)
	r := w.preview(state, late)
	require.Contains(t, r.Skipped, admin.SkippedChanges{What: "users disabled", Count: 1}, "carol is newer than the backup")
	require.Empty(t, r.NotDone)

	r = w.preview(state, lost)
	require.NotEmpty(t, r.Gap)
	require.Equal(t, []admin.SkippedChanges{{What: "keys dropped", Count: 1}}, r.Skipped)
	require.Len(t, r.NotDone, 1)
	require.Contains(t, r.NotDone[0], "key "+first+" dropped in emergency")
	require.Contains(t, r.NotDone[0], "still in use")
}

// formatUTC formats a time as the reports of a restore do.
func formatUTC(t time.Time) string { return t.UTC().Format(time.RFC3339) }
