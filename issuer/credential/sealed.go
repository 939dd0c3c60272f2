package credential

import (
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"io"
)

// A sealed text is base64url( version | key id | nonce | ciphertext ), with version and
// key id as associated data. The key determines its purpose.
const (
	sealedVersion = 1
	sealedHead    = 1 + 4
)

// SealText encrypts a text for its bearer not to read. The AEAD must permit random nonces, as
// XChaCha20-Poly1305 does.
func SealText(rand io.Reader, a cipher.AEAD, keyID uint32, plain []byte) string {
	if a.NonceSize() != causeNonce {
		panic("credential: texts are sealed with XChaCha20-Poly1305")
	}
	b := make([]byte, sealedHead+causeNonce, sealedHead+causeNonce+len(plain)+a.Overhead())
	b[0] = sealedVersion
	binary.BigEndian.PutUint32(b[1:], keyID)
	head, nonce := b[:sealedHead], b[sealedHead:]
	mustRead(rand, nonce)
	return base64.RawURLEncoding.EncodeToString(a.Seal(b, nonce, plain, head))
}

// OpenText is the inverse of SealText, on any node with the key.
func OpenText(keys AEADs, text string) ([]byte, error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < sealedHead+causeNonce || b[0] != sealedVersion {
		return nil, ErrMalformed
	}
	head, nonce, sealed := b[:sealedHead], b[sealedHead:sealedHead+causeNonce], b[sealedHead+causeNonce:]
	a, ok := keys(binary.BigEndian.Uint32(head[1:]))
	if !ok {
		return nil, ErrUnknownKey
	}
	plain, err := a.Open(nil, nonce, sealed, head)
	if err != nil {
		return nil, ErrForged
	}
	return plain, nil
}
