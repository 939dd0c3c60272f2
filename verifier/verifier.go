package verifier

import (
	"context"
	"errors"
	"slices"
	"time"
)

// DefaultSkew is how far clocks may differ unless Config says otherwise.
const DefaultSkew = 5 * time.Second

// Config says which tokens are ours. It is read once by New.
type Config struct {
	// Issuer is the iss that tokens must have, exactly: the issuer identifier of
	// the authorization server's metadata. Required.
	Issuer string

	// Audience must be among the token's aud. Required: without it, a token
	// meant for another service would open this one.
	Audience string

	// Keys finds the issuer's keys: NewJWKS over HTTP, or StaticKeys. Required.
	Keys KeySource

	// Skew is how far the issuer's clock and this one may differ, applied to
	// exp, nbf and iat. Zero means DefaultSkew; at most a minute.
	Skew time.Duration

	// Now is the clock. Nil means time.Now.
	Now func() time.Time

	// Revoked is asked last, about a token that is valid in every other way: it
	// reports that the token was taken back before its time. Nil means that no
	// token is, which is all that can be known offline; the authorization
	// server itself knows better. It must not wait on anything.
	Revoked func(*Claims) bool
}

// Verifier checks access tokens. It is safe for use by many goroutines.
type Verifier struct {
	issuer   string
	audience string
	keys     KeySource
	skew     time.Duration
	now      func() time.Time
	revoked  func(*Claims) bool
}

// New checks the configuration and returns a Verifier.
func New(c Config) (*Verifier, error) {
	switch {
	case c.Issuer == "":
		return nil, errors.New("new verifier: Config.Issuer is empty")
	case c.Audience == "":
		return nil, errors.New("new verifier: Config.Audience is empty")
	case c.Keys == nil:
		return nil, errors.New("new verifier: Config.Keys is nil")
	case c.Skew < 0 || c.Skew > time.Minute:
		return nil, errors.New("new verifier: Config.Skew is not between 0 and 1 minute")
	}
	v := &Verifier{issuer: c.Issuer, audience: c.Audience, keys: c.Keys, skew: c.Skew, now: c.Now, revoked: c.Revoked}
	if v.skew == 0 {
		v.skew = DefaultSkew
	}
	if v.now == nil {
		v.now = time.Now
	}
	return v, nil
}

// Verify checks a token and returns what it says. Every refusal is an [*Error];
// errors.Is tells the classes ErrInvalid, ErrExpired and ErrKeysUnavailable
// apart. The context bounds a wait for keys, nothing else.
func (v *Verifier) Verify(ctx context.Context, token string) (*Claims, error) {
	// 1. One compact JWS, in its one spelling.
	jws, err := split(token)
	if err != nil {
		return nil, err
	}
	// 2. A header of an access token, which brings no key of its own.
	h, err := parseHeader(jws.header)
	if err != nil {
		return nil, err
	}
	// 3. The issuer's key of that id. It names the algorithm, not the token.
	key, err := v.key(ctx, h.kid)
	if err != nil {
		return nil, err
	}
	if h.alg != key.alg {
		return nil, refuse(ReasonAlgorithm, "alg is not the key's")
	}
	// 4. The signature. Nothing in the payload has been looked at before.
	if !key.verify(jws.signed, jws.signature) {
		return nil, refuse(ReasonSignature, "")
	}
	// 5. The claims: there, well typed, and about us and now.
	claims, err := parseClaims(jws.payload)
	if err != nil {
		return nil, err
	}
	if err := v.accept(claims); err != nil {
		return nil, err
	}
	if v.revoked != nil && v.revoked(claims) {
		return nil, refuse(ReasonRevoked, "taken back before its time")
	}
	return claims, nil
}

func (v *Verifier) key(ctx context.Context, kid string) (Key, error) {
	key, err := v.keys.Key(ctx, kid)
	switch {
	case err == nil:
		return key, nil
	case errors.Is(err, ErrUnknownKey):
		return Key{}, refuse(ReasonUnknownKey, "kid is not in the key set")
	}
	return Key{}, &Error{Reason: ReasonKeysUnavailable, cause: err}
}

// accept decides on the values of claims (RFC 9068 §4).
func (v *Verifier) accept(c *Claims) error {
	now := v.now()
	switch {
	case c.Issuer != v.issuer:
		return refuse(ReasonIssuer, "iss is another issuer")
	case !slices.Contains(c.Audience, v.audience):
		return refuse(ReasonAudience, "aud doesn't name this resource server")
	case !now.Before(c.ExpiresAt.Add(v.skew)):
		return refuse(ReasonExpired, "exp has passed")
	case now.Add(v.skew).Before(c.NotBefore):
		return refuse(ReasonNotYetValid, "nbf is ahead of the clock")
	case now.Add(v.skew).Before(c.IssuedAt):
		return refuse(ReasonNotYetValid, "iat is ahead of the clock")
	}
	return nil
}
