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
	if err := c.record(ctx, "cluster"); err != nil {
		return err
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
	if err := c.record(ctx, "node"); err != nil {
		return err
	}
	if err := c.Journal(ctx, w); err != nil {
		return fmt.Errorf("save the journal: %w", err)
	}
	return nil
}

func (c *call) restoreBackup(context.Context, restoreQuery, io.Reader) (RestoreReport, error) {
	return RestoreReport{}, c.alreadyInitialized()
}

// A restoreQuery is RestoreOptions in the request. The body continues with the keys, the
// journals, and the backup.
type restoreQuery struct {
	AcceptGap bool    `json:"accept_gap,omitempty"`
	DryRun    bool    `json:"dry_run,omitempty"`
	Keys      []int64 `json:"keys,omitempty"`     // sizes in bytes
	Journals  []int64 `json:"journals,omitempty"` // sizes in bytes
}

// MaxJournal is the maximum size of all journals together, in bytes. They are kept in memory.
const MaxJournal = 1 << 30

// maxKeys is the maximum size of the texts of all keys together, in bytes.
const maxKeys = 64 << 10

// options reads the keys and journals; the backup remains in in.
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

// parts reads parts of the given sizes.
func parts(in io.Reader, sizes []int64, left int64, what, most string) ([][]byte, error) {
	var all [][]byte
	for _, size := range sizes {
		if size < 0 || size > left {
			return nil, badField("backup", what, "are larger than "+most)
		}
		left -= size
		var b bytes.Buffer
		if n, err := io.CopyN(&b, in, size); err != nil {
			return nil, fmt.Errorf("read %s: got %d of %d bytes: %w", what, n, size, err)
		}
		all = append(all, b.Bytes())
	}
	return all, nil
}

// SaveBackup writes a backup of the cluster. After an error, what was written is useless.
func SaveBackup(ctx context.Context, c *Caller, w io.Writer) error {
	return saveBackup.call(ctx, c, SaveQuery{}, w)
}

// SaveJournal writes the journal of the node that is asked. After an error, what was written is
// useless.
func SaveJournal(ctx context.Context, c *Caller, w io.Writer) error {
	return saveJournal.call(ctx, c, SaveQuery{}, w)
}

// RestoreBackup sends a backup to a node that belongs to no cluster yet, and returns once the
// node serves the restored state.
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
