package issuer

import (
	"context"
	"errors"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier"
)

// KeySet is rendered once per change of the keys.
func (i *Issuer) KeySet() oauth.KeySet {
	r := i.keyring.Load()
	v := i.View()
	age := v.Settings().JWKSMaxAge
	if at, ok := v.NextStep(); ok {
		age = min(age, max(0, at.Std().Sub(i.Config.Now())))
	}
	if !i.isFresh() {
		age = 0 // another node may have more
	}
	return oauth.KeySet{Body: r.jwks, ETag: r.etag, MaxAge: age}
}

// Key makes an Issuer the verifier.KeySource of its own tokens. One that is not
// known here may be so new that this node has not heard of it.
func (i *Issuer) Key(ctx context.Context, kid string) (verifier.Key, error) {
	k, err := i.keyring.Load().source.Key(ctx, kid)
	if !errors.Is(err, verifier.ErrUnknownKey) {
		return k, err
	}
	if err := i.reloadKeyring(ctx); err != nil {
		return verifier.Key{}, err
	}
	return i.keyring.Load().source.Key(ctx, kid)
}
