package issuer

import (
	"context"
	"fmt"
	"slices"
	"time"

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
	voters, err := i.seenBy(ctx, id)
	if err != nil {
		return "", err
	}
	for _, step := range []ledger.Command{
		&ledger.ActivateKey{ID: id, Voters: voters, Emergency: true},
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

// emergencyWait is how long an emergency waits for nodes that may be down.
const emergencyWait = 5 * time.Second

// seenBy waits until every voter has opened a key. A leaked key must go even
// while a node is down, so after a while those that have opened it will do:
// the node finds the key in the state when it is back.
func (i *Issuer) seenBy(ctx context.Context, key string) ([]string, error) {
	late, cancel := context.WithTimeout(ctx, emergencyWait)
	defer cancel()
	for {
		changed := i.Node.Changed(ledger.TableNodes)
		v, voters := i.View(), i.Node.Voters()
		seen := slices.DeleteFunc(slices.Clone(voters), func(id string) bool {
			n := v.Node(id)
			return n == nil || !n.HasOpened(key)
		})
		if len(seen) == len(voters) {
			return seen, nil
		}
		select {
		case <-changed:
			continue
		case <-late.Done():
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		i.Log.Warn("a key becomes active before every node has opened it", "key", key, "opened", len(seen), "voters", len(voters))
		return seen, nil
	}
}
