package middleware

import (
	"context"

	"github.com/mintmark-auth/mintmark/verifier"
)

type contextKey struct{}

// FromContext returns what the request's token says. There is none on an
// Optional route that was called without a token.
func FromContext(ctx context.Context) (*verifier.Claims, bool) {
	claims, ok := ctx.Value(contextKey{}).(*verifier.Claims)
	return claims, ok && claims != nil
}

// NewContext returns a context with claims in it, as a guarded handler gets it.
// Guards call it; so do tests of handlers.
func NewContext(ctx context.Context, claims *verifier.Claims) context.Context {
	return context.WithValue(ctx, contextKey{}, claims)
}
