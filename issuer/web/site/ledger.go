package site

import (
	"context"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// Ledger is what pages need of the ledger.
type Ledger interface {
	// View returns this node's state, which may lag.
	View() ledger.View
	// ViewAt waits until the command at an index is applied.
	ViewAt(ctx context.Context, index uint64) (ledger.View, error)
	// InTouch reports whether this node has contact to the leader, so that View lags only
	// briefly.
	InTouch() bool
	// ViewFresh returns a view that includes every command that was answered before the call.
	ViewFresh(ctx context.Context) (ledger.View, error)
	// ViewPaced is ViewFresh for requests without a session. All such requests share a
	// bounded number of fresh views per second: see cluster.Node.ViewPaced.
	ViewPaced(ctx context.Context) (ledger.View, error)
	// Propose has a command decided. A view at the index includes its effect. The error is
	// oauth.ErrUnavailable if nothing could be decided.
	Propose(ctx context.Context, c command.Command) (ledger.Outcome, uint64, error)
	// Now returns the time of a running clock, for display and for limits. Decisions have
	// state time.
	Now() ledger.Time
}
