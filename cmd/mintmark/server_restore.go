package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/keys"
)

// A restoration is a backup that was read, with what its journal adds.
type restoration struct {
	header  backup.Header
	state   []byte // a snapshot of the cluster package
	records []ledger.Record
	report  admin.RestoreReport
}

// readRestoration reads and judges a backup before anything is made of it.
func (s *server) readRestoration(in io.Reader, o admin.RestoreOptions) (*restoration, error) {
	key, err := s.config.Key.load()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refusal{fmt.Errorf("the cluster key that the backup is sealed under must be in %s first", s.config.Key.File)}
	}
	if err != nil {
		return nil, err
	}
	r := new(restoration)
	var body io.Reader
	if r.header, body, err = openBackup(in, key, backup.KindState); err != nil {
		return nil, err
	}
	if r.state, err = io.ReadAll(body); err != nil {
		return nil, refusal{fmt.Errorf("read the backup: %w", err)}
	}
	state := cluster.NewMemory(issuer.Machine(), s.config.Now)
	if err := state.Load(bytes.NewReader(r.state)); err != nil {
		return nil, refusal{fmt.Errorf("read the backup: %w", err)}
	}
	if err := s.agreesWith(*ledger.At(state.View()).Settings()); err != nil {
		return nil, err
	}
	h := r.header
	r.report = admin.RestoreReport{
		DryRun: o.DryRun, Cluster: h.Cluster, Taken: h.Taken, StateTime: h.StateTime, Seq: h.Seq, Counts: h.Counts,
		Changes: []string{},
	}
	if err := r.readJournal(key, o); err != nil {
		return nil, err
	}
	preview, refused := ledger.At(state.View()).PreviewReplay(h.Seq, r.records)
	if refused != nil {
		return nil, refusal{fmt.Errorf("the journal can't be replayed: its %s %s", refused.Field, refused.Note)}
	}
	r.report.Changes = append(r.report.Changes, preview.Lines...)
	return r, nil
}

func openBackup(in io.Reader, key keys.ClusterKey, kind string) (backup.Header, io.Reader, error) {
	h, body, err := backup.Open(in, key.OpenStream)
	switch {
	case err != nil:
		return h, nil, refusal{fmt.Errorf("open the backup: %w", err)}
	case h.ClusterKey != key.ID():
		return h, nil, refusal{fmt.Errorf("the backup is sealed under cluster key %s, and this node has %s", h.ClusterKey, key.ID())}
	case h.Kind != kind:
		return h, nil, refusal{fmt.Errorf("this is a backup of a %s, not of a %s", h.Kind, kind)}
	}
	return h, body, nil
}

// readJournal says what happened after the backup, and what of it is not known.
func (r *restoration) readJournal(key keys.ClusterKey, o admin.RestoreOptions) error {
	gap := "there is no journal: whatever was revoked, suspended, disabled or changed after " +
		r.header.StateTime.Format(time.RFC3339) + " is as it was then"
	if len(o.Journals) > 0 {
		history, last, err := r.mergeJournals(key, o.Journals)
		if err != nil {
			return err
		}
		if r.records, err = issuer.ReadRecords(history, r.header.Seq); err != nil {
			return refusal{fmt.Errorf("read the journal: %w", err)}
		}
		r.report.Journal = max(last, r.header.Seq)
		gap = ""
		for _, g := range journal.Gaps(history.Spans(), r.header.Seq) {
			gap += fmt.Sprintf("the journal has nothing from %s to %s (commands %d to %d); ",
				timeOr(g.FromAt, "an unknown time"), timeOr(g.ToAt, "an unknown time"), g.From, g.To)
		}
	}
	r.report.Gap = gap
	if gap != "" && !o.AcceptGap && !o.DryRun {
		return refusal{fmt.Errorf("%s; --accept-gap restores all the same", gap)}
	}
	return nil
}

// mergeJournals is what some nodes have seen together, and the last command of
// it.
func (r *restoration) mergeJournals(key keys.ClusterKey, files [][]byte) (*journal.History, uint64, error) {
	var parts []*journal.History
	last := uint64(0)
	for _, file := range files {
		h, body, err := openBackup(bytes.NewReader(file), key, backup.KindJournal)
		if err != nil {
			return nil, 0, err
		}
		// A journal that was read where no node runs doesn't say whose it is.
		if h.Cluster != "" && h.Cluster != r.header.Cluster {
			return nil, 0, refusal{fmt.Errorf("the journal is of the cluster %s, the backup of %s", h.Cluster, r.header.Cluster)}
		}
		part, err := journal.Read(body)
		if err != nil {
			return nil, 0, refusal{fmt.Errorf("read the journal: %w", err)}
		}
		parts, last = append(parts, part), max(last, h.Seq)
	}
	history, err := journal.Merge(parts...)
	if err != nil {
		return nil, 0, refusal{fmt.Errorf("the journals contradict each other: %w", err)}
	}
	return history, last, nil
}

func timeOr(ms int64, unknown string) string {
	if ms == 0 {
		return unknown
	}
	return time.UnixMilli(ms).UTC().Format(time.RFC3339)
}

// begin has the restored cluster know what it is, and what the journal says,
// before anybody is served.
func (r *restoration) begin(ctx context.Context, n *cluster.Node) error {
	decide := func(c ledger.Command) error {
		value, _, err := n.Propose(ctx, &issuer.Entry{Command: c})
		if err != nil {
			return err
		}
		if refused := value.(ledger.Outcome).Refusal; refused != nil {
			return fmt.Errorf("refused: %s %s %s", refused.Cause, refused.Field, refused.Note)
		}
		return nil
	}
	if err := decide(&ledger.BeginRestore{}); err != nil {
		return fmt.Errorf("begin the restored cluster: %w", err)
	}
	for _, replay := range ledger.Replays(r.header.Seq, r.records) {
		if err := decide(replay); err != nil {
			return fmt.Errorf("replay the journal: %w", err)
		}
	}
	return nil
}

// restoreMark is a file that is there while a restore is under way. A state
// whose journal was not replayed must never serve: what was taken away since
// the backup would be back.
func (s *server) restoreMark() string { return filepath.Join(s.config.DataDir, "restoring") }

func (s *server) markRestore() error {
	f, err := os.OpenFile(s.restoreMark(), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("mark the restore: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("mark the restore: %w", err)
	}
	d, err := os.Open(s.config.DataDir)
	if err != nil {
		return fmt.Errorf("mark the restore: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}

// noHalfRestore refuses what a restore that was cut short left behind.
func (s *server) noHalfRestore() error {
	if _, err := os.Stat(s.restoreMark()); err != nil {
		return nil
	}
	dir := s.config.DataDir
	return fmt.Errorf("a restore was cut short here: delete %s, %s and then %s, and restore again",
		filepath.Join(dir, "raft"), filepath.Join(dir, "journal"), s.restoreMark())
}
