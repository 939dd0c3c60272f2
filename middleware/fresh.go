package middleware

import (
	"context"
	"time"
)

// FailClosed is the same guard, but for routes on which no token may pass that was
// taken back a while ago: they answer 503 while the verifier can't tell, which is
// past its RevocationsConfig.Stale. The guard that it is made of lets tokens pass
// then, until they expire. In a policy's table the word FRESH says the same of one
// route. It panics if the verifier has no Revocations.
func (g *Guard) FailClosed() *Guard {
	if !g.verifier.HasRevocations() {
		panic("middleware.FailClosed: the verifier has no Revocations")
	}
	closed := *g
	closed.closed = true
	return &closed
}

// staleRetry is when the issuer may be heard of again.
const staleRetry = 2 * time.Second

// stale is the refusal while a revocation may have been missed, or nil.
func (g *Guard) stale(ctx context.Context) *Refusal {
	if g.verifier.RevocationsFresh() {
		return nil
	}
	g.warned.revocations.log(ctx, g.log, "revocations not known", "error", g.verifier.Revocations().Err)
	return unavailable("Whether the access token was revoked can't be told at the moment", staleRetry)
}
