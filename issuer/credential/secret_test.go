package credential_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/credential"
)

func TestNewSecretAndSessionID(t *testing.T) {
	random := bytes.Repeat([]byte{0xFB}, 32)
	assert.Equal(t, "mms_-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s", credential.NewSecret(bytes.NewReader(random)).Reveal())
	assert.Regexp(t, `^mms_[A-Za-z0-9_-]{43}$`, credential.NewSecret(rand.Reader).Reveal())
	assert.Regexp(t, `^mmx_[A-Za-z0-9_-]{43}$`, credential.NewSessionID(rand.Reader).Reveal())
	assert.NotEqual(t, credential.NewSecret(rand.Reader).Reveal(), credential.NewSecret(rand.Reader).Reveal())
	assert.Panics(t, func() { credential.NewSecret(bytes.NewReader(random[1:])) })
}

func TestIsSecret(t *testing.T) {
	ours := credential.NewSecret(rand.Reader).Reveal()
	for text, want := range map[string]bool{
		ours:                                    true,
		"":                                      false,
		ours[4:]:                                false,
		"mmr_" + ours[4:]:                       false,
		ours[:len(ours)-1]:                      false,
		ours + "\n":                             false,
		ours + "A":                              false,
		ours[:46] + "!":                         false,
		"mms_" + strings.Repeat("A", 42) + "\n": false,
		"mms_" + strings.Repeat("A", 42) + "B":  false, // not canonical
	} {
		assert.Equal(t, want, credential.IsSecret(text), "%q", text)
	}
}

func TestTail(t *testing.T) {
	for name, tc := range map[string]struct{ secret, want string }{
		"ours":            {"mms_-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7wxyz", "wxyz"},
		"16 characters":   {"0123456789abcdef", "cdef"},
		"15 characters":   {"0123456789abcde", ""},
		"empty":           {"", ""},
		"letters of more": {strings.Repeat("é", 16), "éééé"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, credential.Tail(tc.secret)) })
	}
}

func TestDigest(t *testing.T) {
	keys := keyring(t)
	m := mac(t, keys, 1)
	sum := sha256.Sum256([]byte("imported secret"))
	want := m.Sum(sum[:])
	assert.Equal(t, want, credential.Digest(m, "imported secret"))
	assert.Equal(t, want, credential.DigestOfSHA256(m, sum), "the digest of an imported SHA-256 differs")
	assert.NotEqual(t, want, credential.Digest(m, "imported secreT"))
	assert.NotEqual(t, want, credential.Digest(mac(t, keys, 2), "imported secret"))
	assert.NotEqual(t, sum, want)
	assert.Equal(t, sum, credential.SessionDigest("imported secret"))
}
