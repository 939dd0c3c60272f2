package middleware_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/mintmark-auth/mintmark/verifier"
)

const audience = "https://api.example.com"

// testIssuer publishes a key set over HTTP and signs tokens with the standard
// library, as any issuer would.
type testIssuer struct {
	*httptest.Server
	key *ecdsa.PrivateKey
}

func newIssuer() *testIssuer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		panic(err)
	}
	document, err := json.Marshal(map[string]any{"keys": []any{map[string]any{
		"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": "key-1",
		"x": base64.RawURLEncoding.EncodeToString(point[1:33]),
		"y": base64.RawURLEncoding.EncodeToString(point[33:]),
	}}})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /jwks", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/jwk-set+json")
		w.Header().Set("Cache-Control", "max-age=300")
		w.Write(document)
	})
	return &testIssuer{httptest.NewServer(mux), key}
}

// verifier returns a verifier with this issuer's published keys.
func (i *testIssuer) verifier() *verifier.Verifier {
	keys, err := verifier.NewJWKS(verifier.JWKSConfig{URL: i.URL + "/jwks"})
	if err != nil {
		panic(err)
	}
	v, err := verifier.New(verifier.Config{Issuer: i.URL, Audience: audience, Keys: keys})
	if err != nil {
		panic(err)
	}
	return v
}

// token signs a good token with the scopes, and with claims replaced.
func (i *testIssuer) token(scopes string, changes map[string]any) string {
	now := time.Now().Unix()
	claims := map[string]any{
		"iss": i.URL, "aud": audience, "sub": "user-1", "client_id": "client-1", "jti": "token-1",
		"iat": now, "exp": now + 1800, "scope": scopes, "legacy": false,
	}
	maps.Copy(claims, changes)
	return i.sign(map[string]any{"alg": "ES256", "kid": "key-1", "typ": "at+jwt"}, claims)
}

func (i *testIssuer) sign(header, claims map[string]any) string {
	signed := part(header) + "." + part(claims)
	digest := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, i.key, digest[:])
	if err != nil {
		panic(err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func part(v map[string]any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(text)
}
