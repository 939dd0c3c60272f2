package issuer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer/feed"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/security"
	"github.com/mintmark-auth/mintmark/keys"
)

// Config is what an issuer is made of.
type Config struct {
	Node        *cluster.Node
	ClusterKeys *keys.ClusterKeys
	Version     string // of the program, for the table of nodes
	Log         *slog.Logger
	Now         func() time.Time
	Rand        io.Reader // safe for concurrent use
	// Observer is told what happens. It may be nil.
	Observer Observer
	// Failures counts failures to authenticate on this node. It may be nil.
	Failures *security.Recorder
	// Tracer makes a span of each decision. It may be nil.
	Tracer trace.Tracer
	// Feed has the issuer follow what is revoked: see Revocations.
	Feed bool
}

// An Observer counts. Its methods are called by any goroutine, on the path of
// requests.
type Observer interface {
	// Refused is told the cause of each refusal that somebody is given, and the
	// client that it is told to: "" for what names none that there is.
	Refused(client string, cause ledger.Cause)
	// Issued is told of each token response, and whether it was asked for again.
	Issued(grant oauth.GrantType, retry, shared bool)
	// Committed is told how long an accepted command took, from the request's
	// node to the log and back.
	Committed(took time.Duration)
}

// nopObserver observes.
type nopObserver struct{}

func (nopObserver) Refused(string, ledger.Cause)       {}
func (nopObserver) Issued(oauth.GrantType, bool, bool) {}
func (nopObserver) Committed(time.Duration)            {}

// An Issuer answers requests on one node. Its methods may be called by any
// goroutine.
type Issuer struct {
	Config

	keyring atomic.Pointer[keyring]
	openMu  sync.Mutex // held while a new keyring is made

	reloading  chan struct{} // holds an element while somebody looks again
	reloadedAt time.Time     // when the last look began; guarded by looking

	rewrapMu     sync.Mutex    // held while this node changes the cluster key
	clusterKeyMu sync.Mutex    // held while what this node holds changes, or is told
	wakeCh       chan struct{} // of followKeys

	fresh chan struct{} // closed when the keyring is not older than the start

	feed *feed.Feed // nil unless Config.Feed

	stop context.CancelFunc
	done sync.WaitGroup
}

// New opens the keys of the node's state, makes the first ones of a new
// cluster, and starts the duties. It returns when tokens can be minted: a node
// that was a member before needs no leader for that, but waits a little for one.
func New(ctx context.Context, c Config) (*Issuer, error) {
	i := &Issuer{Config: c, reloading: make(chan struct{}, 1), wakeCh: make(chan struct{}, 1), fresh: make(chan struct{})}
	if i.Observer == nil {
		i.Observer = nopObserver{}
	}
	if i.Tracer == nil {
		i.Tracer = noop.Tracer{}
	}
	if err := i.catchUp(ctx, i.reopen()); err != nil {
		return nil, err
	}
	if !i.hasKeys() {
		if err := i.ensureKeys(ctx); err != nil {
			return nil, err
		}
	}
	duties, stop := context.WithCancel(context.WithoutCancel(ctx))
	i.stop = stop
	if i.Feed {
		i.serveRevocations(duties)
	}
	i.done.Go(func() { i.followKeys(duties) })
	i.done.Go(func() { i.Node.WhileLeading(duties, i.leaderLoop) })
	i.done.Go(func() { i.Node.WhileLeading(duties, i.beginTimeline) })
	i.done.Go(func() { i.Node.WhileLeading(duties, i.logTrail) })
	i.done.Go(func() { i.loadFreshKeyring(duties) })
	if i.Failures != nil {
		i.done.Go(func() { i.Failures.Run(duties) })
		i.done.Go(func() { i.reportFailures(duties) })
	}
	i.awaitFresh(ctx)
	return i, nil
}

// Close ends the duties. The node is its owner's to close.
func (i *Issuer) Close() {
	i.stop()
	i.done.Wait()
}

// View is the state of this node, which may lag.
func (i *Issuer) View() ledger.View { return ledger.At(i.Node.View()) }

// ViewAt is a state that has the command of index applied.
func (i *Issuer) ViewAt(ctx context.Context, index uint64) (ledger.View, error) {
	txn, err := i.Node.ViewAt(ctx, index)
	if err != nil {
		return ledger.View{}, unavailable(err)
	}
	return ledger.At(txn), nil
}

