package credential

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
)

const challengeSize = 43 // SHA-256 in base64url without padding

// ValidChallenge reports whether s can be an S256 code challenge (RFC 7636
// §4.2): the one base64url spelling of 32 bytes.
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

// VerifyS256 reports whether verifier is the one that challenge was made of
// (RFC 7636 §4.6). How long it takes does not depend on where they differ.
func VerifyS256(challenge, verifier string) bool {
	if !ValidVerifier(verifier) {
		return false
	}
	sum := sha256.Sum256([]byte(verifier))
	want := base64.RawURLEncoding.AppendEncode(make([]byte, 0, challengeSize), sum[:])
	return subtle.ConstantTimeCompare(want, []byte(challenge)) == 1
}
