package credential

import (
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"io"
)

// The text of an error id is
//
//	prefix | base64url( version | key id | nonce | sealed cause )
//
// with version and key id as associated data. All error ids have the same length, so that an
// id reveals nothing about its cause; 108 bytes are exactly 144 characters, so that each id
// has a single encoding.
const (
	causePrefix  = "mme_"
	causeVersion = 1

	causeHead  = 1 + 4
	causeNonce = 24
	causePlain = 2 + 8 + 16 + 1 + 16 + 4 + 4 + 8 + 4
	causeTag   = 16
	causeSize  = causeHead + causeNonce + causePlain + causeTag

	causeTextSize = len(causePrefix) + causeSize/3*4
)

// A Cause is why a request was refused, for the client's owner and administrators. Package
// ledger defines the codes and details.
type Cause struct {
	Code   uint16
	At     int64    // when the request was refused
	Client [16]byte // ClientDigest of the refused client

	// Named reports that the client authenticated and owns the grant. If it is false, none
	// of the fields below except Detail is sealed.
	Named     bool
	Grant     [16]byte
	Presented uint32 // the generation that was presented
	Due       uint32 // the generation that was due
	When      int64  // when the cause occurred, in Unix seconds; 0 if it has no time
	Detail    uint32
}

// ClientDigest returns the form of a client's id in a Cause. It has a fixed length and is long
// enough to tell whether an error id belongs to a client.
func ClientDigest(clientID string) [16]byte {
	sum := sha256.Sum256([]byte(clientID))
	return [16]byte(sum[:16])
}

// SealCause returns an error id with a random nonce. The AEAD must be XChaCha20-Poly1305,
// whose nonces may be random at any rate of errors.
func SealCause(rand io.Reader, a cipher.AEAD, keyID uint32, c Cause) string {
	if a.NonceSize() != causeNonce || a.Overhead() != causeTag {
		panic("credential: causes are sealed with XChaCha20-Poly1305")
	}
	id := make([]byte, causeHead+causeNonce, causeSize)
	id[0] = causeVersion
	binary.BigEndian.PutUint32(id[1:], keyID)
	head, nonce := id[:causeHead], id[causeHead:]
	mustRead(rand, nonce)
	id = a.Seal(id, nonce, c.bytes(), head)
	text := make([]byte, 0, causeTextSize)
	text = append(text, causePrefix...)
	return string(base64.RawURLEncoding.AppendEncode(text, id))
}

// OpenCause returns the cause in an error id. The caller must check, with Client, whether the
// requester may see it.
func OpenCause(keys AEADs, text string) (Cause, error) {
	if len(text) != causeTextSize || text[:len(causePrefix)] != causePrefix {
		return Cause{}, ErrMalformed
	}
	id, err := base64.RawURLEncoding.DecodeString(text[len(causePrefix):])
	if err != nil || len(id) != causeSize || id[0] != causeVersion {
		return Cause{}, ErrMalformed
	}
	head, nonce, sealed := id[:causeHead], id[causeHead:causeHead+causeNonce], id[causeHead+causeNonce:]
	a, ok := keys(binary.BigEndian.Uint32(head[1:]))
	if !ok {
		return Cause{}, ErrUnknownKey
	}
	plain, err := a.Open(sealed[:0], nonce, sealed, head)
	if err != nil {
		return Cause{}, ErrForged
	}
	return causeOf(plain), nil
}

// bytes returns all fields in order, big-endian.
func (c Cause) bytes() []byte {
	if !c.Named {
		c = Cause{Code: c.Code, At: c.At, Client: c.Client, Detail: c.Detail}
	}
	be := binary.BigEndian
	b := make([]byte, 0, causePlain)
	b = be.AppendUint16(b, c.Code)
	b = be.AppendUint64(b, uint64(c.At))
	b = append(b, c.Client[:]...)
	named := byte(0)
	if c.Named {
		named = 1
	}
	b = append(b, named)
	b = append(b, c.Grant[:]...)
	b = be.AppendUint32(b, c.Presented)
	b = be.AppendUint32(b, c.Due)
	b = be.AppendUint64(b, uint64(c.When))
	return be.AppendUint32(b, c.Detail)
}

// causeOf is the inverse of bytes, for authenticated bytes of the right length.
func causeOf(b []byte) Cause {
	be := binary.BigEndian
	return Cause{
		Code:      be.Uint16(b),
		At:        int64(be.Uint64(b[2:])),
		Client:    [16]byte(b[10:]),
		Named:     b[26] == 1,
		Grant:     [16]byte(b[27:]),
		Presented: be.Uint32(b[43:]),
		Due:       be.Uint32(b[47:]),
		When:      int64(be.Uint64(b[51:])),
		Detail:    be.Uint32(b[59:]),
	}
}
