package keyring

import (
	"context"
	"time"
)

// A node that starts has the keys of when it was stopped. A key that leaked since may
// have been dropped without this node. A verifier that takes the key set from it would
// accept what the leaked key signs, and refuse tokens of the other nodes. So the node
// first waits for a leader. If none answers, it gives its key set no lifetime.

// freshPause is between two attempts to reach a leader.
const freshPause = 200 * time.Millisecond

// AwaitFresh returns when the ring is not older than the start, or after FreshWait.
// LoadFresh must run meanwhile.
func (k *Keyring) AwaitFresh(ctx context.Context) {
	select {
	case <-k.fresh:
	case <-ctx.Done():
	case <-time.After(k.FreshWait):
		k.Log.Warn("no leader answered, keys may be older than those of other nodes")
	}
}

// LoadFresh opens the keys of a fresh view, and returns when it has. It is called once.
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
