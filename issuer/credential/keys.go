package credential

import (
	"crypto/cipher"
	"errors"
	"io"
)

// A MAC computes a keyed digest: HMAC-SHA256 under a subkey with one purpose. It must be safe
// for concurrent use and must not retain the parts.
type MAC interface {
	Sum(parts ...[]byte) [32]byte
}

// A Signer signs access tokens. Sign returns the JWS signature of a JWS signing input (RFC 7515
// §5.1) with Alg, which never changes for a KeyID.
type Signer interface {
	KeyID() string
	Alg() string
	Sign(input []byte) ([]byte, error)
}

// MACs and AEADs return the key with the number in a text, or false if this node doesn't have
// it (any more).
type (
	MACs  func(keyID uint32) (MAC, bool)
	AEADs func(keyID uint32) (cipher.AEAD, bool)
)

var (
	// ErrMalformed reports a text that does not have the form of a credential.
	ErrMalformed = errors.New("malformed credential")
	// ErrForged reports a text in the right form that was not made with the named key.
	ErrForged = errors.New("forged credential")
	// ErrUnknownKey reports a text that names a key that was not found. The key may have
	// been dropped, be invented, or be newer than the state of this node.
	ErrUnknownKey = errors.New("credential under an unknown key")
	// ErrWrongKind reports a genuine code that was presented as a refresh token, or the
	// reverse.
	ErrWrongKind = errors.New("credential of another kind")
)

// mustRead fills b. It panics if the source of randomness fails, which crypto/rand never does.
func mustRead(rand io.Reader, b []byte) {
	if _, err := io.ReadFull(rand, b); err != nil {
		panic("credential: no randomness: " + err.Error())
	}
}
