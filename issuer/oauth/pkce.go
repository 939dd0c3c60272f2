package oauth

import (
	"crypto/sha256"
	"encoding/base64"
)

const challengeSize = 43 // SHA-256 in base64url without padding

// ValidChallenge reports whether s has the form of an S256 code challenge (RFC 7636 §4.2):
// the canonical base64url encoding of 32 bytes.
func ValidChallenge(s string) bool {
	if len(s) != challengeSize {
		return false
	}
	var text [challengeSize]byte
	copy(text[:], s)
	var sum [sha256.Size]byte
	n, err := base64.RawURLEncoding.Strict().Decode(sum[:], text[:])
	return err == nil && n == len(sum)
}

// ValidVerifier reports whether s has the form of a code verifier (RFC 7636
// §4.1): 43 to 128 unreserved characters.
func ValidVerifier(s string) bool {
	if len(s) < 43 || len(s) > 128 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9',
			c == '-', c == '.', c == '_', c == '~':
		default:
			return false
		}
	}
	return true
}

// S256 returns the code challenge for a verifier (RFC 7636 §4.2). ok is false if the
// verifier is malformed.
func S256(verifier string) (challenge string, ok bool) {
	if !ValidVerifier(verifier) {
		return "", false
	}
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:]), true
}
