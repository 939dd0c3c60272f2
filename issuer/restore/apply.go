package restore

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/keyring"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/keys"
)

// A Target is the node that results from a restore or a recovery, before it serves
// requests and before other nodes join.
type Target struct {
	Node *cluster.Node
	// Keys are the cluster keys of the node, and those under which the state or the
	// journals are sealed.
	Keys    *keys.ClusterKeys
	Version string // of the program
	Log     *slog.Logger
	Rand    io.Reader
}

// StepDone is the log record after each step of a restore. Its key "step" names the step.
const StepDone = "restore step done"

// Apply begins the timeline of the restored cluster, replays the journals of the plan,
// and rewraps the keys under the node's own cluster key.
func (t Target) Apply(ctx context.Context, p *Plan) error {
	if _, err := t.propose(ctx, &ledger.BeginRestore{Backup: p.Header.Seq}); err != nil {
		return fmt.Errorf("begin the restored cluster: %w", err)
	}
	t.Log.Info(StepDone, "step", "begun")
	for _, replay := range ledger.Replays(p.Header.Seq, p.records) {
		if _, err := t.propose(ctx, replay); err != nil {
			return fmt.Errorf("replay the journal: %w", err)
		}
	}
	t.Log.Info(StepDone, "step", "replayed")
	return t.rewrap(ctx)
}

// rewrap seals the whole keyring under the node's own cluster key, before another node is
// a member: those that join are given that key, and no other.
func (t Target) rewrap(ctx context.Context) error {
	v, key := ledger.At(t.Node.View()), t.Keys.Current()
	if keyring.SealedUnder(v, key) {
		return nil
	}
	sealed, err := keyring.Rewrap(v, t.Keys, key, t.Rand)
	if err != nil {
		return err
	}
	id := t.Node.ID()
	for _, c := range []command.Command{
		&ledger.AcknowledgeKeys{Node: id, Version: t.Version, ClusterKeys: []string{key.ID()}},
		&ledger.Rewrap{To: key.ID(), Keys: sealed, Voters: []string{id}},
	} {
		if _, err := t.propose(ctx, c); err != nil {
			return fmt.Errorf("rewrap keyring under cluster key %s: %w", key.ID(), err)
		}
	}
	return nil
}

// propose proposes a command that must not be refused. A view at the index includes its
// effect.
func (t Target) propose(ctx context.Context, c command.Command) (index uint64, err error) {
	value, index, err := t.Node.Propose(ctx, c)
	if err != nil {
		return 0, err
	}
	if r := value.(ledger.Outcome).Refusal; r != nil {
		return 0, fmt.Errorf("refused: %s %s %s", r.Cause, r.Field, r.Note)
	}
	return index, nil
}
