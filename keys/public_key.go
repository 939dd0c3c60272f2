package keys

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"fmt"
)

// A PublicKey is a verification key (RFC 7517 §4), which is published and replicated as JSON.
type PublicKey struct {
	kid string
	alg Algorithm
	jwk []byte // canonical: encoded by this package from the key alone
}

// newPublicKey names and encodes a key of a supported algorithm.
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

// ParsePublicKey parses a public JWK that this package encoded. It refuses a private or
// symmetric key, a kid that is not the thumbprint, and another use or algorithm. Unknown
// members are ignored.
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

// claims are the members of a JWK that describe the use of the key.
type claims struct{ kid, use, alg string }

// KeyID returns the RFC 7638 thumbprint.
func (p PublicKey) KeyID() string { return p.kid }

// JWK returns a copy of the JSON: kty, kid, use "sig", alg and the public members of the key.
func (p PublicKey) JWK() []byte { return append([]byte(nil), p.jwk...) }

// algorithmOf derives the algorithm from the type of key, so that a key can't be used
// with another algorithm (RFC 8725 §3.1).
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
