package keyring

import (
	"context"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// Rotate announces a new key of a purpose. The leader's duties take it and the previous
// key through their steps. The error is Refused if a rule forbids it.
func (k *Keyring) Rotate(ctx context.Context, p ledger.Purpose) (id string, err error) {
	v, err := k.Ledger.ViewFresh(ctx)
	if err != nil {
		return "", err
	}
	if a := Announced(v, p); a != nil {
		return "", Refused("key " + a.ID + " is announced already, and becomes active by itself")
	}
	return k.Add(ctx, p)
}

// Announced returns the announced key of a purpose, or nil.
func Announced(v ledger.View, p ledger.Purpose) *ledger.Key {
	for k := range v.Keys() {
		if k.Purpose == p && k.State == ledger.KeyAnnounced {
			return k
		}
	}
	return nil
}

// Step proposes the next step of every key. It is a duty of the leader. The ledger decides
// whether a step is due; a refused step is proposed again at the next call.
func (k *Keyring) Step(ctx context.Context) {
	for key := range k.Ledger.View().Keys() {
		var step command.Command
		switch key.State {
		case ledger.KeyAnnounced:
			step = &ledger.ActivateKey{ID: key.ID, Voters: k.Ledger.Node.Voters()}
		case ledger.KeyRetiring:
			step = &ledger.DropKey{ID: key.ID}
		default:
			continue
		}
		outcome, _, err := k.Ledger.Propose(ctx, step)
		switch {
		case err != nil && ctx.Err() == nil:
			k.Log.Warn("key step failed", "key", key.ID, "error", err)
		case err == nil && outcome.Refusal == nil:
			k.Log.Info("key step taken", "key", key.ID, "from", string(key.State))
		}
	}
}

// RotateDue announces the next key for each active one that has reached the age in the
// settings. It is a duty of the leader.
func (k *Keyring) RotateDue(ctx context.Context) {
	v := k.Ledger.View()
	for _, p := range []ledger.Purpose{ledger.ForCredentials, ledger.ForSigning} {
		if !v.RotationDue(p, k.Ledger.Now()) {
			continue
		}
		id, err := k.Add(ctx, p)
		switch {
		case err != nil && ctx.Err() == nil:
			k.Log.Warn("key rotation failed", "purpose", p, "error", err)
		case err == nil:
			k.Log.Info("key announced on schedule", "key", id, "purpose", p)
		}
	}
}
