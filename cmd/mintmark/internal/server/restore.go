package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/backup"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/restore"
	"github.com/mintmark-auth/mintmark/keys"
)

// planRestore reads and checks a backup before anything is written.
func (s *Server) planRestore(in io.Reader, o admin.RestoreOptions) (*restore.Plan, error) {
	held, err := s.config.Key.OpenForRestore(o.Keys)
	if err != nil {
		if _, damaged := backup.Inspect(in); damaged != nil {
			err = damaged // no key can open it
		}
		return nil, refusal{err}
	}
	p, err := restore.Read(in, o.Journals, held, s.config.Now)
	if err != nil {
		return nil, refusal{err}
	}
	if err := s.checkClusterSettings(p.Settings); err != nil {
		return nil, err
	}
	if p.Gap != "" && !o.AcceptGap && !o.DryRun {
		return nil, refusal{fmt.Errorf("%w: %s", ErrGap, p.Gap)}
	}
	return p, nil
}

// RestoreReport converts a plan for operators' commands; zero for nil.
func RestoreReport(p *restore.Plan) (r admin.RestoreReport) {
	if p == nil {
		return r
	}
	h := p.Header
	r = admin.RestoreReport{
		Cluster: h.Cluster, Taken: h.Taken, StateTime: h.StateTime, Seq: h.Seq, Counts: h.Counts,
		Changes: p.Replay.Lines, NotDone: p.Replay.Unapplied, Warnings: p.Warnings, Gap: p.Gap,
	}
	var known uint64
	if known, r.KnownUntil = p.KnownUntil(); known > h.Seq {
		r.Journal = known
	}
	for _, s := range p.Spans {
		span := admin.JournalSpan{From: s.From, To: s.To, Ends: ledger.Time(s.ToAt).Std()}
		if s.FromAt != 0 { // otherwise the journal begins with the cluster
			span.Begins = ledger.Time(s.FromAt).Std()
		}
		r.Covered = append(r.Covered, span)
	}
	for _, n := range p.Replay.Counts {
		if n.Skipped > 0 {
			r.Skipped = append(r.Skipped, admin.SkippedChanges{What: n.Kind.String(), Count: n.Skipped})
		}
	}
	return r
}

// restore creates a cluster from a backup.
func (s *Server) restore(ctx context.Context, conf cluster.Config, p *restore.Plan) (err error) {
	if s.Keys, err = s.config.Key.Open(); err != nil {
		return err
	}
	if err := restore.Mark(s.config.DataDir); err != nil {
		return err
	}
	s.logRestoreStep("marked")
	if err := recovery.Restore(conf.Offline(), bytes.NewReader(p.State)); err != nil {
		return err
	}
	s.logRestoreStep("written")
	conf.TrustClock = true // the backup may be of any age
	if err := s.openWith(ctx, conf); err != nil {
		return err
	}
	s.logRestoreStep("opened")
	if err := s.restoreTarget(p.Keys).Apply(ctx, p); err != nil {
		return err
	}
	s.logRestoreStep("sealed")
	if err := restore.Unmark(s.config.DataDir); err != nil {
		return err
	}
	s.logRestoreStep("done")
	return nil
}

func (s *Server) logRestoreStep(step string) { s.config.Log.Info(restore.StepDone, "step", step) }

// restoreTarget is this node for a restore whose files need the given keys.
func (s *Server) restoreTarget(held *keys.ClusterKeys) restore.Target {
	return restore.Target{Node: s.Node, Keys: held, Version: s.config.Version, Log: s.config.Log, Rand: rand.Reader}
}

// exporter writes the files of this node.
func (s *Server) exporter() restore.Exporter {
	return restore.Exporter{Keys: s.Keys, Node: s.nodeName(), Version: s.config.Version, Now: s.config.Now, Rand: rand.Reader}
}

// nodeName returns the name of this node, "" for a node alone.
func (s *Server) nodeName() string {
	if s.config.Cluster == nil {
		return ""
	}
	return s.config.Cluster.Name
}

// saveState writes a backup of the cluster. This node's journal is flushed up to the same
// command.
func (s *Server) saveState(ctx context.Context, w io.Writer) error {
	if err := s.Node.Removed(); err != nil {
		return refusal{err} // no leader is known that could confirm the state
	}
	b, err := s.Node.Backup(ctx)
	if err != nil {
		return operatorError(err)
	}
	_ = s.Journal.Flush() // Flush logs its errors
	return s.exporter().State(w, b)
}

// saveJournal writes this node's journal.
func (s *Server) saveJournal(_ context.Context, w io.Writer) error {
	return s.exporter().Journal(w, s.Journal.Journal, ledger.At(s.Node.View()))
}
