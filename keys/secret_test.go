package keys_test

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/chacha20poly1305"
	"golang.org/x/crypto/hkdf"

	"github.com/mintmark-auth/mintmark/keys"
)

func sequence() []byte {
	b := make([]byte, keys.SecretSize)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

func secretOf(t testing.TB, root []byte) keys.Secret {
	t.Helper()
	s, err := keys.ParseSecret(root)
	require.NoError(t, err)
	return s
}

// derive is an independent implementation of the derivation.
func derive(t testing.TB, root []byte, info string) []byte {
	t.Helper()
	key := make([]byte, 32)
	_, err := io.ReadFull(hkdf.New(sha256.New, root, nil, []byte(info)), key)
	require.NoError(t, err)
	return key
}

func TestMACIsHMACUnderASubkey(t *testing.T) {
	root := sequence()
	m := secretOf(t, root).MAC("chain")
	judge := hmac.New(sha256.New, derive(t, root, "mintmark/1/mac/hmac-sha256/chain"))
	judge.Write([]byte("one two"))
	want := [32]byte(judge.Sum(nil))

	assert.Equal(t, want, m.Sum([]byte("one two")))
	assert.Equal(t, want, m.Sum([]byte("one"), []byte(" "), nil, []byte("two")), "boundaries of parts were authenticated")
	assert.Equal(t, want, m.Sum([]byte("one two")), "a reset state gives another MAC")
	assert.Equal(t, want, m.Sum([]byte("one two")))
	assert.NotEqual(t, want, m.Sum([]byte("one twO")))
}

// TestSubkeysStayTheSame pins the derivation: replicated state that was made with a
// subkey must stay readable.
func TestSubkeysStayTheSame(t *testing.T) {
	sum := secretOf(t, sequence()).MAC("pinned").Sum([]byte("message"))
	const want = "0507a95a6a4df610f8e1097035c0628f3543be9030dddefa100bf9b31456f164"
	assert.Equal(t, want, hex.EncodeToString(sum[:]))
}

func TestPurposesAndSecretsDiffer(t *testing.T) {
	a := secretOf(t, sequence())
	b, err := keys.GenerateSecret(rand.Reader)
	require.NoError(t, err)
	message := []byte("message")
	assert.NotEqual(t, a.MAC("one").Sum(message), a.MAC("two").Sum(message))
	assert.NotEqual(t, a.MAC("one").Sum(message), b.MAC("one").Sum(message))
	assert.True(t, a.Equal(secretOf(t, a.Bytes())))
	assert.False(t, a.Equal(b))

	// Bytes must return a copy.
	clear(a.Bytes())
	assert.True(t, a.Equal(secretOf(t, sequence())))
}

func TestMACConcurrently(t *testing.T) {
	m := secretOf(t, sequence()).MAC("chain")
	var wg sync.WaitGroup
	for g := range 8 {
		message := fmt.Appendf(nil, "message %d", g)
		want := m.Sum(message)
		wg.Go(func() {
			for range 500 {
				if m.Sum(message) != want {
					t.Error("concurrent sums were mixed")
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestAEADIsXChaCha20Poly1305UnderASubkey(t *testing.T) {
	root := sequence()
	a := secretOf(t, root).AEAD("error-id")
	judge, err := chacha20poly1305.NewX(derive(t, root, "mintmark/1/aead/xchacha20-poly1305/error-id"))
	require.NoError(t, err)
	nonce := make([]byte, a.NonceSize())
	sealed := a.Seal(nil, nonce, []byte("plain"), []byte("data"))
	plain, err := judge.Open(nil, nonce, sealed, []byte("data"))
	require.NoError(t, err)
	assert.Equal(t, "plain", string(plain))
	_, err = secretOf(t, root).AEAD("other").Open(nil, nonce, sealed, []byte("data"))
	require.Error(t, err)
}

func TestZeroSecretIsRefused(t *testing.T) {
	var zero keys.Secret
	assert.Panics(t, func() { zero.MAC("p") })
	assert.Panics(t, func() { zero.AEAD("p") })
	assert.Panics(t, func() { zero.Bytes() })
	assert.False(t, zero.Equal(zero))
	for name, root := range map[string][]byte{
		"none": nil, "short": sequence()[1:], "long": append(sequence(), 1), "zeros": make([]byte, 32),
	} {
		_, err := keys.ParseSecret(root)
		require.ErrorIs(t, err, keys.ErrBadKey, name)
	}
}

func BenchmarkMAC(b *testing.B) {
	m := secretOf(b, sequence()).MAC("chain")
	parts := [][]byte{make([]byte, 29)}
	b.ReportAllocs()
	for b.Loop() {
		m.Sum(parts...)
	}
}
