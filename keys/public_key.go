package keys

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"fmt"
)

// PublicKey is a verification key (RFC 7517 §4) as it is published and, as JSON
// bytes, replicated.
type PublicKey struct {
	_   [0]func() // Equal, not ==: keys are compared by what they are
	kid string
	alg Algorithm
	jwk []byte // canonical: made by this package from the key alone
}

// newPublicKey names and encodes a key of one of the algorithms offered.
func newPublicKey(key crypto.PublicKey) (PublicKey, error) {
	alg, err := algorithmOf(key)
	if err != nil {
		return PublicKey{}, err
	}
	kid, jwk, err := encodeJWK(key, alg)
	if err != nil {
		return PublicKey{}, fmt.Errorf("encode public key: %w", err)
	}
	return PublicKey{kid: kid, alg: alg, jwk: jwk}, nil
}

// ParsePublicKey reads a public JWK that this package wrote. A private or
// symmetric key, a kid that is not the thumbprint, another use or algorithm are
// refused; members it does not know are dropped.
func ParsePublicKey(jwk []byte) (PublicKey, error) {
	key, claimed, err := decodeJWK(jwk)
	if err != nil {
		return PublicKey{}, fmt.Errorf("parse public key: %w", err)
	}
	p, err := newPublicKey(key)
	if err != nil {
		return PublicKey{}, fmt.Errorf("parse public key: %w", err)
	}
	if claimed != (claims{kid: p.kid, use: "sig", alg: string(p.alg)}) {
		return PublicKey{}, fmt.Errorf("parse public key: kid, use or alg does not match the key: %w", ErrBadKey)
	}
	return p, nil
}

// claims are the members of a JWK that say what the key is for.
type claims struct{ kid, use, alg string }

// KeyID is the RFC 7638 thumbprint.
func (p PublicKey) KeyID() string { return p.kid }

// Algorithm is the only algorithm that the key verifies.
func (p PublicKey) Algorithm() Algorithm { return p.alg }

// JWK returns a copy of the JSON: kty, kid, use "sig", alg and the public
// members of the key.
func (p PublicKey) JWK() []byte { return append([]byte(nil), p.jwk...) }

// MarshalText implements [encoding.TextMarshaler] with the JWK.
func (p PublicKey) MarshalText() ([]byte, error) {
	if p.kid == "" {
		return nil, ErrNoKey
	}
	return p.JWK(), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *PublicKey) UnmarshalText(jwk []byte) (err error) {
	*p, err = ParsePublicKey(jwk)
	return err
}

// Equal reports whether both are the same key; the kid is a digest of it.
func (p PublicKey) Equal(other PublicKey) bool { return p.kid != "" && p.kid == other.kid }

// algorithmOf tells the algorithm from the kind of key, so that a key can never
// be used with another one (RFC 8725 §3.1).
func algorithmOf(key crypto.PublicKey) (Algorithm, error) {
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		if key.Curve == elliptic.P256() {
			return ES256, nil
		}
	case ed25519.PublicKey:
		return EdDSA, nil
	case *rsa.PublicKey:
		if key.N.BitLen() >= rsaBits {
			return RS256, nil
		}
	}
	return "", fmt.Errorf("kind of key not offered: %w", ErrBadKey)
}
