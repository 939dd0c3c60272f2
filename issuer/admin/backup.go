package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

func (c *call) saveBackup(ctx context.Context, _ SaveQuery, w io.Writer) error {
	if c.Backup == nil {
		return errStandalone
	}
	if err := c.Backup(ctx, w); err != nil {
		return fmt.Errorf("save a backup: %w", err)
	}
	return nil
}

func (c *call) saveJournal(ctx context.Context, _ SaveQuery, w io.Writer) error {
	if c.Journal == nil {
		return errStandalone
	}
	if err := c.Journal(ctx, w); err != nil {
		return fmt.Errorf("save the journal: %w", err)
	}
	return nil
}

func (c *call) restoreBackup(context.Context, restoreQuery, io.Reader) (RestoreReport, error) {
	return RestoreReport{}, c.alreadyInitialized()
}

// restoreQuery is RestoreOptions on the wire: the keys and then the journals come
// first among the bytes that follow, and the backup behind them.
type restoreQuery struct {
	AcceptGap bool    `json:"accept_gap,omitempty"`
	DryRun    bool    `json:"dry_run,omitempty"`
	Keys      []int64 `json:"keys,omitempty"`     // their sizes in bytes
	Journals  []int64 `json:"journals,omitempty"` // as well
}

// MaxJournal is how large journals may be together, in bytes: they are held in
// memory.
const MaxJournal = 1 << 30

// maxKeys bounds the texts of keys together.
const maxKeys = 64 << 10

// options reads the keys and journals and leaves the backup.
func (q restoreQuery) options(in io.Reader) (RestoreOptions, error) {
	o := RestoreOptions{AcceptGap: q.AcceptGap, DryRun: q.DryRun}
	texts, err := parts(in, q.Keys, maxKeys, "keys", "64 KiB")
	if err != nil {
		return o, err
	}
	for _, text := range texts {
		o.Keys = append(o.Keys, Plain(text))
	}
	o.Journals, err = parts(in, q.Journals, MaxJournal, "journals", "1 GiB")
	return o, err
}

// parts reads what has these sizes.
func parts(in io.Reader, sizes []int64, left int64, what, most string) ([][]byte, error) {
	var all [][]byte
	for _, size := range sizes {
		if size < 0 || size > left {
			return nil, badField("backup", what, "are larger than "+most)
		}
		left -= size
		var b bytes.Buffer
		if n, err := io.CopyN(&b, in, size); err != nil {
			return nil, fmt.Errorf("read the %s: only %d of %d bytes came: %w", what, n, size, err)
		}
		all = append(all, append([]byte{}, b.Bytes()...))
	}
	return all, nil
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
	q := restoreQuery{AcceptGap: o.AcceptGap, DryRun: o.DryRun}
	all := int64(0)
	var sent []io.Reader
	for _, k := range o.Keys {
		q.Keys = append(q.Keys, int64(len(k)))
		sent = append(sent, strings.NewReader(k.Reveal()))
	}
	for _, j := range o.Journals {
		q.Journals = append(q.Journals, int64(len(j)))
		sent = append(sent, bytes.NewReader(j))
		all += int64(len(j))
	}
	if all > MaxJournal {
		return RestoreReport{}, errors.New("the journals are larger than 1 GiB")
	}
	return restoreBackup.call(ctx, c, q, io.MultiReader(append(sent, backup)...))
}
