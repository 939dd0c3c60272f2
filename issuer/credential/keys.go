package credential

import (
	"crypto/cipher"
	"errors"
	"io"
)

// MAC is a keyed digest: HMAC-SHA256 under a subkey of one purpose. It must be
// safe for concurrent use and must not keep the parts.
type MAC interface {
	Sum(parts ...[]byte) [32]byte
}

// Signer signs access tokens. Sign returns the JWS signature of a JWS signing
// input (RFC 7515 §5.1) made with Alg, which is always the same for one KeyID.
type Signer interface {
	KeyID() string
	Alg() string
	Sign(input []byte) ([]byte, error)
}

// MACs and AEADs find the key that a text names. They answer false for a key
// that this node does not have, or no longer has.
type (
	MACs  func(keyID uint32) (MAC, bool)
	AEADs func(keyID uint32) (cipher.AEAD, bool)
)

var (
	// ErrMalformed says that a text was never one of ours.
	ErrMalformed = errors.New("malformed credential")
	// ErrForged says that a text has our form, and no key of ours made it.
	ErrForged = errors.New("forged credential")
	// ErrUnknownKey says that a text names a key that was not found. The key may
	// be gone, invented, or newer than what this node has applied.
	ErrUnknownKey = errors.New("credential under an unknown key")
	// ErrWrongKind says that a genuine code was shown where a refresh token
	// belongs, or the reverse.
	ErrWrongKind = errors.New("credential of another kind")
)

// mustRead fills b. A source of randomness that fails leaves nothing sensible
// to hand out; crypto/rand's never does.
func mustRead(rand io.Reader, b []byte) {
	if _, err := io.ReadFull(rand, b); err != nil {
		panic("credential: no randomness: " + err.Error())
	}
}
