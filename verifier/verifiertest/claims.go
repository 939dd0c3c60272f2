package verifiertest

import (
	"context"
	"fmt"
	"sync"

	"github.com/mintmark-auth/mintmark/verifier"
)

// sharedIssuer returns an issuer, and a verifier with its keys that needs no request.
var sharedIssuer = sync.OnceValues(func() (*Issuer, *verifier.Verifier) {
	i := NewInMemoryIssuer()
	c := i.Config()
	c.Keys = must(verifier.StaticKeys(i.KeySet()))
	return i, must(verifier.New(c))
})

// Claims returns the claims of a good token with the options given. It panics if the
// options make a token that is refused. To test a handler without its guard, put them
// into the request's context with middleware.NewContext.
func Claims(options ...Option) *verifier.Claims {
	i, v := sharedIssuer()
	claims, err := v.Verify(context.Background(), i.Token(options...))
	if err != nil {
		panic(fmt.Sprintf("verifiertest.Claims: %v", err))
	}
	return claims
}
