package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/keys"
)

// A restoration is a backup that was read, with what its journals add.
type restoration struct {
	keys    *keys.ClusterKeys // this node's, and those that the files are sealed under
	header  backup.Header
	state   []byte           // a snapshot of the cluster package
	history *journal.History // what the journals have together; nil without any
	records []ledger.Record  // of it, those after the backup
	report  admin.RestoreReport

	// subject names, in messages, what the journals complete: "the backup" or "this
	// folder".
	subject string
	// keyAdvice is advice for messages: how to provide another cluster key.
	keyAdvice string
}

const nameKeyFile = "name its file with --" + config.KeyClusterKeyFile

// readRestoration reads and judges a backup before anything is made of it.
func (s *server) readRestoration(in io.Reader, o admin.RestoreOptions) (*restoration, error) {
	r := &restoration{subject: "the backup", keyAdvice: nameKeyFile}
	if err := r.openKeys(s.config.Key, o.Keys); err != nil {
		if _, damaged := backup.Inspect(in); damaged != nil {
			err = refusal{damaged} // which no key opens
		}
		return nil, err
	}
	var body io.Reader
	var err error
	if r.header, body, err = r.open(in, backup.KindState); err != nil {
		return nil, err
	}
	if r.state, err = io.ReadAll(body); err != nil {
		return nil, refusal{fmt.Errorf("read the backup: %w", err)}
	}
	memory := cluster.NewMemory(issuer.Machine(), s.config.Now)
	if err := memory.Load(bytes.NewReader(r.state)); err != nil {
		return nil, refusal{fmt.Errorf("read the backup: %w", err)}
	}
	if ahead := r.header.StateTime.Sub(s.config.Now()); ahead > cluster.ClockTolerance {
		return nil, refusal{fmt.Errorf("the last decision in the backup is of %s, which is %s ahead of this node's clock: the cluster could decide nothing until then. "+
			"Correct this clock, or, if the cluster's clock was wrong, restore a backup from before that", utc(r.header.StateTime), ahead.Round(time.Second))}
	}
	state := ledger.At(memory.View())
	if err := s.checkClusterSettings(*state.Settings()); err != nil {
		return nil, err
	}
	r.header.Timelines = issuer.Timelines(state) // which nobody but who sealed it wrote
	h := r.header
	r.report = admin.RestoreReport{
		DryRun: o.DryRun, Cluster: h.Cluster, Taken: h.Taken, StateTime: h.StateTime, Seq: h.Seq, Counts: h.Counts,
		KnownUntil: h.StateTime,
	}
	if err := r.readJournals(o.Journals); err != nil {
		return nil, err
	}
	if err := r.preview(state); err != nil {
		return nil, err
	}
	if gap := r.report.Gap; gap != "" && !o.AcceptGap && !o.DryRun {
		return nil, refusal{fmt.Errorf("%s; --accept-gap restores all the same", gap)}
	}
	return r, nil
}

// openKeys opens the cluster keys that are at hand.
func (r *restoration) openKeys(source config.KeySource, more []admin.Plain) (err error) {
	r.keys, err = source.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return refusal{fmt.Errorf("the cluster key that the backup is sealed under must be in %s first", source.File)}
	}
	for _, text := range more {
		if err == nil {
			err = r.keys.AddOpenOnly([]byte(text.Reveal()))
		}
	}
	if err != nil { // a file that is not as it should be, and whose name the error has
		return refusal{fmt.Errorf("open the cluster keys at hand: %w", err)}
	}
	return nil
}

// open opens a file with the key that its head names.
func (r *restoration) open(in io.Reader, kind string) (backup.Header, io.Reader, error) {
	h, body, err := backup.Open(in, func(h backup.Header, in io.Reader, context []byte) (io.Reader, error) {
		key, err := r.keys.Get(h.ClusterKey)
		if err != nil {
			return nil, fmt.Errorf("this %s is sealed under cluster key %s, and only %s can be opened here: %s",
				h.Kind, h.ClusterKey, strings.Join(r.keys.IDs(), ", "), r.keyAdvice)
		}
		return key.OpenStream(in, context)
	})
	switch {
	case err != nil:
		return h, nil, refusal{fmt.Errorf("open the %s: %w", nameOfKind(kind), err)}
	case h.Kind != kind:
		return h, nil, refusal{fmt.Errorf("this is a backup of a %s, not of a %s", h.Kind, kind)}
	}
	return h, body, nil
}

func nameOfKind(kind string) string {
	if kind == backup.KindState {
		return "backup"
	}
	return kind
}

// preview says what the journal changes, and makes sure that the keys it leaves
// can be opened.
func (r *restoration) preview(state ledger.View) error {
	p, refused := state.PreviewReplay(r.header.Seq, r.records)
	if refused != nil {
		why := refused.Cause.String()
		if refused.Note != "" {
			why = "its " + refused.Field + " " + refused.Note
		}
		return refusal{fmt.Errorf("the journal can't be replayed: %s", why)}
	}
	if err := issuer.CheckOpenable(p.Keyring, r.keys); err != nil {
		return refusal{fmt.Errorf("%w; the cluster keys here are %s: for another one, %s", err, strings.Join(r.keys.IDs(), ", "), r.keyAdvice)}
	}
	if to, own := rewrappedTo(r.records), r.keys.Current().ID(); to != "" && to != own {
		return refusal{fmt.Errorf("the journal says that the cluster key was changed to %s, and this node has %s: "+
			"give this node the new key, and for the old one, %s", to, own, r.keyAdvice)}
	}
	r.report.Changes, r.report.NotDone = p.Lines, p.Unapplied
	for _, n := range p.Counts {
		if n.Skipped > 0 {
			r.report.Skipped = append(r.report.Skipped, admin.SkippedChanges{What: n.Kind.String(), Count: n.Skipped})
		}
	}
	return nil
}

// rewrappedTo is the cluster key that records change to last, "" if they don't.
// The node that restores has that one: an older one may have been known to
// somebody it should not be known to.
func rewrappedTo(records []ledger.Record) (id string) {
	for _, r := range records {
		for _, e := range r.Effects {
			if e.Kind == ledger.EffectRewrapped {
				id = e.ID
			}
		}
	}
	return id
}

// apply has the restored cluster know what it is, and what the journal says,
// before anybody is served.
func (r *restoration) apply(ctx context.Context, n *cluster.Node) error {
	decide := func(c ledger.Command) error {
		_, err := mustPropose(ctx, n, c)
		return err
	}
	if err := decide(&ledger.BeginRestore{Backup: r.header.Seq}); err != nil {
		return fmt.Errorf("begin the restored cluster: %w", err)
	}
	restoreHook("begun")
	for _, replay := range ledger.Replays(r.header.Seq, r.records) {
		if err := decide(replay); err != nil {
			return fmt.Errorf("replay the journal: %w", err)
		}
	}
	restoreHook("replayed")
	return issuer.RestoredKeyring{Node: n, Keys: r.keys, Version: version, Rand: rand.Reader}.Rewrap(ctx)
}

// mustPropose has a node decide what must not be refused, before anybody is served.
// The index is where a view shows it.
func mustPropose(ctx context.Context, n *cluster.Node, c ledger.Command) (index uint64, err error) {
	value, index, err := n.Propose(ctx, &issuer.Entry{Command: c})
	if err != nil {
		return 0, err
	}
	if refused := value.(ledger.Outcome).Refusal; refused != nil {
		return 0, fmt.Errorf("refused: %s %s %s", refused.Cause, refused.Field, refused.Note)
	}
	return index, nil
}
