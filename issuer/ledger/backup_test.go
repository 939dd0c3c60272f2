package ledger_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const every = time.Hour

// lease is how long a node of these tests may be silent.
var lease = ledger.BackupLease(every)

func offer(node string, begin bool) *ledger.ChooseBackupNode {
	return &ledger.ChooseBackupNode{Node: node, Name: "name of " + node, Every: every, Begin: begin}
}

// saved returns the record of the backup that was begun last.
func (w *env) saved(node string) *ledger.RecordBackup {
	return &ledger.RecordBackup{Node: node, Begun: w.view().BackupSchedule().Begun, File: "/backups/1", Bytes: 7, Seq: 3}
}

func (w *env) failed(node string) *ledger.RecordBackup {
	return &ledger.RecordBackup{Node: node, Begun: w.view().BackupSchedule().Begun, Failure: ledger.BackupDiskFull}
}

// begins proposes an offer that must begin a backup.
func (w *env) begins(node string) {
	w.t.Helper()
	o, _ := w.do(offer(node, true), "", false)
	require.Nil(w.t, o.Refusal)
	require.NotZero(w.t, o.Begun)
	require.Equal(w.t, w.view().BackupSchedule().Begun, o.Begun)
}

// refusedUntil proposes a command that must be refused, and returns how far ahead the
// time is from which it would not be.
func (w *env) refusedUntil(c *ledger.ChooseBackupNode) time.Duration {
	w.t.Helper()
	o, changed := w.do(c, "", false)
	require.NotNil(w.t, o.Refusal)
	require.Equal(w.t, ledger.WrongState, o.Refusal.Cause)
	require.False(w.t, changed)
	return o.Refusal.When.Std().Sub(w.now)
}

func TestBackupLease(t *testing.T) {
	require.Equal(t, 15*time.Second, ledger.BackupLease(10*time.Second))
	require.Equal(t, 5*time.Minute, ledger.BackupLease(10*time.Minute))
	require.Equal(t, 10*time.Minute, ledger.BackupLease(24*time.Hour))
}

// TestBackupNodeIsChosenOnce: the first node that offers makes the backups while it renews
// its offer, and another one takes over when it is silent for too long.
func TestBackupNodeIsChosenOnce(t *testing.T) {
	w := newEnv(t)
	require.Empty(t, w.view().BackupSchedule().Node)
	w.must(offer("a", false))
	require.Equal(t, lease, w.refusedUntil(offer("b", true)))
	for range 5 {
		w.now = w.now.Add(lease - time.Second)
		require.Equal(t, time.Second, w.refusedUntil(offer("b", false)))
		w.must(offer("a", false))
	}
	w.now = w.now.Add(lease)
	renewal := offer("b", false)
	renewal.Renews = true
	require.Zero(t, w.refusedUntil(renewal)+w.now.Sub(time.UnixMilli(0)), "a node that was not chosen renewed its offer")
	w.must(offer("b", true))
	s := w.view().BackupSchedule()
	require.Equal(t, "b", s.Node)
	require.Equal(t, "name of b", s.Name)
	require.Zero(t, s.Begun, "a node begins only after it knows that it was chosen")
	w.begins("b")
}

// TestBackupOncePerPeriod: one backup begins in each period, whoever asks how often, and
// also after another node took over.
func TestBackupOncePerPeriod(t *testing.T) {
	w := newEnv(t)
	w.must(offer("a", false))
	w.begins("a")
	require.Equal(t, lease, w.refusedUntil(offer("a", true)), "it is still being written")
	w.now = w.now.Add(time.Minute)
	w.must(w.saved("a"))
	s := w.view().BackupSchedule()
	require.Equal(t, ledger.SavedBackup{Node: "name of a", File: "/backups/1", At: w.at().Add(-time.Minute), Bytes: 7, Seq: 3}, *s.Saved)
	require.Equal(t, every-time.Minute, w.refusedUntil(offer("a", true)))
	w.now = w.now.Add(lease)
	w.must(offer("b", false))
	require.Equal(t, every-time.Minute-lease, w.refusedUntil(offer("b", true)), "the node that took over makes a second backup in the period")
	w.now = w.now.Add(every)
	w.begins("b")
}

