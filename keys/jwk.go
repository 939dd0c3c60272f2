package keys

// This is the only file that imports jwx, so that replacing the library changes one file.

import (
	"bytes"
	"crypto"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/lestrrat-go/jwx/v2/jwk"
)

// encodeJWK returns the thumbprint and the JSON of a public key.
func encodeJWK(key crypto.PublicKey, alg Algorithm) (kid string, text []byte, err error) {
	k, err := jwk.FromRaw(key)
	if err != nil {
		return "", nil, err
	}
	if err := mustBePublic(k); err != nil {
		return "", nil, err
	}
	sum, err := k.Thumbprint(crypto.SHA256)
	if err != nil {
		return "", nil, err
	}
	kid = base64.RawURLEncoding.EncodeToString(sum)
	for name, value := range map[string]string{
		jwk.KeyIDKey:     kid,
		jwk.KeyUsageKey:  string(jwk.ForSignature),
		jwk.AlgorithmKey: string(alg),
	} {
		if err := k.Set(name, value); err != nil {
			return "", nil, err
		}
	}
	text, err = json.Marshal(k)
	return kid, text, err
}

// decodeJWK returns the key in a public JWK and what the JWK claims about it.
func decodeJWK(text []byte) (crypto.PublicKey, claims, error) {
	k, err := jwk.ParseKey(text)
	if err != nil || !json.Valid(text) { // jwx ignores data after the first value
		return nil, claims{}, fmt.Errorf("JWK: %w", ErrBadKey) // the error of jwx quotes its input
	}
	if err := mustBePublic(k); err != nil {
		return nil, claims{}, err
	}
	var raw any
	if err := k.Raw(&raw); err != nil {
		return nil, claims{}, fmt.Errorf("JWK: %w", ErrBadKey)
	}
	alg := ""
	if k.Algorithm() != nil {
		alg = k.Algorithm().String()
	}
	return raw, claims{kid: k.KeyID(), use: k.KeyUsage(), alg: alg}, nil
}

// mustBePublic refuses private keys, and symmetric ones.
func mustBePublic(k jwk.Key) error {
	switch k.(type) {
	case jwk.ECDSAPublicKey, jwk.OKPPublicKey, jwk.RSAPublicKey:
		return nil
	}
	return fmt.Errorf("not a public key: %w", ErrBadKey)
}

// JWKS encodes the JWK Set (RFC 7517 §5) of stored public JWKs, in their order. Each is parsed
// and encoded again from the public key alone, so that no private member can be published,
// whatever was stored. A repeated kid is an error, since a verifier could choose either key.
func JWKS(public [][]byte) ([]byte, error) {
	seen := make(map[string]bool, len(public))
	document := bytes.NewBufferString(`{"keys":[`)
	for i, text := range public {
		p, err := ParsePublicKey(text)
		if err != nil {
			return nil, fmt.Errorf("key set: key %d: %w", i, err)
		}
		if seen[p.kid] {
			return nil, fmt.Errorf("key set: key %d: %s occurs twice", i, p.kid)
		}
		seen[p.kid] = true
		if i > 0 {
			document.WriteByte(',')
		}
		document.Write(p.jwk)
	}
	document.WriteString("]}")
	return document.Bytes(), nil
}
