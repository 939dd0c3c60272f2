package keyring

import (
	"context"
	"errors"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier"
)

// KeySet returns the key set that verifiers fetch (RFC 7517 §5). It is encoded once for
// each change of the keys. Its MaxAge ends at the next step of a key, and is 0 while this
// node may have older keys than the others.
func (k *Keyring) KeySet() oauth.KeySet {
	r, v := k.Ring(), k.Ledger.View()
	age := v.Settings().JWKSMaxAge
	if at, ok := v.NextStep(); ok {
		age = min(age, max(0, at.Std().Sub(k.Ledger.Clock())))
	}
	if !k.isFresh() {
		age = 0
	}
	return oauth.KeySet{Body: r.jwks, ETag: r.etag, MaxAge: age}
}

// Key implements verifier.KeySource for this server's own tokens. A key that the ring
// doesn't have may be newer than this node's state, so Key reloads once.
func (k *Keyring) Key(ctx context.Context, kid string) (verifier.Key, error) {
	key, err := k.Ring().source.Key(ctx, kid)
	if !errors.Is(err, verifier.ErrUnknownKey) {
		return key, err
	}
	if err := k.Reload(ctx); err != nil {
		return verifier.Key{}, err
	}
	return k.Ring().source.Key(ctx, kid)
}
