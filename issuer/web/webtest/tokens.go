package webtest

import (
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/web"
	access "github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// Tokens mints access tokens at the time of an Env's start.
var Tokens = sync.OnceValue(func() *verifiertest.Issuer {
	i := verifiertest.NewInMemoryIssuer()
	i.Now = func() time.Time { return SceneTime }
	return i
})

// VerifyTokens makes the pages verify the tokens of Tokens. One whose jti is "revoked" is.
func VerifyTokens(c *web.Config) {
	config := Tokens().Config()
	keys, err := access.StaticKeys(Tokens().KeySet())
	if err != nil {
		panic(err)
	}
	config.Keys, config.Revoked = keys, func(c *access.Claims) bool { return c.ID() == "revoked" }
	v, err := access.New(config)
	if err != nil {
		panic(err)
	}
	c.Verify = v.Verify
}
