package verifiertest

import (
	"context"
	"fmt"
	"sync"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/verifier"
)

// sharedIssuer is an issuer whose tokens are verified on the spot.
var sharedIssuer = sync.OnceValues(func() (*Issuer, *verifier.Verifier) {
	i := NewInMemoryIssuer()
	c := i.Config()
	c.Keys = must(verifier.StaticKeys(i.KeySet()))
	return i, must(verifier.New(c))
})

// Claims are those of a good token with the options given. It panics if they
// make a token that no verifier accepts.
func Claims(options ...Option) *verifier.Claims {
	i, v := sharedIssuer()
	claims, err := v.Verify(context.Background(), i.Token(options...))
	if err != nil {
		panic(fmt.Sprintf("verifiertest.Claims: %v", err))
	}
	return claims
}

// Context has the claims of Claims in it as a guarded handler finds them, so
// that the handler can be tested without its guard.
func Context(ctx context.Context, options ...Option) context.Context {
	return middleware.NewContext(ctx, Claims(options...))
}
