package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// errNotVerified reports a file that could not be read back.
var errNotVerified = errors.New("backup not verified")

// make makes a backup, removes old ones, and records the result.
func (t *Task) make(ctx context.Context, begun ledger.Time) {
	began := time.Now()
	var h backup.Header
	name, err := t.Folder.Create(func(w io.Writer) error {
		return t.Save(ctx, &writer{ctx: ctx, task: t, to: w, checked: -1})
	}, func(r io.Reader) (_ backup.Header, err error) {
		counted := &reader{ctx: ctx, task: t, from: r}
		if h, err = t.Verify(counted); err != nil {
			return h, fmt.Errorf("%w: %w", errNotVerified, err)
		}
		h.Size = counted.n
		return h, nil
	})
	switch {
	case err == nil:
		t.Log.Info("backup saved", "dir", t.Folder.Dir, "file", name, "bytes", h.Size, "seq", h.Seq, "took", time.Since(began))
		t.prune(name)
		t.record(ctx, &ledger.RecordBackup{Node: t.ID, Begun: begun, File: t.path(name), Bytes: h.Size, Seq: h.Seq})
	case ctx.Err() != nil: // the node stops
	case errors.Is(err, oauth.ErrUnavailable):
		t.Log.Warn("backup not made, cluster unavailable", "error", err)
	default:
		reason := failureOf(err)
		t.Log.Error("backup failed", "reason", string(reason), "dir", t.Folder.Dir, "error", err)
		t.Failed(reason)
		t.record(ctx, &ledger.RecordBackup{Node: t.ID, Begun: begun, Failure: reason})
	}
}

// path returns the absolute path of a backup, for people on this machine.
func (t *Task) path(name string) string {
	path, err := filepath.Abs(filepath.Join(t.Folder.Dir, name))
	if err != nil {
		return name
	}
	return path
}

func failureOf(err error) ledger.BackupFailure {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return ledger.BackupDiskFull
	case errors.Is(err, errNotVerified):
		return ledger.BackupNotVerified
	}
	return ledger.BackupNotWritten
}

func (t *Task) prune(last string) {
	removed, err := t.Folder.Prune(t.Keep, last)
	if len(removed) > 0 {
		t.Log.Info("old backups removed", "dir", t.Folder.Dir, "files", removed)
	}
	if err != nil {
		t.Log.Warn("old backups not removed", "dir", t.Folder.Dir, "error", err)
	}
}

// record proposes a result until it is decided or ctx ends.
func (t *Task) record(ctx context.Context, c *ledger.RecordBackup) {
	for {
		outcome, index, err := t.Ledger.Propose(ctx, c)
		switch {
		case err == nil && (outcome.Refusal == nil || t.recorded(ctx, index, c)):
			return
		case err == nil:
			t.Log.Warn("result of backup not recorded: another node took over", "file", c.File)
			return
		}
		select {
		case <-time.After(pauseAccepted):
		case <-ctx.Done():
			return
		}
	}
}

// recorded reports whether a result that was refused had been recorded before: the outcome of
// an earlier proposal may have been unknown.
func (t *Task) recorded(ctx context.Context, index uint64, c *ledger.RecordBackup) bool {
	v, err := t.Ledger.ViewAt(ctx, index)
	if err != nil {
		return false
	}
	s := v.BackupSchedule()
	if c.Failure == "" {
		return s.Saved != nil && s.Saved.File == c.File && s.Saved.At == c.Begun
	}
	return slices.ContainsFunc(s.Failed, func(f ledger.FailedBackup) bool {
		return f.Node == c.Node && f.Reason == c.Failure && f.At >= c.Begun
	})
}

// spaceEvery is after how many bytes the free space is looked at again. The folder may be
// on the disk of the log, which must not become full.
const spaceEvery = 4 << 20

// A writer stops when the node stops, and before the disk is full.
type writer struct {
	ctx        context.Context
	task       *Task
	to         io.Writer
	n, checked int64
}

func (w *writer) Write(b []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	if w.checked < 0 || w.n-w.checked >= spaceEvery {
		w.checked = w.n
		free, least, err := w.task.Space(w.task.Folder.Dir)
		if err == nil && free < least {
			return 0, fmt.Errorf("the disk has %d MiB free, and a backup leaves %d MiB: %w", free>>20, least>>20, syscall.ENOSPC)
		}
	}
	n, err := w.to.Write(b)
	w.n += int64(n)
	w.task.moved.Add(int64(n))
	return n, err
}

// A reader counts what is read back.
type reader struct {
	ctx  context.Context
	task *Task
	from io.Reader
	n    int64
}

func (r *reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.from.Read(b)
	r.n += int64(n)
	r.task.moved.Add(int64(n))
	return n, err
}
