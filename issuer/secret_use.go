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
	queue  chan *ledger.NoteSecretUse
	recent *limit.Recent // the secrets whose use was queued within the last minute
}

const (
	maxQueuedUses = 256
	maxRecentUses = 10_000
)

func newSecretUses() secretUses {
	return secretUses{queue: make(chan *ledger.NoteSecretUse, maxQueuedUses), recent: limit.NewRecent(time.Minute, maxRecentUses)}
}

// noteUse records the use of a secret, at most once a minute. It doesn't wait.
func (i *Issuer) noteUse(v ledger.View, r ledger.TokenReader, auth ledger.ClientAuth) {
	key, now := r.SecretID(), i.Clock()
	if i.uses.recent.Has(key, now) || !v.UseDue(r, auth, i.Now()) {
		return
	}
	select {
	case i.uses.queue <- &ledger.NoteSecretUse{ClientAuth: auth}:
		i.uses.recent.Mark(key, now)
	default:
	}
}

// recordUses proposes the uses that were noted on this node.
func (i *Issuer) recordUses(ctx context.Context) {
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
