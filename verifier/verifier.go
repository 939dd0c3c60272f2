package verifier

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Verifier checks access tokens. It is safe for use by many goroutines.
type Verifier struct {
	issuers   []string // accepted iss; the first is Config.Issuer
	audiences []string // one of aud must be among these; nil: any
	keys      KeySource
	jwks      *JWKS // keys, if they are a JWKS
	ownJWKS   *JWKS // jwks, if New made it
	skew      time.Duration
	now       func() time.Time
	sameClock bool // now and the clock of jwks are the same
	revoked   func(*Claims) bool
	feed      *revocations // nil: none
	cache     *cache       // nil: none
	observer  Observer
}

// Verify checks a token and returns its claims. Every refusal is an [*Error];
// errors.Is distinguishes the classes ErrInvalid, ErrExpired and ErrKeysUnavailable.
// The context bounds a wait for keys and nothing else.
func (v *Verifier) Verify(ctx context.Context, token string) (*Claims, error) {
	claims, cached, err := v.verify(ctx, token)
	switch {
	case err != nil && v.observer.Refused != nil:
		v.observer.Refused(ctx, err.(*Error))
	case err == nil && v.observer.Accepted != nil:
		v.observer.Accepted(ctx, cached)
	}
	return claims, err
}

func (v *Verifier) verify(ctx context.Context, token string) (_ *Claims, cached bool, _ error) {
	now := v.now()
	if v.cache == nil || len(token) > maxToken {
		claims, _, err := v.check(ctx, token, now)
		return claims, false, err
	}
	if e := v.cache.get(token); e != nil {
		ok, err := v.verifyCached(ctx, e, now)
		if ok {
			return e.claims, true, nil
		}
		v.cache.drop(e)
		if err != nil {
			return nil, false, err
		}
	}
	claims, key, err := v.check(ctx, token, now)
	if err == nil {
		v.cache.put(token, claims, key)
	}
	return claims, false, err
}

// check verifies a token that is not in the cache.
func (v *Verifier) check(ctx context.Context, token string, now time.Time) (*Claims, Key, error) {
	// 1. One compact JWS, in its one spelling.
	jws, err := split(token)
	if err != nil {
		return nil, Key{}, err
	}
	// 2. A header of an access token, without a key or a link to one.
	h, err := parseHeader(jws.header)
	if err != nil {
		return nil, Key{}, err
	}
	// 3. The key with that kid, from the one source of keys, regardless of iss. The key
	// determines the algorithm, the token does not.
	key, err := v.key(ctx, h.kid)
	if err != nil {
		return nil, Key{}, err
	}
	if h.alg != key.Algorithm() {
		return nil, Key{}, refuse(ReasonAlgorithm, "alg is not the key's")
	}
	// 4. The signature. The payload is not read before.
	if !key.verify(jws.signed, jws.signature) {
		return nil, Key{}, refuse(ReasonSignature, "")
	}
	// 5. The claims: present, of the right types, for this resource server, and valid now.
	claims, err := parseClaims(jws.payload)
	if err != nil {
		return nil, Key{}, err
	}
	if err := v.accept(claims, now); err != nil {
		return nil, Key{}, err
	}
	return claims, key, nil
}

func (v *Verifier) key(ctx context.Context, kid string) (Key, error) {
	key, err := v.keys.Key(ctx, kid)
	switch {
	case err == nil:
		return key, nil
	case errors.Is(err, ErrUnknownKey):
		return Key{}, refuse(ReasonUnknownKey, "kid is not in the key set")
	}
	return Key{}, keysUnavailable(err)
}

const revokedText = "revoked before it expired"

// accept checks the values of claims (RFC 9068 §4).
func (v *Verifier) accept(c *Claims, now time.Time) error {
	switch {
	case !slices.Contains(v.issuers, c.issuer):
		return refuse(ReasonIssuer, "iss is another issuer")
	case !v.serves(c.audience):
		return refuse(ReasonAudience, "aud doesn't name this resource server")
	}
	if err := v.live(c, now); err != nil {
		return err
	}
	if v.feed != nil && v.feed.revoked(c) {
		return refuse(ReasonRevoked, revokedText)
	}
	return nil
}

// serves reports whether an aud names this resource server.
func (v *Verifier) serves(audience []string) bool {
	if v.audiences == nil {
		return len(audience) > 0
	}
	return slices.ContainsFunc(v.audiences, func(ours string) bool { return slices.Contains(audience, ours) })
}

// live checks what changes with time, except the feed of revocations.
func (v *Verifier) live(c *Claims, now time.Time) error {
	ahead := now.Add(v.skew)
	switch {
	case !now.Before(c.expiresAt.Add(v.skew)):
		return &Error{Reason: ReasonExpired, Claims: c, detail: "exp has passed"}
	case ahead.Before(c.notBefore):
		return refuse(ReasonNotYetValid, "nbf is ahead of the clock")
	case ahead.Before(c.issuedAt):
		return refuse(ReasonNotYetValid, "iat is ahead of the clock")
	case v.revoked != nil && v.revoked(c):
		return refuse(ReasonRevoked, revokedText)
	}
	return nil
}
