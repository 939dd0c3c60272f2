package issuer

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/issuer/feed"
	"github.com/mintmark-auth/mintmark/issuer/keyring"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/rekey"
	"github.com/mintmark-auth/mintmark/issuer/replica"
	"github.com/mintmark-auth/mintmark/issuer/schedule"
	"github.com/mintmark-auth/mintmark/issuer/security"
	"github.com/mintmark-auth/mintmark/keys"
)

// Config configures an Issuer.
type Config struct {
	Node        *cluster.Node
	ClusterKeys *keys.ClusterKeys
	Version     string // of the program, for the table of nodes
	Log         *slog.Logger
	Now         func() time.Time
	Rand        io.Reader // safe for concurrent use
	// Observer counts events for metrics. It may be nil.
	Observer Observer
	// Failures counts failed authentications on this node. It may be nil.
	Failures *security.Recorder
	// Tracer creates a span for each proposal. It may be nil.
	Tracer trace.Tracer
	// FreshWait is keyring.Config.FreshWait.
	FreshWait time.Duration
	// Backups configures the scheduled backups that this node makes. New sets Ledger,
	// Changed, ID and Log. The zero value makes none.
	Backups schedule.Config
}

// An Observer counts events for metrics. Its methods are called concurrently and during
// requests.
type Observer interface {
	// Refused is called with the code, cause and error_id of each refusal, and the id of the
	// client, "" for a client that does not exist.
	Refused(client string, code oauth.Code, cause ledger.Cause, errorID string)
	// Issued is called for each token response. retry reports whether the same response
	// was requested again.
	Issued(grant oauth.GrantType, retry, shared bool)
	// Committed is called with the duration of each accepted command, from the request's
	// node to the log and back.
	Committed(took time.Duration)
}

// nopObserver counts nothing.
type nopObserver struct{}

func (nopObserver) Refused(string, oauth.Code, ledger.Cause, string) {}
func (nopObserver) Issued(oauth.GrantType, bool, bool)               {}
func (nopObserver) Committed(time.Duration)                          {}

// An Issuer handles requests on one node. Its methods are safe for concurrent use.
type Issuer struct {
	*replica.Ledger
	Keyring *keyring.Keyring
	Rekey   *rekey.Rekeyer

	config   Config
	feed     *feed.Feed
	uses     secretUses
	hashed   hashedSecrets
	usage    usageCounts
	verifier atomic.Pointer[accessVerifier] // see accessVerifier

	stop context.CancelFunc
	done sync.WaitGroup
}

// New opens the keys of the node's state, adds the first ones of a new cluster, and starts
// the duties. It returns once tokens can be minted. A node that was a member before needs
// no leader for that, but waits briefly for one.
func New(ctx context.Context, c Config) (*Issuer, error) {
	if c.Observer == nil {
		c.Observer = nopObserver{}
	}
	l := replica.New(replica.Config{Node: c.Node, Clock: c.Now, Tracer: c.Tracer, Committed: c.Observer.Committed})
	k := keyring.New(keyring.Config{Ledger: l, ClusterKeys: c.ClusterKeys, Log: c.Log, Rand: c.Rand, FreshWait: c.FreshWait})
	r := rekey.New(rekey.Config{Ledger: l, Keyring: k, ClusterKeys: c.ClusterKeys, Version: c.Version, Log: c.Log, Rand: c.Rand})
	i := &Issuer{Ledger: l, Keyring: k, Rekey: r, config: c, uses: newSecretUses(), hashed: newHashedSecrets(c.Rand), usage: newUsageCounts()}
	if err := r.Open(ctx); err != nil {
		return nil, err
	}
	if !k.Complete() {
		if err := k.EnsureFirst(ctx); err != nil {
			return nil, err
		}
		if err := r.Open(ctx); err != nil {
			return nil, err
		}
	}
	i.startDuties(context.WithoutCancel(ctx))
	k.AwaitFresh(ctx)
	return i, nil
}

// Close ends the duties, and reports what was counted. The caller closes the node.
func (i *Issuer) Close() {
	i.stop()
	i.done.Wait()
}
