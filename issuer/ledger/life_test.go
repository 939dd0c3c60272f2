package ledger_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestLives: a cluster gets a life once, and another at each restore. What came
// before stays in the list.
func TestLives(t *testing.T) {
	w := newWorld(t)
	require.Empty(t, w.view().Lives())
	w.must(&ledger.BeginLife{})
	first := w.view().Lives()
	require.Len(t, first, 1)
	require.Equal(t, uint64(1), first[0].From)
	_, wrote := w.do(&ledger.BeginLife{}, "", false)
	require.False(t, wrote, "it has one")
	require.Zero(t, w.view().Restore().Count, "that is no restore")
	require.Zero(t, w.view().Restore().Seq, "and softens no rule")

	w.backup("b")
	seq := w.seq
	w.run("user alice")
	w.run("restore b")
	second := w.view().Lives()
	require.Len(t, second, 2)
	require.Equal(t, first[0], second[0])
	require.Equal(t, seq+1, second[1].From)
	require.NotEqual(t, first[0].ID, second[1].ID)
	w.run("replay")
	require.Equal(t, second, w.view().Lives())

	w.run("restore b")
	third := w.view().Lives()
	require.Len(t, third, 2)
	require.Equal(t, first[0], third[0])
	require.NotEqual(t, second[1].ID, third[1].ID, "the same backup once more is another life")

	w.backup("c")
	w.run("restore c")
	require.Equal(t, third, w.view().Lives()[:2])
	require.Len(t, w.view().Lives(), 3)

	o, _ := w.do(&ledger.BeginRestore{Backup: w.seq + 100}, "", false)
	require.Equal(t, ledger.BadField, o.Refusal.Cause)
}

// TestLifeAfterARecovery: the survivor's life begins once, where it may differ
// from that of the lost nodes, and is no restore.
func TestLifeAfterARecovery(t *testing.T) {
	w := newWorld(t)
	w.must(&ledger.BeginLife{})
	w.run("user alice")
	w.backup("b")
	w.run("user bob")
	w.run("restore b")
	before := *w.view().Restore()
	require.NotZero(t, before.Seq)
	w.run("user carol")

	next := ledger.Life{ID: ledger.CommandID{7}, From: w.seq + 1}
	_, wrote := w.do(&ledger.BeginLife{Next: &next}, "", false)
	require.True(t, wrote)
	want := before
	want.Lives = append(slices.Clone(before.Lives), next)
	require.Equal(t, want, *w.view().Restore(), "nothing else changes")
	_, wrote = w.do(&ledger.BeginLife{Next: &next}, "", false)
	require.False(t, wrote, "it has begun")
	_, wrote = w.do(&ledger.BeginLife{}, "", false)
	require.False(t, wrote)

	for _, from := range []uint64{0, w.seq + 100} {
		o, _ := w.do(&ledger.BeginLife{Next: &ledger.Life{ID: ledger.CommandID{8}, From: from}}, "", false)
		require.Equal(t, ledger.BadField, o.Refusal.Cause)
	}
}

// TestLifeAfterARecoveryIsTheSecond: the lost nodes had one, though they did not
// know it.
func TestLifeAfterARecoveryIsTheSecond(t *testing.T) {
	w := newWorld(t)
	w.run("user alice")
	next := ledger.Life{ID: ledger.CommandID{7}, From: w.seq + 1}
	w.must(&ledger.BeginLife{Next: &next})
	lives := w.view().Lives()
	require.Len(t, lives, 2)
	require.Equal(t, uint64(1), lives[0].From)
	require.Equal(t, next, lives[1])
	require.Zero(t, w.view().Restore().Count)
}

// TestLifeBeginsByCommandsOfItsLevel: an older program would not know it.
func TestLifeBeginsByCommandsOfItsLevel(t *testing.T) {
	require.Equal(t, uint32(2), ledger.KindBeginLife.Level())
	w := newWorld(t)
	w.must(&ledger.BeginLife{})
	m := ledger.Meta{Seq: 100, At: w.at(), Level: 1}
	row := func(d ledger.Decision) *ledger.Restore {
		require.Nil(t, d.Outcome.Refusal)
		return d.Changes[0].Row.(*ledger.Restore)
	}
	c := &ledger.BeginRestore{Backup: 7}
	require.Len(t, row(c.Decide(w.view(), m)).Lives, 1)
	m.Level = 2
	require.Len(t, row(c.Decide(w.view(), m)).Lives, 2)
	require.Len(t, w.view().Lives(), 1, "what a view has is not changed")
}
