package keys

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"

	"golang.org/x/crypto/chacha20poly1305"
)

// SecretSize is the length of a credential key's root in bytes.
const SecretSize = 32

// A Secret is the root of a credential key. It is only used to derive a subkey for each purpose
// (HKDF-SHA256, RFC 5869). The zero value is refused.
type Secret struct {
	redacted
	root *string // 32 bytes; nil in the zero value
}

// GenerateSecret returns a root of 32 random bytes.
func GenerateSecret(rand io.Reader) (Secret, error) {
	root := make([]byte, SecretSize)
	if _, err := io.ReadFull(rand, root); err != nil {
		return Secret{}, fmt.Errorf("generate secret: %w", err)
	}
	return ParseSecret(root)
}

// ParseSecret is the inverse of Bytes.
func ParseSecret(root []byte) (Secret, error) {
	if len(root) != SecretSize || isZero(root) {
		return Secret{}, fmt.Errorf("parse secret: %w", ErrBadKey)
	}
	hidden := string(root)
	return Secret{root: &hidden}, nil
}

// Bytes returns a copy of the root, to be sealed.
func (s Secret) Bytes() []byte {
	return s.mustRoot()
}

// Equal compares in constant time. The zero secret equals nothing.
func (s Secret) Equal(other Secret) bool {
	if s.root == nil || other.root == nil {
		return false
	}
	return subtle.ConstantTimeCompare([]byte(*s.root), []byte(*other.root)) == 1
}

// MAC returns the HMAC-SHA256 key for a purpose. The caller should keep the result.
func (s Secret) MAC(purpose string) *MACKey {
	return newMACKey(subkey(s.mustRoot(), "mac/hmac-sha256/"+purpose))
}

// AEAD returns the XChaCha20-Poly1305 key for a purpose. Its 24-byte nonces may be random
// for any practical number of messages.
func (s Secret) AEAD(purpose string) cipher.AEAD {
	a, err := chacha20poly1305.NewX(subkey(s.mustRoot(), "aead/xchacha20-poly1305/"+purpose))
	if err != nil {
		panic("keys: " + err.Error()) // only a wrong key length is an error
	}
	return &hiddenAEAD{AEAD: a}
}

// mustRoot returns a copy of the root. It panics on the zero value, whose subkeys anybody
// could compute.
func (s Secret) mustRoot() []byte {
	if s.root == nil {
		panic("keys: use of a zero Secret")
	}
	return []byte(*s.root)
}

// hiddenAEAD prevents fmt from printing the key inside the AEAD.
type hiddenAEAD struct {
	redacted
	cipher.AEAD
}

// subkey derives 32 bytes for one purpose. The root is uniformly random, so no
// salt is needed (RFC 5869 §3.1).
func subkey(root []byte, purpose string) []byte {
	key, err := hkdf.Key(sha256.New, root, nil, "mintmark/1/"+purpose, 32)
	if err != nil {
		panic("keys: " + err.Error()) // only an impossible output length is an error
	}
	return key
}
