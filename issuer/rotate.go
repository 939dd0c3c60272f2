package issuer

import (
	"context"
	"fmt"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// Rotate announces a new key of a purpose; the leader's duties take it and the
// key before it through their steps.
//
// In an emergency the new key is active at once and the one before it is
// dropped, because it leaked. That breaks what hangs on it: access tokens that
// it signed are refused, verifiers refuse the new key's tokens until they have
// fetched it, grants that are due under it have ended, and secrets that are
// recorded under it must be made again.
func (i *Issuer) Rotate(ctx context.Context, p ledger.Purpose, emergency bool) (id string, err error) {
	if !emergency {
		return i.AddKey(ctx, p)
	}
	leaked := i.View().ActiveKey(p)
	if id, err = i.announced(ctx, p); err != nil {
		return "", err
	}
	if err := i.reopen(); err != nil {
		return "", err
	}
	if err := i.acknowledge(ctx); err != nil {
		return "", fmt.Errorf("acknowledge key %s: %w", id, err)
	}
	for _, step := range []ledger.Command{
		&ledger.ActivateKey{ID: id, Voters: []string{i.Node.ID()}, Emergency: true},
		&ledger.DropKey{ID: leaked.ID, Emergency: true},
	} {
		outcome, _, err := i.Propose(ctx, step)
		switch {
		case err != nil:
			return "", fmt.Errorf("replace key %s: %w", leaked.ID, err)
		case outcome.Refusal != nil:
			return "", fmt.Errorf("replace key %s: %s", leaked.ID, outcome.Refusal.Cause)
		}
	}
	return id, i.reopen()
}

// announced is a key that waits to become active, made now if there is none.
func (i *Issuer) announced(ctx context.Context, p ledger.Purpose) (string, error) {
	for k := range i.View().Keys() {
		if k.Purpose == p && k.State == ledger.KeyAnnounced {
			return k.ID, nil
		}
	}
	return i.AddKey(ctx, p)
}
