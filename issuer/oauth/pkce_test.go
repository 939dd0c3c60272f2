package oauth_test

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func TestValidChallenge(t *testing.T) {
	const good = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" // RFC 7636 appendix B
	for name, tc := range map[string]struct {
		text string
		want bool
	}{
		"of the RFC":     {good, true},
		"empty":          {"", false},
		"short":          {good[:42], false},
		"long":           {good + "A", false},
		"padded":         {good + "=", false},
		"other alphabet": {strings.ReplaceAll(good, "-", "+"), false},
		"line break":     {good[:42] + "\n", false},
		"not canonical":  {good[:42] + "N", false},
		"31 bytes":       {strings.Repeat("A", 42) + "\n", false},
		"a verifier":     {good[:42] + "~", false},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, oauth.ValidChallenge(tc.text)) })
	}
}

func TestValidVerifier(t *testing.T) {
	all := "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	for name, tc := range map[string]struct {
		text string
		want bool
	}{
		"43":            {all[:43], true},
		"all":           {all, true},
		"128":           {strings.Repeat("a", 128), true},
		"42":            {all[:42], false},
		"129":           {strings.Repeat("a", 129), false},
		"empty":         {"", false},
		"plus":          {all + "+", false},
		"slash":         {all + "/", false},
		"padding":       {all + "=", false},
		"space":         {all + " ", false},
		"beyond ASCII":  {all + "é", false},
		"zero byte":     {all + "\x00", false},
		"before a or A": {all + "`@", false},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, oauth.ValidVerifier(tc.text)) })
	}
}

// TestS256 has the example of RFC 7636 appendix B.
func TestS256(t *testing.T) {
	const verifier, challenge = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	answers := func(challenge, verifier string) bool {
		got, ok := oauth.S256(verifier)
		return ok && got == challenge
	}
	assert.True(t, answers(challenge, verifier))
	assert.False(t, answers(challenge, verifier[:42]+"l"))
	assert.False(t, answers(challenge, challenge), "plain")
	assert.False(t, answers(challenge[:42], verifier))
	assert.False(t, answers(challenge, ""))
	assert.False(t, answers("", verifier))
	assert.False(t, answers("", ""))
	short := strings.Repeat("a", 42)
	require.False(t, answers(challengeOf(short), short), "RFC 7636 §4.1 wants 43 characters")
	long := strings.Repeat("a", 43)
	require.True(t, answers(challengeOf(long), long))
}
