package verifier

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// The algorithms that can be verified (RFC 7518 §3.1, RFC 8037 §3.1).
const (
	ES256 = "ES256"
	RS256 = "RS256"
	EdDSA = "EdDSA"
)

// canonical returns the one name of an algorithm in this package. EdDSA with Ed25519, the
// only curve that is supported, is also called Ed25519 (RFC 9864 §2.2).
func canonical(alg string) string {
	if alg == "Ed25519" {
		return EdDSA
	}
	return alg
}

// KeySource finds the issuer's public keys.
//
// Key returns the key with a kid, an error that is [ErrUnknownKey] if the issuer publishes
// no key with that kid, and an error that is [ErrKeysUnavailable] if that is not known now.
// Key is called for every token, from many goroutines, with a kid that is not verified.
type KeySource interface {
	Key(ctx context.Context, kid string) (Key, error)
}

// Key is a public key for one algorithm, which the token's header does not choose (RFC
// 8725 §3.1). The zero value verifies nothing.
type Key struct{ *publicKey }

// publicKey is immutable.
type publicKey struct {
	id, alg string
	public  comparablePublicKey // *ecdsa.PublicKey, *rsa.PublicKey or ed25519.PublicKey, according to alg
}

type comparablePublicKey interface{ Equal(crypto.PublicKey) bool }

// ID returns the kid.
func (k Key) ID() string {
	if k.publicKey == nil {
		return ""
	}
	return k.id
}

// Algorithm returns ES256, RS256 or EdDSA.
func (k Key) Algorithm() string {
	if k.publicKey == nil {
		return ""
	}
	return k.alg
}

// Public returns the public key, which the caller must not change: an *ecdsa.PublicKey,
// an *rsa.PublicKey or an ed25519.PublicKey. It is nil for the zero value.
func (k Key) Public() crypto.PublicKey {
	if k.publicKey == nil {
		return nil
	}
	return k.public
}

// equal reports whether two keys verify the same tokens.
func (k Key) equal(o Key) bool {
	if k.publicKey == o.publicKey || k.publicKey == nil || o.publicKey == nil {
		return k.publicKey == o.publicKey
	}
	return k.id == o.id && k.alg == o.alg && k.public.Equal(o.public)
}

// RSA bounds, in bits: below 2,048 a key is weak (RFC 7518 §3.3); above 8,192 a
// verification takes too long.
const (
	minModulusBits = 2048
	maxModulusBits = 8192
	minExponent    = 65537
)

// NewKey makes a key for ES256, RS256 or EdDSA. It checks that the public key is valid and
// of the algorithm, and copies a key that could be changed later.
func NewKey(id, alg string, public crypto.PublicKey) (Key, error) {
	if id == "" {
		return Key{}, errors.New("new key: no id")
	}
	switch p := public.(type) {
	case *ecdsa.PublicKey:
		if alg != ES256 || p == nil || p.Curve != elliptic.P256() || *p == (ecdsa.PublicKey{Curve: p.Curve}) {
			break
		}
		point, err := p.Bytes()
		if err != nil {
			return Key{}, fmt.Errorf("new key: %w", err)
		}
		return newES256(id, point)
	case *rsa.PublicKey:
		if alg != RS256 || p == nil || p.N == nil {
			break
		}
		if bits := p.N.BitLen(); bits < minModulusBits || bits > maxModulusBits || p.E < minExponent || p.E%2 == 0 {
			return Key{}, errors.New("new key: RSA modulus or exponent out of bounds")
		}
		return Key{&publicKey{id, alg, &rsa.PublicKey{N: new(big.Int).Set(p.N), E: p.E}}}, nil
	case ed25519.PublicKey:
		if alg != EdDSA || len(p) != ed25519.PublicKeySize {
			break
		}
		return Key{&publicKey{id, alg, slices.Clone(p)}}, nil
	}
	return Key{}, fmt.Errorf("new key: a %T is not for this algorithm", public)
}

// newES256 makes a key of an uncompressed point, and checks that the point is on the curve.
func newES256(id string, point []byte) (Key, error) {
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return Key{}, fmt.Errorf("new key: %w", err)
	}
	return Key{&publicKey{id, ES256, public}}, nil
}

// verify reports whether signature is the key's over signed.
func (k Key) verify(signed, signature []byte) bool {
	if k.publicKey == nil {
		return false
	}
	switch public := k.public.(type) {
	case *ecdsa.PublicKey:
		var der [maxES256DER]byte
		asn1, ok := es256ToDER(der[:0], signature)
		if !ok {
			return false
		}
		digest := sha256.Sum256(signed)
		return ecdsa.VerifyASN1(public, digest[:], asn1)
	case *rsa.PublicKey:
		digest := sha256.Sum256(signed)
		return len(signature) == public.Size() && rsa.VerifyPKCS1v15(public, crypto.SHA256, digest[:], signature) == nil
	case ed25519.PublicKey:
		return len(signature) == ed25519.SignatureSize && ed25519.Verify(public, signed, signature)
	}
	return false
}

// p256Order is n, the order of the base point of P-256, big endian.
var p256Order = elliptic.P256().Params().N.FillBytes(make([]byte, 32))

// maxES256DER is SEQUENCE of two INTEGERs of up to 33 octets.
const maxES256DER = 2 + 2*(2+33)

// es256ToDER converts r || s, 32 octets each (RFC 7518 §3.4), to the ASN.1 form of
// crypto/ecdsa. It refuses r or s outside 1..n-1 itself, so that no change of crypto/ecdsa
// can make a signature of zeros valid (CVE-2022-21449).
func es256ToDER(dst, signature []byte) ([]byte, bool) {
	if len(signature) != 64 {
		return nil, false
	}
	r, s := signature[:32], signature[32:]
	if bytes.Compare(r, p256Order) >= 0 || bytes.Compare(s, p256Order) >= 0 {
		return nil, false
	}
	r, s = bytes.TrimLeft(r, "\x00"), bytes.TrimLeft(s, "\x00")
	if len(r) == 0 || len(s) == 0 {
		return nil, false
	}
	dst = append(dst, 0x30, byte(4+integerLen(r)+integerLen(s)))
	return appendInteger(appendInteger(dst, r), s), true
}

// appendInteger appends a positive INTEGER without leading zeros, except one where the
// top bit would make the INTEGER negative.
func appendInteger(dst, n []byte) []byte {
	dst = append(dst, 0x02, byte(integerLen(n)))
	if n[0] >= 0x80 {
		dst = append(dst, 0)
	}
	return append(dst, n...)
}

func integerLen(n []byte) int { return len(n) + int(n[0]>>7) }
