package credential_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// TestClientIDs: a client_id contains its registration, is the same each time, and can be
// neither created nor changed without the key.
func TestClientIDs(t *testing.T) {
	keys := keyring(t)
	r := oauth.Registration{Name: "Agent", RedirectURIs: []string{"http://127.0.0.1/cb", "cursor://a/cb"}}
	id, ok := credential.MintClientID(mac(t, keys, 2), 2, r)
	require.True(t, ok)
	require.True(t, oauth.IsRegisteredID(id))
	again, _ := credential.MintClientID(mac(t, keys, 2), 2, r)
	require.Equal(t, id, again)
	opened, err := credential.ParseClientID(id, keys)
	require.NoError(t, err)
	require.Equal(t, r, opened)

	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(id, oauth.RegisteredPrefix))
	require.NoError(t, err)
	for i := range raw {
		changed := append([]byte(nil), raw...)
		changed[i] ^= 1
		_, err := credential.ParseClientID(oauth.RegisteredPrefix+base64.RawURLEncoding.EncodeToString(changed), keys)
		want := credential.ErrForged
		switch {
		case i == 0: // the version
			want = credential.ErrMalformed
		case i < 5: // the key's id
			want = credential.ErrUnknownKey
		}
		require.ErrorIs(t, err, want, "byte %d", i)
	}
	for _, text := range []string{`{"n":"Agent","r":[],"x":1}`, `{"n":1}`, "n"} { // genuine, but of no version that is known
		sum := mac(t, keys, 2).Sum(raw[:5], []byte(text))
		_, err := credential.ParseClientID(oauth.RegisteredPrefix+base64.RawURLEncoding.EncodeToString(slices.Concat(raw[:5], sum[:], []byte(text))), keys)
		require.ErrorIs(t, err, credential.ErrMalformed, text)
	}
	other, _ := credential.MintClientID(mac(t, keys, 1), 3, r)
	for _, text := range []string{"", "mmd_", id[4:], "mmc_" + id[4:], id + "A", id + "\n", id[:20] + "\n" + id[20:], id[:len(id)-2], "mmd_" + strings.Repeat("A", 100_000), other} {
		_, err := credential.ParseClientID(text, keys)
		require.Error(t, err, "%.30q", text)
	}

	r.Name = strings.Repeat("x", oauth.MaxRegistration)
	_, ok = credential.MintClientID(mac(t, keys, 2), 2, r)
	require.False(t, ok)
}
