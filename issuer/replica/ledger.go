package replica

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// Config configures a Ledger.
type Config struct {
	Node *cluster.Node
	// Clock is the clock of this node. The leader's clock stamps decisions.
	Clock func() time.Time
	// Tracer creates a span for each proposal. It may be nil.
	Tracer trace.Tracer
	// Committed is called with the duration of each accepted proposal, from this node to
	// the log and back. It may be nil.
	Committed func(took time.Duration)
}

// A Ledger reads the state on one node, and proposes commands there. Its methods are safe
// for concurrent use.
type Ledger struct{ Config }

// New returns the ledger on a node.
func New(c Config) *Ledger {
	if c.Committed == nil {
		c.Committed = func(time.Duration) {}
	}
	return &Ledger{c}
}

// View returns the state of this node, which may lag.
func (l *Ledger) View() ledger.View { return ledger.At(l.Node.View()) }

// ViewAt returns a state that includes the command at the index.
func (l *Ledger) ViewAt(ctx context.Context, index uint64) (ledger.View, error) {
	txn, err := l.Node.ViewAt(ctx, index)
	if err != nil {
		return ledger.View{}, Unavailable(err)
	}
	return ledger.At(txn), nil
}

// InTouch reports whether this node has contact to the leader, so that View lags only
// briefly.
func (l *Ledger) InTouch() bool { return l.Node.InTouch() }

// ViewFresh returns a state that includes every command that was answered before this call.
func (l *Ledger) ViewFresh(ctx context.Context) (ledger.View, error) {
	txn, err := l.Node.ViewFresh(ctx)
	if err != nil {
		return ledger.View{}, Unavailable(err)
	}
	return ledger.At(txn), nil
}

// ViewPaced is ViewFresh for a request without a valid credential. All such requests share
// a bounded number of fresh views: see cluster.Node.ViewPaced.
func (l *Ledger) ViewPaced(ctx context.Context) (ledger.View, error) {
	txn, err := l.Node.ViewPaced(ctx)
	if err != nil {
		return ledger.View{}, Unavailable(err)
	}
	return ledger.At(txn), nil
}

// Propose has a command decided. A view at the index includes its effect. The error is
// oauth.ErrUnavailable if nothing was decided, or oauth.ErrOutcomeUnknown, which is an
// oauth.ErrUnavailable, if the command may have been accepted.
func (l *Ledger) Propose(ctx context.Context, c command.Command) (outcome ledger.Outcome, index uint64, err error) {
	if l.Tracer == nil {
		return l.propose(ctx, c)
	}
	ctx, span := l.Tracer.Start(ctx, "propose")
	outcome, index, err = l.propose(ctx, c)
	endProposal(span, c, outcome, index, err)
	return outcome, index, err
}

func (l *Ledger) propose(ctx context.Context, c command.Command) (ledger.Outcome, uint64, error) {
	began := time.Now()
	value, index, err := l.Node.Propose(ctx, c)
	if err != nil {
		return ledger.Outcome{}, 0, Unavailable(err)
	}
	outcome := value.(ledger.Outcome)
	if outcome.Unknown {
		return ledger.Outcome{}, 0, oauth.ErrOutcomeUnknown
	}
	if outcome.Refusal == nil {
		l.Committed(time.Since(began))
	}
	return outcome, index, nil
}

// Unavailable converts an error of the cluster or a context to oauth.ErrUnavailable if it
// means that nothing can be decided now.
func Unavailable(err error) error {
	if errors.Is(err, cluster.ErrUnknown) {
		return fmt.Errorf("%w: %w", oauth.ErrOutcomeUnknown, err)
	}
	if errors.Is(err, cluster.ErrUnavailable) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", oauth.ErrUnavailable, err)
	}
	return err
}

// Now returns the time of this node's clock, for display only, such as whether a session
// has expired.
func (l *Ledger) Now() ledger.Time { return ledger.Time(l.Clock().UnixMilli()) }
