package issuer

import (
	"context"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/limit"
)

// A secretUses is the queue of uses of secrets for requests that are answered without a
// command. If it is full, uses are lost: their time is for display.
type secretUses struct {
	queue  chan *ledger.RecordSecretUse
	recent *limit.Recent[struct{}] // the secrets whose use was queued within the last minute
}

const (
	maxQueuedUses = 256
	maxRecentUses = 10_000
)

func newSecretUses() secretUses {
	return secretUses{queue: make(chan *ledger.RecordSecretUse, maxQueuedUses), recent: limit.NewRecent[struct{}](time.Minute, maxRecentUses)}
}

// queueSecretUse queues the use of a secret to be recorded, at most once a minute. It doesn't wait.
func (i *Issuer) queueSecretUse(v ledger.View, r ledger.TokenReader, auth ledger.ClientAuth) {
	key, now := r.SecretID(), i.Clock()
	if i.uses.recent.Has(key, now) || !v.SecretUseDue(r, auth, i.Now()) {
		return
	}
	select {
	case i.uses.queue <- &ledger.RecordSecretUse{ClientAuth: auth}:
		i.uses.recent.Mark(key, struct{}{}, now)
	default:
	}
}

// recordSecretUses proposes the queued uses until ctx ends.
func (i *Issuer) recordSecretUses(ctx context.Context) {
	for {
		select {
		case c := <-i.uses.queue:
			if _, _, err := i.Propose(ctx, c); err != nil && ctx.Err() == nil {
				i.config.Log.Warn("use of a secret not recorded", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}
