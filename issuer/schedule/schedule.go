package schedule

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A Ledger is the part of replica.Ledger that the task needs.
type Ledger interface {
	View() ledger.View
	ViewAt(ctx context.Context, index uint64) (ledger.View, error)
	Propose(ctx context.Context, c command.Command) (ledger.Outcome, uint64, error)
	// InTouch reports whether there is a leader, so that View lags only briefly.
	InTouch() bool
}

// Config configures the task of one node.
type Config struct {
	Ledger Ledger
	// Changed returns a channel that is closed at the next change of the table
	// ledger.TableBackups.
	Changed func() <-chan struct{}
	ID      string        // of this node
	Folder  backup.Folder // its Node is the name of this node
	Every   time.Duration // between two backups; 0: this node makes none
	Keep    int           // how many backups stay in the folder, at least 1

	// Save writes a backup of the cluster.
	Save func(ctx context.Context, w io.Writer) error
	// Verify reads a whole backup, verifies it with the cluster key and returns its header.
	Verify func(r io.Reader) (backup.Header, error)
	// Space returns the free bytes of the disk under a folder, and how many of them must
	// stay free.
	Space func(dir string) (free, least uint64, err error)
	// OnDataDisk reports whether a folder is on the disk of the node's data. It may be nil.
	OnDataDisk func(dir string) bool

	Log *slog.Logger
	// Failed counts failures for metrics. It may be nil.
	Failed func(ledger.BackupFailure)
}

// Pauses between two proposals, so that nothing can make a node propose in a loop.
const (
	pauseAccepted = time.Second
	pauseRefused  = 5 * time.Second
)

// watchPause is the time between two looks at the node that makes the backups.
const watchPause = 5 * time.Second

// A Task is the task of one node.
type Task struct {
	Config

	work sync.WaitGroup // the backup that is being made
	// moved counts the bytes of that backup that were written or read.
	moved atomic.Int64
	busy  atomic.Bool

	// The following fields belong to Run.
	quiet     time.Time // nothing is proposed before
	renewed   time.Time // when the last offer was accepted
	seenMoved int64     // moved at that time
	watched   watched
}

// A watched is what this node has seen of the node that makes the backups. Its silence is
// measured on this node's monotonic clock besides state time, and only while there is a
// leader, so that a cluster that was down as a whole does not change its choice.
type watched struct {
	node  string
	seen  ledger.Time
	since time.Time
}

// New returns a task that Run starts.
func New(c Config) *Task {
	if c.OnDataDisk == nil {
		c.OnDataDisk = func(string) bool { return false }
	}
	if c.Failed == nil {
		c.Failed = func(ledger.BackupFailure) {}
	}
	return &Task{Config: c}
}

