package keys_test

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/keys"
)

func TestSealOpen(t *testing.T) {
	k := newClusterKey(t)
	for name, plain := range map[string][]byte{
		"empty": {}, "short": []byte("x"), "long": bytes.Repeat([]byte("0123456789"), 10_000),
	} {
		t.Run(name, func(t *testing.T) {
			sealed, err := k.Seal(rand.Reader, "signing-key/1", plain)
			require.NoError(t, err)
			again, err := k.Seal(rand.Reader, "signing-key/1", plain)
			require.NoError(t, err)
			assert.NotEqual(t, sealed, again, "the nonce was repeated")
			got, err := k.Open("signing-key/1", sealed)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(plain, got))
		})
	}
}

// TestSealedFormat pins the format, since what a cluster has sealed must open with the
// next version of the program. The vector was made by another implementation (Python's
// cryptography): AES-256-GCM under HKDF-SHA256 of the cluster key, with the version and
// the context as associated data.
func TestSealedFormat(t *testing.T) {
	k, err := keys.NewClusterKey(bytes.NewReader(sequence()))
	require.NoError(t, err)
	const vector = "01" + "000102030405060708090a0b" + "4cf7928158b3b72f21c37d84d7" + "86c65acd281af19db8d911f9fad84688"
	sealed, err := k.Seal(bytes.NewReader(sequence()), "signing-key/1", []byte("a signing key"))
	require.NoError(t, err)
	assert.Equal(t, vector, hex.EncodeToString(sealed), "version, nonce, ciphertext, tag")
}

func TestOpenRefuses(t *testing.T) {
	k := newClusterKey(t)
	const context = "credential-key/7"
	sealed, err := k.Seal(rand.Reader, context, []byte("a root of 32 bytes, more or less"))
	require.NoError(t, err)
	flip := func(i int) []byte {
		b := bytes.Clone(sealed)
		b[i] ^= 1
		return b
	}
	for name, tc := range map[string]struct {
		key     keys.ClusterKey
		context string
		sealed  []byte
	}{
		"another key":         {newClusterKey(t), context, sealed},
		"another context":     {k, "credential-key/8", sealed},
		"context cut":         {k, context[:len(context)-1], sealed},
		"no context":          {k, "", sealed},
		"another version":     {k, context, flip(0)},
		"nonce changed":       {k, context, flip(1)},
		"nonce's end changed": {k, context, flip(12)},
		"text changed":        {k, context, flip(13)},
		"tag changed":         {k, context, flip(len(sealed) - 1)},
		"cut":                 {k, context, sealed[:len(sealed)-1]},
		"longer":              {k, context, append(bytes.Clone(sealed), 0)},
		"no tag":              {k, context, sealed[:28]},
		"version only":        {k, context, sealed[:1]},
		"nothing":             {k, context, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.key.Open(tc.context, tc.sealed)
			require.ErrorIs(t, err, keys.ErrUnsealable)
			assert.Nil(t, got)
		})
	}
}

// FuzzOpen verifies that what opens equals what was sealed.
func FuzzOpen(f *testing.F) {
	// The key is fixed, since each fuzzing process would make its own.
	k, err := keys.NewClusterKey(bytes.NewReader(sequence()))
	require.NoError(f, err)
	plain := []byte("plain")
	sealed, err := k.Seal(bytes.NewReader(sequence()), "context", plain)
	require.NoError(f, err)
	f.Add("context", sealed)
	f.Add("", sealed)
	f.Add("context", []byte{})
	f.Add("context", append(bytes.Clone(sealed), 0))
	f.Fuzz(func(t *testing.T, context string, b []byte) {
		got, err := k.Open(context, b)
		if err != nil {
			require.ErrorIs(t, err, keys.ErrUnsealable)
			return
		}
		require.Equal(t, "context", context)
		require.Equal(t, sealed, b)
		require.Equal(t, plain, got)
	})
}
