package credential

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"strings"
	"unicode/utf8"
)

const (
	secretPrefix  = "mms_"
	sessionPrefix = "mmx_"
	tokenPrefix   = "mmo_"
	feedPrefix    = "mmf_"
	randomSize    = 32 // 256 bits
)

// NewSecret returns a client secret of 256 random bits.
func NewSecret(rand io.Reader) Secret {
	return Secret{redact(randomText(rand, secretPrefix))}
}

// IsSecret reports whether a text has the form of a secret made by NewSecret. Such a secret is
// random and too long to be guessed.
func IsSecret(text string) bool { return isRandomText(text, secretPrefix) }

// NewOperatorToken returns a token of 256 random bits for an operator on another machine.
func NewOperatorToken(rand io.Reader) Secret {
	return Secret{redact(randomText(rand, tokenPrefix))}
}

// IsOperatorToken reports whether a text has the form of a token made by NewOperatorToken.
func IsOperatorToken(text string) bool { return isRandomText(text, tokenPrefix) }

// OperatorTokenID returns the id of a token: 64 bits of its SHA-256. The token can't be
// found from its id, so the id may be logged and listed.
func OperatorTokenID(token string) string {
	sum := sha256.Sum256([]byte(token))
	return "ot_" + hex.EncodeToString(sum[:8])
}

func isRandomText(text, prefix string) bool {
	random, ours := strings.CutPrefix(text, prefix)
	if !ours || len(random) != base64.RawURLEncoding.EncodedLen(randomSize) {
		return false
	}
	plain, err := base64.RawURLEncoding.Strict().DecodeString(random)
	return err == nil && len(plain) == randomSize
}

// NewFeed returns the last part of the address of a feed, with 256 random bits.
func NewFeed(rand io.Reader) Secret {
	return Secret{redact(randomText(rand, feedPrefix))}
}

// IsFeed reports whether a text has the form of one made by NewFeed.
func IsFeed(text string) bool { return isRandomText(text, feedPrefix) }

// FeedDigest returns the stored form of a text made by NewFeed.
func FeedDigest(feed string) [32]byte { return sha256.Sum256([]byte(feed)) }

// Tail returns the last 4 characters of a secret, which tell its owner secrets apart. Imported
// secrets may be short: for fewer than 16 characters it returns "".
func Tail(secret string) string {
	const shown, least = 4, 16
	if utf8.RuneCountInString(secret) < least {
		return ""
	}
	end := len(secret)
	for range shown {
		_, size := utf8.DecodeLastRuneInString(secret[:end])
		end -= size
	}
	return secret[end:]
}

// Digest returns the stored form of a client secret: HMAC(key, SHA-256(secret)). The
// inner digest is what other systems export; the key makes weak imported secrets safe in
// a stolen backup.
func Digest(m MAC, secret string) [32]byte {
	return DigestOfSHA256(m, sha256.Sum256([]byte(secret)))
}

// DigestOfSHA256 is Digest for a secret of which only the SHA-256 is known.
func DigestOfSHA256(m MAC, sum [32]byte) [32]byte {
	return m.Sum(sum[:])
}

// NewSessionID returns a session id of 256 random bits.
func NewSessionID(rand io.Reader) SessionID {
	return SessionID{redact(randomText(rand, sessionPrefix))}
}

// SessionDigest returns the stored form of a session id. The id is random and long, so a plain
// SHA-256 can't be inverted by guessing.
func SessionDigest(id string) [32]byte { return sha256.Sum256([]byte(id)) }

func randomText(rand io.Reader, prefix string) string {
	random := make([]byte, randomSize) // passed to the reader, so it escapes anyway
	mustRead(rand, random)
	return prefix + base64.RawURLEncoding.EncodeToString(random)
}
