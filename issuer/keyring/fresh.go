package keyring

import (
	"context"
	"time"
)

// A node that starts has the keys from when it was stopped. Meanwhile a leaked key may
// have been dropped. A verifier that fetches the key set from this node would accept what
// the leaked key signs, and refuse tokens of the other nodes. So the node first waits for
// a leader. If none answers, it serves its key set with max-age 0.

// freshPause is the time between two attempts to reach a leader.
const freshPause = 200 * time.Millisecond

// AwaitFresh returns once the ring is not older than the start, or after FreshWait.
// LoadFresh must run concurrently.
func (k *Keyring) AwaitFresh(ctx context.Context) {
	select {
	case <-k.fresh:
	case <-ctx.Done():
	case <-time.After(k.FreshWait):
		k.Log.Warn("no leader answered, keys may be older than those of other nodes")
	}
}

// LoadFresh opens the keys of a fresh view, and retries until it has. It must be called
// once.
func (k *Keyring) LoadFresh(ctx context.Context) {
	for ctx.Err() == nil {
		if _, err := k.Ledger.ViewFresh(ctx); err == nil && k.Reopen() == nil {
			close(k.fresh)
			return
		}
		select {
		case <-time.After(freshPause):
		case <-ctx.Done():
		}
	}
}

func (k *Keyring) isFresh() bool {
	select {
	case <-k.fresh:
		return true
	default:
		return false
	}
}
