package verifier_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier"
)

func TestParseJWKS(t *testing.T) {
	keys, err := verifier.ParseJWKS(published())
	require.NoError(t, err)
	var got []string
	for _, key := range keys {
		got = append(got, key.ID()+" "+key.Algorithm())
	}
	assert.Equal(t, []string{"ec ES256", "rsa RS256", "ed EdDSA"}, got)
}

// Each of these entries is skipped, and the good key after it is still used.
func TestParseJWKSSkipsEntries(t *testing.T) {
	ec := ecJWK("bad", &ecKey().PublicKey)
	rs := rsaJWK("bad", &rsaKey().PublicKey)
	ed := edJWK("bad", edKey().Public().(ed25519.PublicKey))
	p384 := must(must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader)).PublicKey.Bytes())
	short := rsa.PublicKey{N: new(big.Int).SetBit(big.NewInt(1), 2046, 1), E: 65537}
	long := rsa.PublicKey{N: new(big.Int).SetBit(big.NewInt(1), 8192, 1), E: 65537}

	tests := []struct{ name, entry string }{
		{"EC private", ec.with(object{"d": b64(one)}).json()},
		{"RSA private", rs.with(object{"d": "AQAB"}).json()},
		{"RSA private prime", rs.with(object{"p": "AQAB"}).json()},
		{"oct", object{"kty": "oct", "k": "c2VjcmV0", "use": "sig", "alg": "HS256", "kid": "bad"}.json()},
		{"use enc", ec.with(object{"use": "enc"}).json()},
		{"use empty", ec.with(object{"use": ""}).json()},
		{"key_ops without verify", ec.with(object{"use": nil, "key_ops": []string{"deriveKey"}}).json()},
		{"key_ops empty", ec.with(object{"key_ops": []string{}}).json()},
		{"key_ops no list", ec.with(object{"key_ops": "verify"}).json()},
		{"use enc, key_ops verify", ec.with(object{"use": "enc", "key_ops": []string{"verify"}}).json()},
		{"kid missing", ec.with(object{"kid": nil}).json()},
		{"kid empty", ec.with(object{"kid": ""}).json()},
		{"kid a number", ec.with(object{"kid": 1}).json()},
		{"alg empty", ec.with(object{"alg": ""}).json()},
		{"alg a number", ec.with(object{"alg": 7}).json()},
		{"ML-DSA", object{"kty": "AKP", "alg": "ML-DSA-44", "use": "sig", "kid": "bad", "pub": strings.Repeat("A", 1750)}.json()},
		{"ML-DSA under a known kid", object{"kty": "AKP", "alg": "ML-DSA-44", "use": "sig", "kid": "good", "pub": "AA"}.json()},
		{"alg of another kind", ec.with(object{"alg": "RS256"}).json()},
		{"RSA with PS256", rs.with(object{"alg": "PS256"}).json()},
		{"kty of another kind", ec.with(object{"kty": "RSA"}).json()},
		{"P-384", ec.with(object{"crv": "P-384", "x": b64(p384[1:49]), "y": b64(p384[49:]), "alg": "ES384"}).json()},
		{"P-384 called P-256", ec.with(object{"x": b64(p384[1:49]), "y": b64(p384[49:])}).json()},
		{"not on the curve", ec.with(object{"y": b64(one)}).json()},
		{"point at infinity", ec.with(object{"x": b64(zero), "y": b64(zero)}).json()},
		{"short coordinate", ec.with(object{"x": b64(one[1:])}).json()},
		{"padded coordinate", ec.with(object{"x": ec["x"].(string) + "="}).json()},
		{"line break in coordinate", ec.with(object{"x": ec["x"].(string) + "\n"}).json()},
		{"RSA of 2047 bits", rsaJWK("bad", &short).json()},
		{"RSA of 8193 bits", rsaJWK("bad", &long).json()},
		{"RSA exponent 3", rs.with(object{"e": "Aw"}).json()},
		{"RSA exponent even", rs.with(object{"e": b64([]byte{1, 0, 2})}).json()},
		{"RSA exponent huge", rs.with(object{"e": b64(ones)}).json()},
		{"RSA without modulus", rs.with(object{"n": nil}).json()},
		{"Ed25519 short", ed.with(object{"x": b64(one[1:])}).json()},
		{"Ed448", ed.with(object{"crv": "Ed448"}).json()},
		{"duplicate member", strings.Replace(ec.json(), "{", `{"kid":"ec",`, 1)},
		{"member in other case", strings.Replace(ec.json(), "{", `{"KID":"ec",`, 1)},
		{"too deep", strings.Replace(ec.json(), "{", `{"x":`+strings.Repeat("[", 20)+strings.Repeat("]", 20)+",", 1)},
		{"too many members", strings.Replace(ec.json(), "{", "{"+manyMembers()+",", 1)},
		{"a number beyond any", strings.Replace(ec.json(), "{", `{"x":1e400,`, 1)},
		{"half a surrogate pair", ec.with(object{"kid": "?"}).replace("?", `\ud800`)},
		{"brackets in a string", ec.with(object{"use": `]}\`}).json()},
		{"no value", `{"kid":}`},
		{"a word", "bad"},
		{"two words", "bad bad"},
		{"a number", "1e400"},
		{"not an object", `"bad"`},
		{"null", `null`},
		{"array", `[[]]`},
		{"empty", `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			document := `{"keys":[` + tt.entry + `,` + ecJWK("good", &ecKey().PublicKey).json() + `]}`
			keys, err := verifier.ParseJWKS([]byte(document))
			require.NoError(t, err)
			require.Len(t, keys, 1)
			assert.Equal(t, "good", keys[0].ID())
		})
	}
}

