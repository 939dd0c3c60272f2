package middleware

import (
	"context"
	"time"
)

// FailClosed returns the same guard for routes that must not accept a revoked token: they
// answer 503 while revocations may be missing, which is when the feed has not answered for
// RevocationsConfig.Stale. The original guard accepts tokens then, until they expire. In
// a policy's table, the word FRESH has the same effect on one route. FailClosed panics if
// the verifier has no Revocations.
func (g *Guard) FailClosed() *Guard {
	if !g.verifier.HasRevocations() {
		panic("middleware.FailClosed: the verifier has no Revocations")
	}
	closed := *g
	closed.closed = true
	return &closed
}

// staleRetry is the Retry-After while revocations may be missing: the feed may answer by
// then.
const staleRetry = 2 * time.Second

// stale is the refusal while revocations may be missing, or nil.
func (g *Guard) stale(ctx context.Context) *Refusal {
	if g.verifier.RevocationsFresh() {
		return nil
	}
	g.warned.revocations.log(ctx, g.log, "revocations not fresh", "error", g.verifier.Revocations().Err)
	return unavailable("Whether the access token was revoked can't be told at the moment", staleRetry)
}
