package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

func (c *call) saveBackup(ctx context.Context, _ SaveQuery, w io.Writer) error {
	if c.Backup == nil {
		return errAlone
	}
	if err := c.Backup(ctx, w); err != nil {
		return fmt.Errorf("save a backup: %w", err)
	}
	return nil
}

func (c *call) saveJournal(ctx context.Context, _ SaveQuery, w io.Writer) error {
	if c.Journal == nil {
		return errAlone
	}
	if err := c.Journal(ctx, w); err != nil {
		return fmt.Errorf("save the journal: %w", err)
	}
	return nil
}

func (c *call) restoreBackup(context.Context, restoreQuery, io.Reader) (RestoreReport, error) {
	return RestoreReport{}, c.initialised()
}

// restoreQuery is RestoreOptions on the wire: the journal comes first among the
// bytes that follow, and the backup behind it.
type restoreQuery struct {
	AcceptGap bool  `json:"accept_gap,omitempty"`
	DryRun    bool  `json:"dry_run,omitempty"`
	Journal   int64 `json:"journal"` // its size in bytes; -1 where there is none
}

// MaxJournal is how large a journal may be, in bytes: it is held in memory.
const MaxJournal = 1 << 30

// options reads the journal and leaves the backup.
func (q restoreQuery) options(in io.Reader) (RestoreOptions, error) {
	o := RestoreOptions{AcceptGap: q.AcceptGap, DryRun: q.DryRun}
	if q.Journal < 0 {
		return o, nil
	}
	if q.Journal > MaxJournal {
		return o, badField("backup", "journal", "is larger than 1 GiB")
	}
	var b bytes.Buffer
	if n, err := io.CopyN(&b, in, q.Journal); err != nil {
		return o, fmt.Errorf("read the journal: only %d of %d bytes came: %w", n, q.Journal, err)
	}
	o.Journal = append([]byte{}, b.Bytes()...)
	return o, nil
}

// SaveBackup writes a backup of the cluster. Without an error it is whole; with
// one, whatever was written is of no use.
func SaveBackup(ctx context.Context, c *Caller, w io.Writer) error {
	return saveBackup.call(ctx, c, SaveQuery{}, w)
}

// SaveJournal writes the journal of the node that is asked, as SaveBackup does
// a backup.
func SaveJournal(ctx context.Context, c *Caller, w io.Writer) error {
	return saveJournal.call(ctx, c, SaveQuery{}, w)
}

// RestoreBackup sends a backup to a node that belongs to no cluster yet, and
// returns when the node serves what was in it.
func RestoreBackup(ctx context.Context, c *Caller, backup io.Reader, o RestoreOptions) (RestoreReport, error) {
	if len(o.Journal) > MaxJournal {
		return RestoreReport{}, errors.New("the journal is larger than 1 GiB")
	}
	q := restoreQuery{AcceptGap: o.AcceptGap, DryRun: o.DryRun, Journal: -1}
	if o.Journal != nil {
		q.Journal = int64(len(o.Journal))
	}
	return restoreBackup.call(ctx, c, q, io.MultiReader(bytes.NewReader(o.Journal), backup))
}