// Members that are optional in RFC 7517 may be absent.
func TestParseJWKSTakesKeysWithoutUse(t *testing.T) {
	for name, members := range map[string]object{
		"neither":      {"use": nil},
		"key_ops":      {"use": nil, "key_ops": []string{"sign", "verify"}},
		"both":         {"key_ops": []string{"verify"}},
		"without both": {"use": nil, "alg": nil},
	} {
		keys, err := verifier.ParseJWKS(jwks(ecJWK("ec", &ecKey().PublicKey).with(members)))
		require.NoError(t, err, name)
		assert.Len(t, keys, 1, name)
	}
}

func TestParseJWKSRefusesTheSet(t *testing.T) {
	ec := ecJWK("ec", &ecKey().PublicKey)
	tests := []struct{ name, document, want string }{
		{"empty", "", "strict JSON"},
		{"not JSON", "<html>", "strict JSON"},
		{"array", "[]", "strict JSON"},
		{"no keys member", "{}", "no member keys"},
		{"keys not an array", `{"keys":{}}`, "strict JSON"},
		{"keys twice", `{"keys":[` + ec.json() + `],"keys":[]}`, "strict JSON"},
		{"keys in other case", `{"keys":[` + ec.json() + `],"Keys":[]}`, "strict JSON"},
		{"second value", string(jwks(ec)) + "{}", "strict JSON"},
		{"broken entry", `{"keys":[` + ec.json() + `,{"a":]}`, "strict JSON"},
		{"crossed brackets", `{"keys":[` + ec.json() + `,{"a":[}]]}`, "strict JSON"},
		{"entry not closed", `{"keys":[` + ec.json() + `,{"a":1`, "strict JSON"},
		{"string not closed", `{"keys":[` + ec.json() + `,"a`, "strict JSON"},
		{"no entry", `{"keys":[` + ec.json() + `,]}`, "strict JSON"},
		{"entry without comma", `{"keys":[` + ec.json() + `{}]}`, "strict JSON"},
		{"deeper than anything", `{"keys":[` + ec.json() + `,` + strings.Repeat("[", 65) + strings.Repeat("]", 65) + `]}`, "strict JSON"},
		{"no keys", `{"keys":[]}`, "no usable key"},
		{"no usable key", `{"keys":[{"kty":"oct"}]}`, "no usable key"},
		{"duplicate kid", string(jwks(ec, rsaJWK("ec", &rsaKey().PublicKey))), "two keys have the same kid"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			keys, err := verifier.ParseJWKS([]byte(tt.document))
			assert.ErrorContains(t, err, tt.want)
			assert.Nil(t, keys)
			_, err = verifier.StaticKeys([]byte(tt.document))
			assert.Error(t, err)
		})
	}
	// Entries that are skipped may share a kid: RFC 7517 §4.5.
	keys, err := verifier.ParseJWKS(jwks(ec, ec.with(object{"use": "enc"})))
	require.NoError(t, err)
	assert.Len(t, keys, 1)
}