// Run performs the task until ctx ends.
func (t *Task) Run(ctx context.Context) {
	defer t.work.Wait()
	if t.Every > 0 {
		t.prepareFolder()
	}
	for {
		changed := t.Changed()
		timer := time.NewTimer(t.step(ctx))
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// prepareFolder makes the folder, probes it, and removes what a crash left. It probes the folder
// of every node that has one, since a node may make no backup until another one fails. A folder
// that can't be used fails the backups, not the start of the node.
func (t *Task) prepareFolder() {
	err := t.Folder.Make()
	var removed []string
	if err == nil {
		removed, err = t.Folder.RemovePartial()
	}
	if err == nil {
		err = t.Folder.Probe()
	}
	if len(removed) > 0 {
		t.Log.Info("partial backups removed", "dir", t.Folder.Dir, "files", removed)
	}
	switch {
	case err != nil:
		t.Log.Error("backup folder not usable", "dir", t.Folder.Dir, "error", err)
	case t.OnDataDisk(t.Folder.Dir):
		t.Log.Warn("backup folder on the disk of the data", "dir", t.Folder.Dir)
	}
}

// step proposes what is to be proposed now, if anything, and returns after which time
// there may be more to do.
func (t *Task) step(ctx context.Context) time.Duration {
	now := time.Now()
	if wait := t.quiet.Sub(now); wait > 0 {
		return wait
	}
	s := t.Ledger.View().BackupSchedule()
	lease := ledger.BackupLease(t.Every)
	switch {
	case t.Every == 0 && s.Node == t.ID:
		t.choose(ctx, &ledger.ChooseBackupNode{Node: t.ID})
		return pauseRefused
	case t.Every == 0:
		return time.Hour
	case s.Node == t.ID:
		return t.stepChosen(ctx, now, s, lease)
	case s.Node == "":
		t.offer(ctx, false)
		return lease
	}
	if t.watched.node != s.Node || t.watched.seen != s.Seen || !t.Ledger.InTouch() {
		t.watched = watched{s.Node, s.Seen, now}
	}
	if wait := t.watched.since.Add(ledger.BackupLease(s.Every)).Sub(now); wait > 0 {
		return min(wait, watchPause)
	}
	t.offer(ctx, false)
	return lease
}

// stepChosen renews the offer, and begins a backup when one is due. It uses no clock but
// the monotonic one: BackupSchedule.Seen was state time when the offer was renewed.
func (t *Task) stepChosen(ctx context.Context, now time.Time, s *ledger.BackupSchedule, lease time.Duration) time.Duration {
	busy := t.busy.Load()
	sinceRenewal := now.Sub(t.renewed)
	renewal := lease/3 - sinceRenewal
	due := s.Due().Std().Sub(s.Seen.Add(sinceRenewal).Std())
	switch {
	case renewal <= 0 && busy && t.moved.Load() == t.seenMoved:
		return lease / 3 // the disk hangs: another node may take over
	case renewal <= 0, s.Every != t.Every, s.Name != t.Folder.Node:
		t.offer(ctx, true)
	case busy:
		return renewal
	case due <= 0:
		t.begin(ctx)
	default:
		return min(renewal, due)
	}
	return pauseAccepted
}

// offer offers to make the backups, or renews the offer.
func (t *Task) offer(ctx context.Context, renews bool) {
	before := t.Ledger.View().BackupSchedule()
	moved := t.moved.Load()
	c := t.command()
	c.Renews = renews
	if _, ok := t.choose(ctx, c); !ok {
		return
	}
	t.renewed, t.seenMoved = time.Now(), moved
	if !renews {
		t.Log.Info("chosen for scheduled backups", "dir", t.Folder.Dir, "every", t.Every, "before", before.Name)
	}
}

func (t *Task) command() *ledger.ChooseBackupNode {
	return &ledger.ChooseBackupNode{Node: t.ID, Name: t.Folder.Node, Every: t.Every}
}

// begin begins a backup if the ledger finds one due.
func (t *Task) begin(ctx context.Context) {
	c := t.command()
	c.Begin, c.Renews = true, true
	begun, ok := t.choose(ctx, c)
	if !ok {
		return
	}
	t.renewed, t.seenMoved = time.Now(), t.moved.Load()
	t.busy.Store(true)
	t.work.Go(func() {
		defer t.busy.Store(false)
		t.make(ctx, begun)
	})
}

// choose proposes an offer. ok reports that it was accepted, and that this node's view includes
// its effect. begun is Outcome.Begun.
func (t *Task) choose(ctx context.Context, c *ledger.ChooseBackupNode) (begun ledger.Time, ok bool) {
	outcome, index, err := t.Ledger.Propose(ctx, c)
	pause := pauseRefused // also where state time is behind what this node expected
	if err == nil && outcome.Refusal == nil && (!c.Begin || outcome.Begun > 0) {
		if _, err = t.Ledger.ViewAt(ctx, index); err == nil {
			ok, pause = true, pauseAccepted
		}
	}
	if err != nil && ctx.Err() == nil {
		t.Log.Debug("offer to make backups not decided", "error", err)
	}
	t.quiet = time.Now().Add(pause)
	return outcome.Begun, ok
}
