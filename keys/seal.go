package keys

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"io"
)

const (
	sealVersion = 1
	sealPurpose = "cluster-key/seal/aes-256-gcm"
	nonceSize   = 12
	tagSize     = 16
	// sealOverhead is what Seal adds: version | nonce | ciphertext | tag.
	sealOverhead = 1 + nonceSize + tagSize
)

// ErrUnsealable reports bytes that were not sealed under this key for this context, or
// were changed since. It doesn't reveal which.
var ErrUnsealable = errors.New("not sealed under this key for this context")

// Seal encrypts plain with AES-256-GCM under a subkey of k. The context names what is
// sealed ("signing-key/7"). It is authenticated and must be passed to Open, so that one
// sealed value can't replace another.
//
// The nonce is random: at most 2^32 values may be sealed under one cluster key (NIST SP 800-38D
// §8.3). A cluster seals a few keys a month, and its backups.
func (k ClusterKey) Seal(rand io.Reader, context string, plain []byte) ([]byte, error) {
	aead, err := k.aead()
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	sealed := make([]byte, 1+nonceSize, sealOverhead+len(plain))
	sealed[0] = sealVersion
	nonce := sealed[1:]
	if _, err := io.ReadFull(rand, nonce); err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return aead.Seal(sealed, nonce, plain, sealContext(context)), nil
}

// Open returns the plain text of Seal, if it was sealed under k for this context.
func (k ClusterKey) Open(context string, sealed []byte) ([]byte, error) {
	aead, err := k.aead()
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	if len(sealed) < sealOverhead || sealed[0] != sealVersion {
		return nil, fmt.Errorf("open: %w", ErrUnsealable)
	}
	nonce, ciphertext := sealed[1:1+nonceSize], sealed[1+nonceSize:]
	plain, err := aead.Open(nil, nonce, ciphertext, sealContext(context))
	if err != nil {
		return nil, fmt.Errorf("open: %w", ErrUnsealable)
	}
	return plain, nil
}

func (k ClusterKey) aead() (cipher.AEAD, error) {
	if k.key == nil {
		return nil, ErrNoKey
	}
	block, err := aes.NewCipher(subkey([]byte(*k.key), sealPurpose))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// sealContext returns the associated data. It includes the version, so that a later
// version can't be changed to this one.
func sealContext(context string) []byte {
	return append([]byte{sealVersion}, context...)
}
