package verifier

import (
	"context"
	"fmt"
)

// Ready waits until there are keys to verify tokens with, and returns nil at once if
// there are. It is for the start of a service, and for its readiness check with a ctx
// that ends soon. The error is [ErrKeysUnavailable], and names the last failure and why
// the wait ended: an error of ctx, or that the source was closed.
//
// Ready does not wait for the feed of revocations, as a service without the feed still
// verifies tokens: see [Verifier.RevocationsFresh].
//
// Ready asks the key source if it has a method Ready as a [JWKS] does. Any other source
// is ready if [Verifier.State] says so.
func (v *Verifier) Ready(ctx context.Context) error {
	if source, ok := v.keys.(interface{ Ready(context.Context) error }); ok {
		return source.Ready(ctx)
	}
	if !v.State().Ready {
		return ErrKeysUnavailable
	}
	return nil
}

// Ready is the source's part of [Verifier.Ready].
func (j *JWKS) Ready(ctx context.Context) error {
	for {
		now := j.now()
		j.nudge(now)
		j.mu.Lock()
		serves, known, landed, failure := j.serves(now), j.current.Load() != nil, j.landed, j.lastErr
		j.mu.Unlock()
		if serves {
			return nil
		}
		switch {
		case failure != nil:
		case known:
			failure = errStale
		default:
			failure = errNotYet
		}
		select {
		case <-landed:
		case <-ctx.Done():
			return &unavailable{cause: fmt.Errorf("%w: %w", failure, ctx.Err())}
		case <-j.ctx.Done():
			return &unavailable{cause: fmt.Errorf("%w: %w", failure, errClosed)}
		}
	}
}
