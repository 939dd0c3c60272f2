package credential_test

import (
	"bytes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/chacha20poly1305"

	"github.com/mintmark-auth/mintmark/issuer/credential"
)

var named = credential.Cause{
	Code: 0x1234, At: 1_790_000_000, Client: credential.ClientDigest("cli_1"), Named: true,
	Grant: grant, Presented: 4, Due: 6, When: 1_789_999_000, Detail: 0xA1B2C3D4,
}

func TestCauseRoundTrip(t *testing.T) {
	keys := aeads(t)
	a, _ := keys(1)
	for name, c := range map[string]credential.Cause{
		"zero":    {},
		"named":   named,
		"unnamed": {Code: 3, At: 1_790_000_000, Client: credential.ClientDigest("cli_1"), Detail: 9},
		"largest": {
			Code: math.MaxUint16, At: math.MaxInt64, Named: true, Presented: math.MaxUint32,
			Due: math.MaxUint32, When: math.MinInt64, Detail: math.MaxUint32,
		},
	} {
		t.Run(name, func(t *testing.T) {
			id := credential.SealCause(rand.Reader, a, 1, c)
			assert.Regexp(t, `^mme_[A-Za-z0-9_-]{144}$`, id, "all ids have the same length")
			assert.NotEqual(t, id, credential.SealCause(rand.Reader, a, 1, c))
			got, err := credential.OpenCause(keys, id)
			require.NoError(t, err)
			assert.Equal(t, c, got)
		})
	}
}

// TestUnnamedCauseSealsNoGrant verifies that a mistake of the caller can't reveal a grant to
// somebody who didn't authenticate as its client.
func TestUnnamedCauseSealsNoGrant(t *testing.T) {
	keys := aeads(t)
	a, _ := keys(1)
	c := named
	c.Named = false
	got, err := credential.OpenCause(keys, credential.SealCause(rand.Reader, a, 1, c))
	require.NoError(t, err)
	assert.Equal(t, credential.Cause{Code: c.Code, At: c.At, Client: c.Client, Detail: c.Detail}, got)
}

func TestOpenCauseRefuses(t *testing.T) {
	keys := aeads(t)
	a, _ := keys(1)
	id := credential.SealCause(rand.Reader, a, 1, named)
	raw, err := base64.RawURLEncoding.DecodeString(id[4:])
	require.NoError(t, err)
	require.Len(t, raw, 108)
	for i := range raw {
		raw[i] ^= 0x10
		_, err := credential.OpenCause(keys, "mme_"+base64.RawURLEncoding.EncodeToString(raw))
		switch {
		case i == 0:
			require.ErrorIs(t, err, credential.ErrMalformed)
		case i < 5:
			require.ErrorIs(t, err, credential.ErrUnknownKey)
		default:
			require.ErrorIs(t, err, credential.ErrForged, "byte %d", i)
		}
		raw[i] ^= 0x10
	}
	// The key id is authenticated: the same key under another id doesn't open it.
	always := func(uint32) (cipher.AEAD, bool) { return a, true }
	raw[4] = 2
	_, err = credential.OpenCause(always, "mme_"+base64.RawURLEncoding.EncodeToString(raw))
	require.ErrorIs(t, err, credential.ErrForged)

	for name, text := range map[string]string{
		"empty": "", "prefix": "mme_", "cut": id[:147], "longer": id + "A", "padded": id + "=",
		"other prefix": "mmr_" + id[4:], "line break": id[:147] + "\n", "alphabet": id[:20] + "+" + id[21:],
	} {
		_, err := credential.OpenCause(keys, text)
		require.ErrorIs(t, err, credential.ErrMalformed, name)
	}
}

func TestSealCauseRefusesShortNonces(t *testing.T) {
	a, err := chacha20poly1305.New(make([]byte, 32))
	require.NoError(t, err)
	assert.Panics(t, func() { credential.SealCause(rand.Reader, a, 1, named) })
	assert.Panics(t, func() { credential.SealText(rand.Reader, a, 1, nil) })
	good, _ := aeads(t)(1)
	short := sizes{AEAD: good, nonce: 12, overhead: good.Overhead()}
	assert.Panics(t, func() { credential.SealCause(rand.Reader, short, 1, named) })
	assert.Panics(t, func() { credential.SealText(rand.Reader, short, 1, nil) })
	assert.Panics(t, func() { credential.SealCause(rand.Reader, sizes{good, good.NonceSize(), 12}, 1, named) })
}

// sizes is an AEAD with other sizes than its own.
type sizes struct {
	cipher.AEAD
	nonce, overhead int
}

func (c sizes) NonceSize() int { return c.nonce }
func (c sizes) Overhead() int  { return c.overhead }

// FuzzOpenCause verifies that only sealed ids open, in a single encoding.
func FuzzOpenCause(f *testing.F) {
	keys := aeads(f)
	a, _ := keys(1)
	// The id is fixed, since each fuzzing process would make its own.
	id := credential.SealCause(bytes.NewReader(make([]byte, 24)), a, 1, named)
	f.Add(id)
	f.Add(id[:147] + "B")
	f.Add("mme_")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := credential.OpenCause(keys, text)
		if err == nil {
			require.Equal(t, id, text)
			require.Equal(t, named, got)
		}
	})
}

// FuzzCause verifies the round trip for all values.
func FuzzCause(f *testing.F) {
	keys := aeads(f)
	a, _ := keys(1)
	f.Add(uint16(1), int64(2), "cli_1", "grant", uint32(3), uint32(4), int64(5), uint32(6))
	f.Fuzz(func(t *testing.T, code uint16, at int64, client, id string, presented, due uint32, when int64, detail uint32) {
		c := credential.Cause{
			Code: code, At: at, Client: credential.ClientDigest(client), Named: true,
			Presented: presented, Due: due, When: when, Detail: detail,
		}
		copy(c.Grant[:], id)
		got, err := credential.OpenCause(keys, credential.SealCause(rand.Reader, a, 1, c))
		require.NoError(t, err)
		require.Equal(t, c, got)
	})
}
