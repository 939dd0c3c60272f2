package keys_test

import (
	"crypto"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/lestrrat-go/jwx/v2/jwk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/keys"
)

// TestKeySetIsReadByJWX covers conformance JW02 and JW03.
func TestKeySetIsReadByJWX(t *testing.T) {
	var stored [][]byte
	for _, alg := range algorithms {
		stored = append(stored, signers()[alg].Public().JWK())
	}
	document, err := keys.JWKS(stored)
	require.NoError(t, err)

	set, err := jwk.Parse(document)
	require.NoError(t, err)
	require.Equal(t, len(algorithms), set.Len())
	for i, alg := range algorithms {
		k, ok := set.Key(i)
		require.True(t, ok)
		s := signers()[alg]
		assert.Equal(t, s.KeyID(), k.KeyID(), "the order of keys changed")
		assert.Equal(t, "sig", k.KeyUsage())
		assert.Equal(t, string(alg), k.Algorithm().String())
		sum, err := k.Thumbprint(crypto.SHA256)
		require.NoError(t, err)
		assert.Equal(t, base64.RawURLEncoding.EncodeToString(sum), s.KeyID())
		private, err := jwk.IsPrivateKey(k)
		require.NoError(t, err)
		assert.False(t, private)
	}

	var plain struct{ Keys []map[string]any }
	require.NoError(t, json.Unmarshal(document, &plain))
	for i, want := range [][]string{
		{"alg", "crv", "kid", "kty", "use", "x", "y"},
		{"alg", "crv", "kid", "kty", "use", "x"},
		{"alg", "e", "kid", "kty", "n", "use"},
	} {
		var members []string
		for name := range plain.Keys[i] {
			members = append(members, name)
		}
		assert.ElementsMatch(t, want, members)
	}
}

func TestKeySetIsStable(t *testing.T) {
	stored := [][]byte{signers()[keys.ES256].Public().JWK(), signers()[keys.EdDSA].Public().JWK()}
	first, err := keys.JWKS(stored)
	require.NoError(t, err)
	for range 20 {
		again, err := keys.JWKS(stored)
		require.NoError(t, err)
		require.Equal(t, string(first), string(again)) // required for a stable ETag
	}
	empty, err := keys.JWKS(nil)
	require.NoError(t, err)
	assert.Equal(t, `{"keys":[]}`, string(empty))
}

func TestKeySetRefuses(t *testing.T) {
	good := signers()[keys.ES256].Public().JWK()
	_, err := keys.JWKS([][]byte{good, good})
	require.ErrorContains(t, err, "twice")
	_, err = keys.JWKS([][]byte{good, []byte("{}")})
	require.ErrorIs(t, err, keys.ErrBadKey)
}

func TestPublicKeyRoundTrip(t *testing.T) {
	for _, alg := range algorithms {
		p := signers()[alg].Public()
		got, err := keys.ParsePublicKey(p.JWK())
		require.NoError(t, err)
		require.Equal(t, p, got)

		clear(got.JWK()) // must be a copy
		require.Equal(t, p, got)
	}
}

// TestThumbprint parses the key of RFC 8037 appendix A.2 with the thumbprint of appendix A.3.
func TestThumbprint(t *testing.T) {
	const kid = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
	p, err := keys.ParsePublicKey([]byte(`{"kty":"OKP","crv":"Ed25519","use":"sig","alg":"EdDSA",
		"kid":"` + kid + `","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`))
	require.NoError(t, err)
	assert.Equal(t, kid, p.KeyID())
}

func TestParsePublicKeyRefuses(t *testing.T) {
	good := func() map[string]any {
		var m map[string]any
		require.NoError(t, json.Unmarshal(signers()[keys.ES256].Public().JWK(), &m))
		return m
	}
	change := func(name string, value any) string {
		m := good()
		if m[name] = value; value == nil {
			delete(m, name)
		}
		text, err := json.Marshal(m)
		require.NoError(t, err)
		return string(text)
	}
	_, err := keys.ParsePublicKey([]byte(change("extra", "dropped")))
	require.NoError(t, err)

	for name, text := range map[string]string{
		"nothing":          "",
		"not JSON":         "key",
		"no members":       "{}",
		"a set":            `{"keys":[]}`,
		"private":          change("d", good()["x"]),
		"symmetric":        `{"kty":"oct","k":"AAAA","kid":"a","use":"sig","alg":"HS256"}`,
		"kid of another":   change("kid", signers()[keys.EdDSA].KeyID()),
		"no kid":           change("kid", nil),
		"for encryption":   change("use", "enc"),
		"no use":           change("use", nil),
		"another alg":      change("alg", "ES384"),
		"alg of symmetric": change("alg", "HS256"),
		"alg none":         change("alg", "none"),
		"no alg":           change("alg", nil),
		"no y":             change("y", nil),
		"not on the curve": change("y", good()["x"]),
		"another curve":    change("crv", "P-384"),
		"two objects":      change("use", "sig") + change("use", "sig"),
		"short RSA":        rfc7638Key,
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			_, err := keys.ParsePublicKey([]byte(text))
			require.ErrorIs(t, err, keys.ErrBadKey)
		})
	}
}

// rfc7638Key is the 2,048-bit key of RFC 7638 §3.1.
const rfc7638Key = `{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","alg":"RS256","use":"sig","kid":"NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"}`
