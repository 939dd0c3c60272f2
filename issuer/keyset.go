package issuer

import (
	"context"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier"
)

// KeySet is rendered once per change of the keys.
func (i *Issuer) KeySet() oauth.KeySet {
	r := i.keys.Load()
	v := i.View()
	age := v.Settings().JWKSMaxAge
	if at, ok := v.NextStep(); ok {
		age = min(age, max(0, at.Std().Sub(i.Config.Now())))
	}
	return oauth.KeySet{Body: r.jwks, ETag: r.etag, MaxAge: age}
}

// Key makes an Issuer the verifier.KeySource of its own tokens.
func (i *Issuer) Key(ctx context.Context, kid string) (verifier.Key, error) {
	return i.keys.Load().source.Key(ctx, kid)
}
