package credential_test

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
)

func TestSealedText(t *testing.T) {
	keys := aeads(t)
	a, _ := keys(1)
	for _, plain := range []string{"", "x", "what a browser carries"} {
		text := credential.SealText(rand.Reader, a, 1, []byte(plain))
		require.Regexp(t, `^[A-Za-z0-9_-]+$`, text, "the text must be valid in a cookie")
		require.NotEqual(t, text, credential.SealText(rand.Reader, a, 1, []byte(plain)))
		got, err := credential.OpenText(keys, text)
		require.NoError(t, err)
		require.Equal(t, plain, string(got))

		raw, err := base64.RawURLEncoding.DecodeString(text)
		require.NoError(t, err)
		for i := range raw {
			raw[i] ^= 0x10
			_, err := credential.OpenText(func(uint32) (cipher.AEAD, bool) { return a, true }, base64.RawURLEncoding.EncodeToString(raw))
			require.Error(t, err, "byte %d", i)
			if i == 0 {
				require.ErrorIs(t, err, credential.ErrMalformed, "the version")
			}
			raw[i] ^= 0x10
		}
	}
	_, err := credential.OpenText(keys, credential.SealText(rand.Reader, a, 77, nil))
	require.ErrorIs(t, err, credential.ErrUnknownKey)
	for _, text := range []string{"", "AQ", "not base64!", "AQAAAAE", credential.SealText(rand.Reader, a, 1, nil) + "!"} {
		_, err := credential.OpenText(keys, text)
		require.ErrorIs(t, err, credential.ErrMalformed, text)
	}
}
