package issuer

import (
	"context"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/keys"
)

// StepKeys and SweepOnce are the leader's duties without their clock.
func (i *Issuer) StepKeys(ctx context.Context) { i.stepKeys(ctx) }

func (i *Issuer) SweepOnce(ctx context.Context) error {
	var s sweeper
	return s.run(ctx, i)
}

// Lag returns what takes the node back to the keys that it has now, as one that
// has not heard of newer ones.
func (i *Issuer) Lag() (back func()) {
	now := i.keyring.Load()
	return func() { i.keyring.Store(now) }
}

// SweepEvents is the sweep of an audit trail that may have so many events.
func (i *Issuer) SweepEvents(ctx context.Context, most int) error {
	s := sweeper{shares: ledger.Shares{Limit: most}}
	return s.sweepEvents(ctx, i)
}

// SetFreshWait is for how long a node that starts waits for a leader.
func SetFreshWait(d time.Duration) (before time.Duration) {
	before, freshWait = freshWait, d
	return before
}

// RewrapSteps are those of Rewrap, one by one.
func (i *Issuer) RewrapSteps(ctx context.Context) []func() error {
	var key keys.ClusterKey
	var voters []string
	return []func() error{
		func() (err error) { key, err = i.keyToDistribute(); return err },
		func() (err error) { key, err = i.distributeKey(ctx, false); return err },
		func() (err error) { voters, err = i.waitStored(ctx, key.ID(), false); return err },
		func() error { return i.rewrapKeyring(ctx, key, voters) },
		func() error { return i.Node.RewrapAuthorities(ctx, oneKey{key, i.Rand}) },
	}
}
