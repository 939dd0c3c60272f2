package keys_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/keys"
)

// TestNothingSecretIsPrinted prints each secret in every way that Go code prints values,
// on its own and inside other structs.
func TestNothingSecretIsPrinted(t *testing.T) {
	raw := bytes.Repeat([]byte{0xA7, 0x5C, 0x31, 0xE2}, 8)
	clusterKey, err := keys.NewClusterKey(bytes.NewReader(raw))
	require.NoError(t, err)
	secret, err := keys.GenerateSecret(bytes.NewReader(raw))
	require.NoError(t, err)
	signer, err := keys.GenerateSigner(keys.EdDSA)
	require.NoError(t, err)
	der, err := signer.PKCS8()
	require.NoError(t, err)
	seed := der[len(der)-32:] // of an Ed25519 key, RFC 8410 §7

	for name, tc := range map[string]struct {
		value  any
		secret []byte
	}{
		"cluster key": {clusterKey, raw},
		"secret":      {secret, raw},
		"signer":      {signer, seed},
		"mac key":     {secret.MAC("test"), raw},
		"aead":        {secret.AEAD("test"), raw},
	} {
		t.Run(name, func(t *testing.T) {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
				assert.Equal(t, "REDACTED", fmt.Sprintf(verb, tc.value), verb)
			}
			assert.Equal(t, "REDACTED", fmt.Sprint(tc.value))

			text, err := json.Marshal(map[string]any{"k": tc.value})
			require.NoError(t, err)
			assert.JSONEq(t, `{"k":"REDACTED"}`, string(text))

			for kind, handler := range map[string]func(*bytes.Buffer) slog.Handler{
				"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
				"json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
			} {
				var out bytes.Buffer
				slog.New(handler(&out)).Info("m", "k", tc.value, "in", struct{ v any }{tc.value})
				assert.Contains(t, out.String(), "REDACTED", kind)
				assertAbsent(t, out.String(), tc.secret)
			}
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
				assertAbsent(t, fmt.Sprintf(verb, struct{ v any }{tc.value}), tc.secret)
				assertAbsent(t, fmt.Sprintf(verb, &struct{ V any }{tc.value}), tc.secret)
			}
		})
	}

	// fmt can't call the methods of a typed, unexported field.
	type node struct {
		key    keys.ClusterKey
		root   keys.Secret
		signer *keys.Signer
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		out := fmt.Sprintf(verb, node{clusterKey, secret, signer})
		assertAbsent(t, out, raw)
		assertAbsent(t, out, seed)
	}
}

// assertAbsent searches for parts of the secret in every form in which fmt could print it.
func assertAbsent(t *testing.T, out string, secret []byte) {
	t.Helper()
	piece := secret[:8]
	for _, spelling := range []string{
		string(piece),
		hex.EncodeToString(piece),
		base64.RawURLEncoding.EncodeToString(secret[:6]),
		strings.Trim(fmt.Sprint(piece), "[]"),
		strings.Trim(fmt.Sprintf("%#v", piece), "[]byte{}"),
	} {
		assert.NotContains(t, strings.ToLower(out), strings.ToLower(spelling))
	}
}

// TestSecretsAreNotComparable verifies that == on a secret doesn't compile.
func TestSecretsAreNotComparable(t *testing.T) {
	for _, v := range []any{keys.ClusterKey{}, keys.Secret{}, keys.Signer{}, keys.PublicKey{}} {
		assert.False(t, reflect.TypeOf(v).Comparable(), "%T", v)
	}
}

func TestGeneratorsNeedRandomness(t *testing.T) {
	short := strings.NewReader("too short")
	_, err := keys.NewClusterKey(short)
	require.Error(t, err)
	_, err = keys.GenerateSecret(short)
	require.Error(t, err)
	key, err := keys.NewClusterKey(rand.Reader)
	require.NoError(t, err)
	_, err = key.Seal(strings.NewReader("short"), "c", nil)
	require.Error(t, err)
}