// TestBackupInterrupted: a backup whose node was restarted is made again after a while, and
// by another node at once when it takes over.
func TestBackupInterrupted(t *testing.T) {
	w := newEnv(t)
	w.must(offer("a", false))
	w.begins("a")
	w.now = w.now.Add(lease)
	w.begins("a")
	late := w.saved("a")
	w.now = w.now.Add(lease)
	w.must(offer("b", false))
	w.begins("b")
	o, changed := w.do(late, "", false)
	require.NotNil(t, o.Refusal, "the backup of the node that was replaced was recorded")
	require.False(t, changed)
	w.must(w.saved("b"))
	o, _ = w.do(w.saved("b"), "", false)
	require.NotNil(t, o.Refusal, "a backup was recorded twice")
}

// TestBackupFailed: another node may take over at once from one whose backup failed, which
// waits before it tries again.
func TestBackupFailed(t *testing.T) {
	w := newEnv(t)
	w.must(&ledger.AcknowledgeKeys{Node: "a"})
	w.must(&ledger.AcknowledgeKeys{Node: "b"})
	w.must(offer("a", false))
	w.begins("a")
	w.must(w.saved("a"))
	w.now = w.now.Add(every)
	w.begins("a")
	w.must(w.failed("a"))
	s := w.view().BackupSchedule()
	require.Empty(t, s.Node)
	require.Equal(t, []ledger.FailedBackup{{Node: "a", Name: "name of a", At: w.at(), Reason: ledger.BackupDiskFull}}, s.Failed)
	require.NotNil(t, s.Saved, "the last good backup was forgotten")

	require.Equal(t, lease, w.refusedUntil(offer("a", false)))
	w.must(offer("b", false))
	w.begins("b")
	w.must(w.failed("b"))
	require.Len(t, w.view().BackupSchedule().Failed, 2)
	w.now = w.now.Add(lease)
	w.must(offer("a", false))
	w.begins("a")
	w.must(w.saved("a"))
	s = w.view().BackupSchedule()
	require.Len(t, s.Failed, 1, "a failure was kept after a success of the same node")
	require.Equal(t, "b", s.Failed[0].Node)

	w.must(&ledger.ForgetNode{Node: "b"})
	w.now = w.now.Add(every)
	w.begins("a")
	w.must(w.failed("a"))
	s = w.view().BackupSchedule()
	require.Len(t, s.Failed, 1, "the failure of a node that was removed was kept")
	require.Equal(t, "a", s.Failed[0].Node)
}

// TestBackupFailureEnds: a failure is known for a period, and until a backup of the cluster
// succeeds, since the node that failed may never make one again.
func TestBackupFailureEnds(t *testing.T) {
	w := newEnv(t)
	w.must(&ledger.AcknowledgeKeys{Node: "a"})
	w.must(&ledger.AcknowledgeKeys{Node: "b"})
	w.must(offer("a", false))
	w.begins("a")
	w.must(w.failed("a"))
	w.must(offer("b", false))
	w.begins("b")
	w.must(w.saved("b"))
	require.Len(t, w.view().BackupSchedule().Failed, 1, "the success of the other node at once hides the failure")
	w.now = w.now.Add(every)
	w.must(offer("b", false))
	require.Len(t, w.view().BackupSchedule().Failed, 1, "nothing was made since")
	w.begins("b")
	w.must(w.saved("b"))
	require.Empty(t, w.view().BackupSchedule().Failed)
}

