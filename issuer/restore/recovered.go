package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/recovery"
	"github.com/mintmark-auth/mintmark/issuer/journal"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// retryPause is the time between two attempts to propose a command of a recovery.
const retryPause = 200 * time.Millisecond

// BeginRecovered begins another timeline of the cluster on the remaining node of a
// recovery, if the raft folder dir is of one. The lost nodes may have used the Seqs that
// this node uses from now on, so their journals have other commands there. Revocations in
// the journals that the operator attached are replayed first. The mark of the recovery
// stays in the folder until the cluster and the label of the journal name the new
// timeline, so an interrupted start repeats all steps. name is the name of the node.
func (t Target) BeginRecovered(ctx context.Context, dir string, j *journal.Journal, name string) error {
	r, err := recovery.Pending(dir)
	if err != nil || r == nil {
		return err
	}
	command := &ledger.BeginTimeline{Next: &ledger.Timeline{ID: r.ID, From: r.Seq + 1}}
	index, err := t.proposeUntilDecided(ctx, command)
	if err != nil {
		return err
	}
	if r.Attached != nil {
		if index, err = t.replayAttached(ctx, r, index); err != nil {
			return err
		}
	}
	txn, err := t.Node.ViewAt(ctx, index)
	if err != nil {
		return err
	}
	if err := writeLabel(j, ledger.At(txn), name); err != nil {
		return err
	}
	t.Log.Warn("node recovered, cluster began another timeline", "from", command.Next.From)
	return recovery.Forget(dir)
}

// replayAttached replays the revocations in the journals of the lost nodes. Repeating it
// changes nothing.
func (t Target) replayAttached(ctx context.Context, r *recovery.Recovery, index uint64) (uint64, error) {
	history, err := journal.Read(bytes.NewReader(r.Attached))
	if err != nil {
		return 0, fmt.Errorf("read the journal of the lost nodes: %w", err)
	}
	records, err := readRecords(history, r.Seq)
	if err != nil {
		return 0, fmt.Errorf("read the journal of the lost nodes: %w", err)
	}
	for _, replay := range ledger.Replays(r.Seq, records) {
		if index, err = t.proposeUntilDecided(ctx, replay); err != nil {
			return 0, fmt.Errorf("replay the journal of the lost nodes: %w", err)
		}
	}
	t.Log.Warn("journal of the lost nodes replayed", "records", len(records))
	return index, t.rewrap(ctx)
}

// proposeUntilDecided proposes a command until it is decided or ctx ends. Deciding the
// command twice must have the same effect.
func (t Target) proposeUntilDecided(ctx context.Context, c command.Command) (index uint64, err error) {
	for {
		index, err = t.propose(ctx, c)
		if !errors.Is(err, cluster.ErrUnavailable) && !errors.Is(err, cluster.ErrUnknown) {
			return index, err
		}
		select {
		case <-time.After(retryPause):
		case <-ctx.Done():
			return index, err
		}
	}
}
