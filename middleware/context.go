package middleware

import (
	"context"

	"github.com/mintmark-auth/mintmark/verifier"
)

type contextKey struct{}

// FromContext returns the claims of the request's token. There are none on an Optional
// route that was called without a token.
func FromContext(ctx context.Context) (*verifier.Claims, bool) {
	claims, ok := ctx.Value(contextKey{}).(*verifier.Claims)
	return claims, ok && claims != nil
}

// NewContext returns a context with claims in it, for tests of handlers without a guard.
// Guards call it too.
func NewContext(ctx context.Context, claims *verifier.Claims) context.Context {
	return context.WithValue(ctx, contextKey{}, claims)
}
