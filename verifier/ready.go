package verifier

import (
	"context"
	"fmt"
)

// Ready waits until there are keys to verify tokens with; it returns nil at once if there
// are. Use it at the start of a service, or with a short deadline in its readiness check.
// The error is [ErrKeysUnavailable]; its text has the last failure and the reason why the
// wait ended: an error of ctx, or a closed source.
//
// Ready does not wait for the feed of revocations, since a service without the feed still
// verifies tokens: see [Verifier.RevocationsFresh].
//
// Ready calls the method Ready of the key source, if it has one as [JWKS] has. Any other
// source is ready if [Verifier.State] reports it as ready.
func (v *Verifier) Ready(ctx context.Context) error {
	if source, ok := v.keys.(interface{ Ready(context.Context) error }); ok {
		return source.Ready(ctx)
	}
	if !v.State().Ready {
		return ErrKeysUnavailable
	}
	return nil
}

// Ready implements [Verifier.Ready] for this source.
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
