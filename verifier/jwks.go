package verifier

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// ParseJWKS reads a JWK Set (RFC 7517 §5) and returns the usable keys. An entry is skipped
// if it is malformed, of an unknown kind, not for signatures, too weak, or has a private
// member. The whole set is refused if two usable keys have the same kid, or if no key is
// usable.
func ParseJWKS(document []byte) ([]Key, error) {
	keys, _, err := parseJWKS(document)
	return keys, err
}

// parseJWKS also counts the entries that it skips.
func parseJWKS(document []byte) (keys []Key, skipped int, err error) {
	var hasKeys bool
	s := scanner{in: string(document)}
	err = s.object(func(name string) error {
		if name != "keys" {
			return s.value()
		}
		hasKeys = true
		return s.array(func() error {
			entry, err := s.raw()
			if err != nil {
				return err
			}
			if key, err := parseJWK(entry); err == nil {
				keys = append(keys, key)
			} else {
				skipped++
			}
			return nil
		})
	})
	if err == nil {
		err = s.end()
	}
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("parse key set: %w", err)
	case !hasKeys:
		return nil, 0, errors.New("parse key set: no member keys")
	case len(keys) == 0:
		return nil, 0, errors.New("parse key set: no usable key")
	}
	seen := make(map[string]bool, len(keys))
	for _, key := range keys {
		if seen[key.id] {
			return nil, 0, errors.New("parse key set: two keys have the same kid")
		}
		seen[key.id] = true
	}
	return keys, skipped, nil
}

// StaticKeys is a KeySource of a key set that never changes.
func StaticKeys(jwks []byte) (KeySource, error) {
	keys, err := ParseJWKS(jwks)
	if err != nil {
		return nil, err
	}
	return byID(keys), nil
}

// keySet finds keys by kid.
type keySet map[string]Key

func byID(keys []Key) keySet {
	set := make(keySet, len(keys))
	for _, key := range keys {
		set[key.id] = key
	}
	return set
}

// adopt replaces keys by the equal ones of the set before, so that keys can be compared by
// address. It reports whether the two sets are equal.
func (s keySet) adopt(before keySet) bool {
	same := len(s) == len(before)
	for id, key := range s {
		if old, ok := before[id]; ok && old.equal(key) {
			s[id] = old
		} else {
			same = false
		}
	}
	return same
}

func (s keySet) Key(_ context.Context, kid string) (Key, error) {
	if key, ok := s[kid]; ok {
		return key, nil
	}
	return Key{}, ErrUnknownKey
}

// jwk is one entry of the set, as text; empty members are absent.
type jwk struct {
	kty, kid, use, alg string
	ops                []string // key_ops; nil: absent
	crv, x, y          string   // RFC 7518 §6.2.1, RFC 8037 §2
	n, e               string   // RFC 7518 §6.3.1
}

var errJWK = errors.New("not a key to verify with")

func parseJWK(entry string) (Key, error) {
	var k jwk
	members := map[string]*string{
		"kty": &k.kty, "kid": &k.kid, "use": &k.use, "alg": &k.alg,
		"crv": &k.crv, "x": &k.x, "y": &k.y, "n": &k.n, "e": &k.e,
	}
	s := scanner{in: entry}
	err := s.object(func(name string) (err error) {
		switch name {
		case "d", "p", "q", "dp", "dq", "qi", "oth", "k":
			return errJWK // a published private key is a leaked key
		}
		if member := members[name]; member != nil {
			if *member, err = s.text(); err == nil && *member == "" {
				return errJWK // present, but empty
			}
			return err
		}
		if name == "key_ops" {
			k.ops = []string{}
			return s.array(func() error {
				operation, err := s.text()
				k.ops = append(k.ops, operation)
				return err
			})
		}
		return s.value()
	})
	if err != nil {
		return Key{}, err
	}
	// use and key_ops are optional (RFC 7517 §4.2, §4.3). If present, they must allow
	// the verification of signatures.
	if k.kid == "" || k.use != "" && k.use != "sig" || k.ops != nil && !slices.Contains(k.ops, "verify") {
		return Key{}, errJWK
	}
	k.kid = strings.Clone(k.kid) // a substring would keep the whole document in memory
	// alg is optional (RFC 7517 §4.4). Without it, the type of the key determines the
	// algorithm: one algorithm per type is supported.
	switch {
	case k.kty == "EC" && k.crv == "P-256" && (k.alg == "" || k.alg == ES256):
		return k.es256()
	case k.kty == "OKP" && k.crv == "Ed25519" && (k.alg == "" || canonical(k.alg) == EdDSA):
		x, err := octets(k.x)
		if err != nil {
			return Key{}, err
		}
		return NewKey(k.kid, EdDSA, ed25519.PublicKey(x))
	case k.kty == "RSA" && (k.alg == "" || k.alg == RS256):
		return k.rs256()
	}
	return Key{}, errJWK
}

func (k jwk) es256() (Key, error) {
	x, err := octets(k.x)
	if err != nil {
		return Key{}, err
	}
	y, err := octets(k.y)
	if err != nil {
		return Key{}, err
	}
	if len(x) != 32 || len(y) != 32 {
		return Key{}, errJWK // full size with leading zeros: RFC 7518 §6.2.1.2
	}
	return newES256(k.kid, bytes.Join([][]byte{{4}, x, y}, nil))
}

func (k jwk) rs256() (Key, error) {
	n, err := octets(k.n)
	if err != nil {
		return Key{}, err
	}
	e, err := octets(k.e)
	if err != nil {
		return Key{}, err
	}
	exponent := new(big.Int).SetBytes(e)
	if len(n) > maxModulusBits/8+1 || exponent.BitLen() > 31 {
		return Key{}, errJWK
	}
	return NewKey(k.kid, RS256, &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exponent.Int64())})
}

// octets decodes the base64url of a key's number.
func octets(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, errJWK // encoding would skip them
	}
	return encoding.DecodeString(text)
}