func manyMembers() string {
	var members []string
	for i := range 64 {
		members = append(members, `"`+strings.Repeat("m", i+1)+`":1`)
	}
	return strings.Join(members, ",")
}

// Without alg, which is optional (RFC 7517 §4.4), the key's type determines the
// algorithm.
func TestParseJWKSWithoutAlg(t *testing.T) {
	keys, err := verifier.ParseJWKS(jwks(
		ecJWK("ec", &ecKey().PublicKey).with(object{"alg": nil}),
		rsaJWK("rsa", &rsaKey().PublicKey).with(object{"alg": nil}),
		edJWK("ed", edKey().Public().(ed25519.PublicKey)).with(object{"alg": nil}),
		edJWK("ed2", edKey().Public().(ed25519.PublicKey)).with(object{"alg": "Ed25519"}),
	))
	require.NoError(t, err)
	var got []string
	for _, key := range keys {
		got = append(got, key.ID()+" "+key.Algorithm())
	}
	assert.Equal(t, []string{"ec ES256", "rsa RS256", "ed EdDSA", "ed2 EdDSA"}, got)
}

func TestNewKey(t *testing.T) {
	ed := edKey().Public().(ed25519.PublicKey)
	p384 := must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))
	tests := []struct {
		name, id, alg string
		public        any
		ok            bool
	}{
		{"ES256", "a", "ES256", &ecKey().PublicKey, true},
		{"RS256", "a", "RS256", &rsaKey().PublicKey, true},
		{"EdDSA", "a", "EdDSA", ed, true},
		{"no id", "", "ES256", &ecKey().PublicKey, false},
		{"other algorithm", "a", "RS256", &ecKey().PublicKey, false},
		{"unknown algorithm", "a", "ES384", &p384.PublicKey, false},
		{"other curve", "a", "ES256", &p384.PublicKey, false},
		{"RSA for EdDSA", "a", "EdDSA", &rsaKey().PublicKey, false},
		{"private key", "a", "ES256", ecKey(), false},
		{"nil", "a", "ES256", nil, false},
		{"nil pointer", "a", "ES256", (*ecdsa.PublicKey)(nil), false},
		{"empty EC key", "a", "ES256", &ecdsa.PublicKey{Curve: elliptic.P256()}, false},
		{"empty RSA key", "a", "RS256", &rsa.PublicKey{}, false},
		{"empty Ed25519 key", "a", "EdDSA", ed25519.PublicKey(nil), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			key, err := verifier.NewKey(tt.id, tt.alg, tt.public)
			if !tt.ok {
				assert.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.alg, key.Algorithm())
		})
	}
}

func FuzzParseJWKS(f *testing.F) {
	f.Add(published())
	f.Add([]byte(`{"keys":[{"kty":"EC"}]}`))
	f.Add([]byte(`{"keys":[{"a":"\ud83d\ude00"},[1e5,null]]}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		keys, err := verifier.ParseJWKS(document)
		if (err == nil) != (len(keys) > 0) {
			t.Fatalf("%d keys with error %v", len(keys), err)
		}
		seen := map[string]bool{}
		for _, key := range keys {
			if key.ID() == "" || seen[key.ID()] || key.Algorithm() == "" {
				t.Fatalf("key %q of %q is not usable alone", key.ID(), key.Algorithm())
			}
			seen[key.ID()] = true
		}
	})
}
