package keys_test

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"math/big"
	"sync"
	"testing"

	"github.com/lestrrat-go/jwx/v2/jwa"
	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/lestrrat-go/jwx/v2/jws"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/keys"
)

var algorithms = []keys.Algorithm{keys.ES256, keys.EdDSA, keys.RS256}

// signers are generated once, since an RSA key takes a second.
var signers = sync.OnceValue(func() map[keys.Algorithm]*keys.Signer {
	made := make(map[keys.Algorithm]*keys.Signer)
	for _, alg := range algorithms {
		s, err := keys.GenerateSigner(alg)
		if err != nil {
			panic(err)
		}
		made[alg] = s
	}
	return made
})

// TestSignaturesVerifyWithTheStandardLibrary also covers the form of RFC 7518 §3.4.
func TestSignaturesVerifyWithTheStandardLibrary(t *testing.T) {
	input := []byte("header.payload")
	digest := sha256.Sum256(input)
	for _, alg := range algorithms {
		t.Run(string(alg), func(t *testing.T) {
			s := signers()[alg]
			sig, err := s.Sign(input)
			require.NoError(t, err)
			var raw any
			k, err := jwk.ParseKey(s.Public().JWK())
			require.NoError(t, err)
			require.NoError(t, k.Raw(&raw))
			switch key := raw.(type) {
			case *ecdsa.PublicKey:
				require.Len(t, sig, 64)
				r, s := new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])
				assert.True(t, ecdsa.Verify(key, digest[:], r, s))
			case ed25519.PublicKey:
				assert.True(t, ed25519.Verify(key, input, sig))
			case *rsa.PublicKey:
				assert.Equal(t, 3072, key.N.BitLen())
				require.NoError(t, rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], sig))
			default:
				t.Fatalf("unexpected %T", raw)
			}
		})
	}
}

// TestES256PadsShortIntegers signs until both r and s had a leading zero byte, which each
// has in one of 256 signatures. An unpadded signature has another length or doesn't
// verify, so all are verified.
func TestES256PadsShortIntegers(t *testing.T) {
	s := signers()[keys.ES256]
	k, err := jwk.ParseKey(s.Public().JWK())
	require.NoError(t, err)
	var public ecdsa.PublicKey
	require.NoError(t, k.Raw(&public))
	input := []byte("header.payload")
	digest := sha256.Sum256(input)
	var shortR, shortS bool
	for range 10_000 { // the probability of 10,000 without one is less than 1 in 10^16
		sig, err := s.Sign(input)
		require.NoError(t, err)
		require.Len(t, sig, 64)
		require.True(t, ecdsa.Verify(&public, digest[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])), "%x", sig)
		shortR, shortS = shortR || sig[0] == 0, shortS || sig[32] == 0
		if shortR && shortS {
			return
		}
	}
	t.Fatal("no short integer seen")
}

func TestSignaturesVerifyWithJWX(t *testing.T) {
	for _, alg := range algorithms {
		t.Run(string(alg), func(t *testing.T) {
			s := signers()[alg]
			input := "eyJhbGciOiJ0ZXN0In0.cGF5bG9hZA"
			sig, err := s.Sign([]byte(input))
			require.NoError(t, err)
			verifier, err := jws.NewVerifier(jwa.SignatureAlgorithm(s.Alg()))
			require.NoError(t, err)
			k, err := jwk.ParseKey(s.Public().JWK())
			require.NoError(t, err)
			var raw any
			require.NoError(t, k.Raw(&raw))
			require.NoError(t, verifier.Verify([]byte(input), sig, raw))
			require.Error(t, verifier.Verify([]byte(input+"x"), sig, raw))
		})
	}
}

func TestSignerRoundTrip(t *testing.T) {
	for _, alg := range algorithms {
		t.Run(string(alg), func(t *testing.T) {
			s := signers()[alg]
			der, err := s.PKCS8()
			require.NoError(t, err)
			again, err := keys.ParseSigner(der)
			require.NoError(t, err)
			assert.Equal(t, s.KeyID(), again.KeyID())
			assert.Equal(t, string(alg), again.Alg())
			assert.Equal(t, s.Public(), again.Public())
		})
	}
}

func TestParseSignerRefuses(t *testing.T) {
	pkcs8 := func(key any) []byte {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		require.NoError(t, err)
		return der
	}
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	small, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	agreement, err := ecdh.X25519().GenerateKey(rand.Reader)
	require.NoError(t, err)
	for name, der := range map[string][]byte{
		"nothing": nil, "garbage": []byte("garbage"),
		"another curve": pkcs8(p384), "short RSA": pkcs8(small), "key agreement": pkcs8(agreement), "cut": pkcs8(p256)[:60],
	} {
		_, err := keys.ParseSigner(der)
		require.ErrorIs(t, err, keys.ErrBadKey, name)
	}
}

func BenchmarkSign(b *testing.B) {
	input := make([]byte, 600)
	for _, alg := range algorithms {
		b.Run(string(alg), func(b *testing.B) {
			s := signers()[alg]
			b.ReportAllocs()
			for b.Loop() {
				_, _ = s.Sign(input)
			}
		})
	}
}
