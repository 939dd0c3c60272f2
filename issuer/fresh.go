package issuer

import (
	"context"
	"time"
)

// A node that starts has the keys of when it was stopped. If one leaked since it
// was dropped without this node, and a verifier that takes the key set from it
// would accept what the leaked key signs, and refuse tokens of the others. So it
// first waits for a leader, and where none comes promises nothing of what it
// serves.

// freshWait is how long a node waits at its start. It is not longer, as the keys
// must be served through every outage too. Tests change it.
var freshWait = 3 * time.Second

// awaitFresh returns when the keyring is not older than the start, or after a while.
func (i *Issuer) awaitFresh(ctx context.Context) {
	select {
	case <-i.fresh:
	case <-ctx.Done():
	case <-time.After(freshWait):
		i.Log.Warn("no leader answers, so that the keys may be older than those of other nodes")
	}
}

// loadFreshKeyring ends when the keyring is not older than the start.
func (i *Issuer) loadFreshKeyring(ctx context.Context) {
	for ctx.Err() == nil {
		if _, err := i.ViewFresh(ctx); err == nil && i.reopen() == nil {
			close(i.fresh)
			return
		}
		select {
		case <-time.After(catchUpPause):
		case <-ctx.Done():
		}
	}
}

func (i *Issuer) isFresh() bool {
	select {
	case <-i.fresh:
		return true
	default:
		return false
	}
}
