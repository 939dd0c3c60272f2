package ledger_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestTimelines verifies that a cluster gets its first timeline once, and another with each
// restore, and that earlier timelines stay in the list.
func TestTimelines(t *testing.T) {
	w := newEnv(t)
	require.Empty(t, w.view().Timelines())
	w.must(&ledger.BeginTimeline{})
	first := w.view().Timelines()
	require.Len(t, first, 1)
	require.Equal(t, uint64(1), first[0].From)
	_, wrote := w.do(&ledger.BeginTimeline{}, "", false)
	require.False(t, wrote, "there is a timeline already")
	require.Zero(t, w.view().Restore().Count, "a first timeline is no restore")
	require.Zero(t, w.view().Restore().Seq, "a first timeline relaxes no rule")

	w.backup("b")
	seq := w.seq
	w.run("user alice")
	w.run("restore b")
	second := w.view().Timelines()
	require.Len(t, second, 2)
	require.Equal(t, first[0], second[0])
	require.Equal(t, seq+1, second[1].From)
	require.NotEqual(t, first[0].ID, second[1].ID)
	w.run("replay")
	require.Equal(t, second, w.view().Timelines())

	w.run("restore b")
	third := w.view().Timelines()
	require.Len(t, third, 2)
	require.Equal(t, first[0], third[0])
	require.NotEqual(t, second[1].ID, third[1].ID, "another restore of the same backup begins another timeline")

	w.backup("c")
	w.run("restore c")
	require.Equal(t, third, w.view().Timelines()[:2])
	require.Len(t, w.view().Timelines(), 3)

	o, _ := w.do(&ledger.BeginRestore{Backup: w.seq + 100}, "", false)
	require.Equal(t, ledger.BadField, o.Refusal.Cause)
}

// TestTimelineAfterARecovery verifies that the remaining node's timeline begins once, and
// permits one fast-forward of each grant.
func TestTimelineAfterARecovery(t *testing.T) {
	w := newEnv(t)
	w.must(&ledger.BeginTimeline{})
	w.run("user alice")
	w.backup("b")
	w.run("user bob")
	w.run("restore b")
	before := *w.view().Restore()
	require.NotZero(t, before.Seq)
	w.run("user carol")

	next := ledger.Timeline{ID: command.ID{7}, From: w.seq + 1}
	_, wrote := w.do(&ledger.BeginTimeline{Next: &next}, "", false)
	require.True(t, wrote)
	after := *w.view().Restore()
	want := before
	want.Timelines = append(slices.Clone(before.Timelines), next)
	want.Count, want.Seq, want.Last = before.Count+1, w.seq, after.Last
	require.NotEqual(t, before.Last, after.Last)
	require.Equal(t, want, after, "a recovery extends no expiry")
	require.Contains(t, w.run("show audit last=1"), string(ledger.EventRecovered))
	_, wrote = w.do(&ledger.BeginTimeline{Next: &next}, "", false)
	require.False(t, wrote, "the timeline has begun already")
	_, wrote = w.do(&ledger.BeginTimeline{}, "", false)
	require.False(t, wrote)

	for _, from := range []uint64{0, w.seq + 100} {
		o, _ := w.do(&ledger.BeginTimeline{Next: &ledger.Timeline{ID: command.ID{8}, From: from}}, "", false)
		require.Equal(t, ledger.BadField, o.Refusal.Cause)
	}
}

// TestTimelineAfterARecoveryIsTheSecond covers lost nodes that had not recorded their first
// timeline.
func TestTimelineAfterARecoveryIsTheSecond(t *testing.T) {
	w := newEnv(t)
	w.run("user alice")
	next := ledger.Timeline{ID: command.ID{7}, From: w.seq + 1}
	w.must(&ledger.BeginTimeline{Next: &next})
	lives := w.view().Timelines()
	require.Len(t, lives, 2)
	require.Equal(t, uint64(1), lives[0].From)
	require.Equal(t, next, lives[1])
	require.Zero(t, w.view().Restore().At, "a recovery extends no idle time")
}

// TestReplayOfWhatTheSurvivorHas: the remaining node's log may go further than is known.
// Records that it has applied already, above all records of keys, must not make the
// replay fail.
func TestReplayOfWhatTheSurvivorHas(t *testing.T) {
	w := newEnv(t)
	w.must(&ledger.BeginTimeline{})
	for _, line := range []string{
		"acknowledge n1 keys=c1,k1,k2,c2", "user alice", "sign-in alice", "import cal owner=alice secrets=s1 scopes=PROFILE_READ",
		"add-key k2 purpose=signing", "activate k2 voters=n1 emergency", "drop k1 emergency", "add-key c2 purpose=credential number=2",
		"user-state alice to=disable",
	} {
		w.run(line)
	}
	keys, before := w.run("show keys"), w.journal
	w.must(&ledger.BeginTimeline{Next: &ledger.Timeline{ID: command.ID{7}, From: 2}})
	for _, c := range ledger.Replays(1, before) {
		w.must(c)
	}
	require.Equal(t, keys, w.run("show keys"))
	require.True(t, w.view().User("u-alice").Disabled)
}

// TestRevocations verifies that every kind of effect either gives access or is listed by
// RevokingEffects.
func TestRevocations(t *testing.T) {
	var names []string
	for _, kind := range ledger.RevokingEffects() {
		names = append(names, kind.String())
	}
	require.Equal(t, []string{
		"grants ended", "users disconnected", "grants without limits ended", "sessions ended", "users signed out everywhere",
		"passwords changed", "users disabled", "users deleted", "administrators dismissed", "states of clients changed",
		"clients deleted", "clients narrowed", "legacy clients given scopes", "client secrets revoked", "keys dropped",
		"changes of the cluster key", "clients transferred", "operator tokens revoked",
		"secrets of resource servers revoked", "resource servers removed", "resource servers narrowed",
		"clients disconnected from every user", "publishers rejected", "publishers removed", "publishers narrowed",
		"ends of client secrets planned or cancelled", "addresses of feeds made or removed",
	}, names)
}
