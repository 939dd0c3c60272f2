package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// recoveredPause is between two tries to begin the timeline of a recovered cluster.
const recoveredPause = 200 * time.Millisecond

// beginRecoveredTimeline begins another timeline of the cluster on the survivor of a recovery,
// before it serves. The lost nodes may have used the positions that the survivor
// uses from now on, so their journals have other commands there. Revocations in
// those that the operator attached are replayed first. The mark of the recovery
// stays in the folder until the cluster and the label of the journal have the new
// life, so a start that is interrupted does it again.
func (s *server) beginRecoveredTimeline(ctx context.Context) error {
	dir := filepath.Join(s.config.DataDir, "raft")
	r, err := cluster.PendingRecovery(dir)
	if err != nil || r == nil {
		return err
	}
	command := &ledger.BeginTimeline{Next: &ledger.Timeline{ID: r.ID, From: r.Seq + 1}}
	index, err := s.proposeUntilDecided(ctx, command)
	if err != nil {
		return err
	}
	if r.Attached != nil {
		if index, err = s.replayLostJournals(ctx, r, index); err != nil {
			return err
		}
	}
	txn, err := s.node.ViewAt(ctx, index)
	if err != nil {
		return err
	}
	if err := s.writeLabel(ledger.At(txn)); err != nil {
		return err
	}
	s.config.Log.Warn("this node was recovered: another life of the cluster begins", "from", command.Next.From)
	return cluster.ForgetRecovery(dir)
}

// replayLostJournals replays the revocations in the journals of the lost nodes. It can be
// repeated after an interrupted start.
func (s *server) replayLostJournals(ctx context.Context, r *cluster.Recovery, index uint64) (uint64, error) {
	history, err := journal.Read(bytes.NewReader(r.Attached))
	if err != nil {
		return 0, fmt.Errorf("read the journal of the lost nodes: %w", err)
	}
	records, err := issuer.ReadRecords(history, r.Seq)
	if err != nil {
		return 0, fmt.Errorf("read the journal of the lost nodes: %w", err)
	}
	for _, replay := range ledger.Replays(r.Seq, records) {
		if index, err = s.proposeUntilDecided(ctx, replay); err != nil {
			return 0, fmt.Errorf("replay the journal of the lost nodes: %w", err)
		}
	}
	s.config.Log.Warn("journal of the lost nodes replayed", "records", len(records))
	return index, issuer.RestoredKeyring{Node: s.node, Keys: s.keys, Version: version, Rand: rand.Reader}.Rewrap(ctx)
}

// proposeUntilDecided repeats decide until the command is decided or ctx ends. The command
// must have the same effect if it is decided twice.
func (s *server) proposeUntilDecided(ctx context.Context, command ledger.Command) (index uint64, err error) {
	index, err = mustPropose(ctx, s.node, command)
	for (errors.Is(err, cluster.ErrUnavailable) || errors.Is(err, cluster.ErrUnknown)) && ctx.Err() == nil {
		s.sleep(ctx, recoveredPause)
		index, err = mustPropose(ctx, s.node, command)
	}
	return index, err
}
