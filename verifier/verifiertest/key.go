package verifiertest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/big"
	"sync/atomic"

	"github.com/mintmark-auth/mintmark/verifier"
)

// key is a signing key and its entry of the key set.
type key struct {
	kid, alg string
	private  crypto.Signer
	jwk      map[string]any // not changed
}

var keysMade atomic.Int64

func newKey(algorithm string) *key {
	switch algorithm {
	case verifier.ES256:
		private := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
		point := must(private.PublicKey.Bytes())
		return describe(algorithm, private, map[string]any{
			"kty": "EC", "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:]),
		})
	case verifier.RS256:
		private := must(rsa.GenerateKey(rand.Reader, 2048))
		return describe(algorithm, private, map[string]any{
			"kty": "RSA", "n": b64(private.N.Bytes()), "e": b64(big.NewInt(int64(private.E)).Bytes()),
		})
	case verifier.EdDSA:
		public, private, err := ed25519.GenerateKey(rand.Reader)
		must(0, err)
		return describe(algorithm, private, map[string]any{"kty": "OKP", "crv": "Ed25519", "x": b64(public)})
	}
	panic("verifiertest: no such algorithm: " + algorithm)
}

func describe(alg string, private crypto.Signer, jwk map[string]any) *key {
	kid := fmt.Sprint("test-key-", keysMade.Add(1))
	jwk["kid"], jwk["alg"], jwk["use"] = kid, alg, "sig"
	return &key{kid, alg, private, jwk}
}

// sign returns the signature of a JWS (RFC 7518 §3, RFC 8037 §3.1).
func (k *key) sign(signed string) []byte {
	digest := sha256.Sum256([]byte(signed))
	switch private := k.private.(type) {
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, private, digest[:])
		must(0, err)
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	case ed25519.PrivateKey:
		return ed25519.Sign(private, []byte(signed))
	}
	return must(k.private.Sign(rand.Reader, digest[:], crypto.SHA256))
}

func b64(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// must panics on errors that only a lack of randomness or memory causes.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