// InTouch says that View lags by a moment at most.
func (i *Issuer) InTouch() bool { return i.Node.InTouch() }

// ViewFresh is a state that no command answered before this call is missing
// from.
func (i *Issuer) ViewFresh(ctx context.Context) (ledger.View, error) {
	txn, err := i.Node.ViewFresh(ctx)
	if err != nil {
		return ledger.View{}, unavailable(err)
	}
	return ledger.At(txn), nil
}

// ViewPaced is ViewFresh for a request without a valid credential. All such requests
// share a bounded number of fresh views: see cluster.Node.ViewPaced.
func (i *Issuer) ViewPaced(ctx context.Context) (ledger.View, error) {
	txn, err := i.Node.ViewPaced(ctx)
	if err != nil {
		return ledger.View{}, unavailable(err)
	}
	return ledger.At(txn), nil
}

// Propose has a command decided. The index is where a view shows its effect.
// The error is oauth.ErrUnavailable where nothing could be decided, which
// includes an outcome that can't be told.
func (i *Issuer) Propose(ctx context.Context, c ledger.Command) (outcome ledger.Outcome, index uint64, err error) {
	ctx, span := i.Tracer.Start(ctx, "propose")
	outcome, index, err = i.propose(ctx, c)
	endProposal(span, c, outcome, index, err)
	return outcome, index, err
}

func (i *Issuer) propose(ctx context.Context, c ledger.Command) (ledger.Outcome, uint64, error) {
	began := time.Now()
	value, index, err := i.Node.Propose(ctx, &Entry{c})
	if err != nil {
		return ledger.Outcome{}, 0, unavailable(err)
	}
	outcome := value.(ledger.Outcome)
	if outcome.Unknown {
		return ledger.Outcome{}, 0, oauth.ErrOutcomeUnknown
	}
	if outcome.Refusal == nil {
		i.Observer.Committed(time.Since(began))
	}
	return outcome, index, nil
}

func unavailable(err error) error {
	if errors.Is(err, cluster.ErrUnknown) {
		return fmt.Errorf("%w: %w", oauth.ErrOutcomeUnknown, err)
	}
	if errors.Is(err, cluster.ErrUnavailable) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", oauth.ErrUnavailable, err)
	}
	return err
}

// Now is a reading of the clock for what is only shown: pages that ask
// whether a session has run out. Decisions are stamped by the leader.
func (i *Issuer) Now() ledger.Time { return ledger.Time(i.Config.Now().UnixMilli()) }

// reopen makes a new keyring from the node's state.
func (i *Issuer) reopen() error {
	i.openMu.Lock()
	defer i.openMu.Unlock()
	r, err := openKeyring(i.View(), i.ClusterKeys)
	if err != nil {
		return err
	}
	i.keyring.Store(r)
	return nil
}

// signer finds the key that an outcome names.
func (i *Issuer) signer(ctx context.Context, id string, index uint64) (*keys.Signer, error) {
	return opened(ctx, i, index, func(r *keyring) (*keys.Signer, bool) {
		s, ok := r.signing[id]
		return s, ok
	}, "signing key "+id)
}

func (i *Issuer) credentialKey(ctx context.Context, number uint32, index uint64) (*credentialKey, error) {
	return opened(ctx, i, index, func(r *keyring) (*credentialKey, bool) {
		k, ok := r.credentials[number]
		return k, ok
	}, fmt.Sprintf("credential key %d", number))
}

// opened looks for a key that the command at index named. The keyring may be a
// moment behind the state, and the state behind the leader's, so what is not
// there is looked for again when this node has applied the command.
func opened[K any](ctx context.Context, i *Issuer, index uint64, find func(*keyring) (K, bool), name string) (K, error) {
	if k, ok := find(i.keyring.Load()); ok {
		return k, nil
	}
	var none K
	if _, err := i.ViewAt(ctx, index); err != nil {
		return none, err
	}
	if err := i.reopen(); err != nil {
		return none, err
	}
	if k, ok := find(i.keyring.Load()); ok {
		return k, nil
	}
	return none, fmt.Errorf("%s is not open here", name)
}
