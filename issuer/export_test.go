package issuer

import (
	"context"
	"log/slog"
	"time"

	"github.com/mintmark-auth/mintmark/cluster"
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/replica"
)

// Command returns the command that a request to the token endpoint becomes.
func (i *Issuer) Command(r oauth.TokenRequest) (command.Command, error) { return i.command(r) }

// OnHashedSecret sets a function that is called before a secret is verified against a hash.
func (i *Issuer) OnHashedSecret(f func()) {
	i.hashed.hasher = observedHasher{newHashedSecrets(i.config.Rand).hasher, f}
}

type observedHasher struct {
	hasher interface {
		Matches(ctx context.Context, hash, presented string) (bool, error)
	}
	before func()
}

func (o observedHasher) Matches(ctx context.Context, hash, presented string) (bool, error) {
	o.before()
	return o.hasher.Matches(ctx, hash, presented)
}

// HashPlaces returns how many requests may verify a hashed secret or wait for it.
func (i *Issuer) HashPlaces() int { return cap(i.hashed.places) }

// DrainUsage returns the reports of what this node has counted.
func (i *Issuer) DrainUsage() []*ledger.ReportUsage { return i.usage.drain(i.Node.ID()) }

// SweepOnce runs the sweep of the leader's duties.
func (i *Issuer) SweepOnce(ctx context.Context) error {
	var s sweeper
	return s.run(ctx, i)
}

// EndSecrets runs a duty of the leader.
func (i *Issuer) EndSecrets(ctx context.Context) { i.endSecrets(ctx) }

// LeaderDuties returns the duties of the leader.
func (i *Issuer) LeaderDuties() []func(context.Context) { return i.leaderDuties() }

// BeginTimeline runs a duty of the leader on a node without an issuer.
func BeginTimeline(ctx context.Context, n *cluster.Node, log *slog.Logger) {
	i := &Issuer{Ledger: replica.New(replica.Config{Node: n, Clock: time.Now}), config: Config{Log: log}}
	i.beginTimeline(ctx)
}

// SweepEvents runs the sweep of an audit trail with that limit of events.
func (i *Issuer) SweepEvents(ctx context.Context, most int) error {
	s := sweeper{shares: ledger.Shares{Limit: most}}
	return s.sweepEvents(ctx, i)
}
