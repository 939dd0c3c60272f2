package verifier_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
)

const (
	issuer   = "https://auth.example.com"
	audience = "https://api.example.com"
)

// clock is the time at which every test starts.
var clock = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// object is a JSON object.
type object map[string]any

// with returns a copy in which members are replaced, or removed by nil.
func (o object) with(changes object) object {
	c := maps.Clone(o)
	for name, value := range changes {
		if value == nil {
			delete(c, name)
		} else {
			c[name] = value
		}
	}
	return c
}

func (o object) json() string {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// replace returns the JSON with one occurrence of old replaced.
func (o object) replace(old, replacement string) string { return raw1(o.json(), old, replacement) }

func b64(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// Keys are made once, since an RSA key takes long.
var (
	ecKey = sync.OnceValue(func() *ecdsa.PrivateKey {
		return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	})
	rsaKey = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	edKey  = sync.OnceValue(func() ed25519.PrivateKey {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return must(key, err)
	})
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// jwks is the key set document that the test issuer publishes.
func jwks(entries ...object) []byte {
	return []byte(object{"keys": entries}.json())
}

func ecJWK(kid string, public *ecdsa.PublicKey) object {
	point := must(public.Bytes())
	return object{
		"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": kid,
		"x": b64(point[1:33]), "y": b64(point[33:]),
	}
}

func rsaJWK(kid string, public *rsa.PublicKey) object {
	return object{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": kid,
		"n": b64(public.N.Bytes()), "e": b64(big.NewInt(int64(public.E)).Bytes()),
	}
}

func edJWK(kid string, public ed25519.PublicKey) object {
	return object{"kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "kid": kid, "x": b64(public)}
}

func published() []byte {
	return jwks(
		ecJWK("ec", &ecKey().PublicKey),
		rsaJWK("rsa", &rsaKey().PublicKey),
		edJWK("ed", edKey().Public().(ed25519.PublicKey)),
	)
}

var goodHeader = object{"alg": "ES256", "kid": "ec", "typ": "at+jwt"}

var goodClaims = object{
	"iss": issuer, "aud": audience, "sub": "user-1", "client_id": "client-1", "jti": "token-1", "grant_id": "grant-1",
	"iat": clock.Unix(), "exp": clock.Unix() + 1800, "scope": "PROFILE_READ ORG_BOOKING_READ", "legacy": false,
}

// sign makes a token of any two texts, valid or not, with the key of the algorithm.
func sign(alg, header, payload string) string {
	signed := b64([]byte(header)) + "." + b64([]byte(payload))
	return signed + "." + b64(signature(alg, signed))
}

func signature(alg, signed string) []byte {
	digest := sha256.Sum256([]byte(signed))
	switch alg {
	case "ES256":
		r, s, err := ecdsa.Sign(rand.Reader, ecKey(), digest[:])
		must(0, err)
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	case "RS256":
		return must(rsa.SignPKCS1v15(rand.Reader, rsaKey(), crypto.SHA256, digest[:]))
	case "EdDSA":
		return ed25519.Sign(edKey(), []byte(signed))
	}
	panic("no such algorithm: " + alg)
}

// token returns the good token with changes.
func token(header, claims object) string {
	return sign("ES256", goodHeader.with(header).json(), goodClaims.with(claims).json())
}

// newVerifier returns a verifier at time clock with the published keys.
func newVerifier(t testing.TB) *verifier.Verifier {
	t.Helper()
	keys, err := verifier.StaticKeys(published())
	require.NoError(t, err)
	return withKeys(t, keys)
}

func withKeys(t testing.TB, keys verifier.KeySource) *verifier.Verifier {
	t.Helper()
	v, err := verifier.New(verifier.Config{
		Issuer: issuer, Audience: audience, Keys: keys, CacheSize: -1,
		Now: func() time.Time { return clock },
	})
	require.NoError(t, err)
	return v
}

// reason verifies a token that must be refused, and returns the reason.
func reason(t testing.TB, v *verifier.Verifier, token string) verifier.Reason {
	t.Helper()
	claims, err := v.Verify(context.Background(), token)
	require.Nil(t, claims)
	var refused *verifier.Error
	require.ErrorAs(t, err, &refused, "accepted, or an untyped error")
	return refused.Reason
}