func TestBackupOverdue(t *testing.T) {
	w := newEnv(t)
	overdue := func() bool { return w.view().BackupSchedule().Overdue(w.at()) }
	w.now = w.now.Add(time.Hour)
	require.False(t, overdue(), "no backups are scheduled")
	w.must(offer("a", false))
	w.now = w.now.Add(2 * every)
	w.must(offer("a", false)) // which is no reason to wait again
	require.False(t, overdue())
	w.now = w.now.Add(time.Millisecond)
	require.True(t, overdue(), "the first backup is missing")
	w.begins("a")
	w.must(w.saved("a"))
	require.False(t, overdue())
	w.now = w.now.Add(2*every + time.Millisecond)
	require.True(t, overdue())

	w.must(&ledger.ChooseBackupNode{Node: "b"}) // was not chosen, and makes none
	require.Equal(t, "a", w.view().BackupSchedule().Node)
	w.must(&ledger.ChooseBackupNode{Node: "a"})
	s := w.view().BackupSchedule()
	require.Empty(t, s.Node)
	require.NotNil(t, s.Saved)
	require.False(t, overdue(), "no backups are scheduled any more")
	w.must(offer("a", false))
	require.False(t, overdue(), "they are scheduled since just now")
	w.begins("a")
}

// TestBackupClockLeap: when state time goes ahead by far, one backup is due, not one for
// each period.
func TestBackupClockLeap(t *testing.T) {
	w := newEnv(t)
	w.must(offer("a", false))
	w.begins("a")
	w.must(w.saved("a"))
	w.now = w.now.Add(1000 * every)
	w.begins("a")
	w.must(w.saved("a"))
	require.Equal(t, every, w.refusedUntil(offer("a", true)))
}

// TestBackupsOfAnotherTimeline: a restored cluster, and one that was recovered from a
// single node, does not present backups of the earlier timeline as its own.
func TestBackupsOfAnotherTimeline(t *testing.T) {
	for _, way := range []string{"restore b", "recover b"} {
		w := newEnv(t)
		w.must(offer("a", false))
		w.begins("a")
		w.must(w.saved("a"))
		w.run("backup b")
		require.Equal(t, "ok", w.run(way))
		require.Equal(t, ledger.BackupSchedule{ID: "backups"}, *w.view().BackupSchedule())
		w.must(offer("a", false))
		w.begins("a")
	}
}

func TestBackupRepeated(t *testing.T) {
	w := newEnv(t)
	do := func(c *ledger.ChooseBackupNode, name string, again bool) ledger.Outcome {
		o, _ := w.do(c, name, again)
		require.Nil(t, o.Refusal)
		return o
	}
	do(offer("a", false), "choose", false)
	do(offer("a", false), "choose", true)
	begun := do(offer("a", true), "begin", false).Begun
	require.NotZero(t, begun)
	require.Equal(t, begun, do(offer("a", true), "begin", true).Begun, "a proposal of unknown fate began a backup that nobody makes")
	for _, again := range []bool{false, true} {
		require.Zero(t, do(offer("a", false), "renew", again).Begun, "a renewal began a backup")
	}
	record := w.saved("a")
	for _, again := range []bool{false, true} {
		o, _ := w.do(record, "record", again)
		require.Nil(t, o.Refusal)
	}
}

func TestBackupBadCommands(t *testing.T) {
	w := newEnv(t)
	for _, c := range []*ledger.ChooseBackupNode{{Every: every}, {Node: "a", Every: -1}} {
		o, _ := w.do(c, "", false)
		require.Equal(t, ledger.BadField, o.Refusal.Cause)
	}
	w.must(offer("a", false))
	w.begins("a")
	begun := w.view().BackupSchedule().Begun
	for _, c := range []*ledger.RecordBackup{
		{Node: "a", Begun: begun},
		{Node: "a", Begun: begun, File: "x"},
		{Node: "a", Begun: begun, Bytes: 1},
		{Node: "a", Begun: begun, Failure: "no such reason"},
	} {
		o, _ := w.do(c, "", false)
		require.Equal(t, ledger.BadField, o.Refusal.Cause)
	}
	for _, c := range []*ledger.RecordBackup{
		{Node: "b", Begun: begun, File: "x", Bytes: 1},
		{Node: "a", Begun: begun + 1, File: "x", Bytes: 1},
	} {
		o, _ := w.do(c, "", false)
		require.Equal(t, ledger.WrongState, o.Refusal.Cause)
	}
}
