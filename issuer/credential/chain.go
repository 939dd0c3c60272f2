package credential

import (
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// The text of a credential of a chain is
//
//	prefix | base64url( version | key id | grant id | generation | MAC )
//
// and the MAC covers everything before it, including prefix and version, so that a code can't
// be relabelled as a refresh token. All fields have a fixed length: the MAC input needs no
// framing, and 57 bytes are exactly 76 base64url characters, so that each credential has a
// single encoding.
const (
	codePrefix    = "mmc_"
	refreshPrefix = "mmr_"
	prefixSize    = len(codePrefix)

	chainVersion = 1

	versionAt    = prefixSize
	keyAt        = versionAt + 1
	grantAt      = keyAt + 4
	generationAt = grantAt + 16
	macAt        = generationAt + 4
	frameSize    = macAt + 32

	chainTextSize = prefixSize + (frameSize-prefixSize)/3*4
)

// MintCode returns the authorization code of a grant. Generation must be 0. The same
// reference and key always give the same text.
func MintCode(m MAC, ref ledger.CredentialRef) Code {
	if ref.Generation != 0 {
		panic("credential: a code has generation 0")
	}
	return Code{redact(mint(codePrefix, m, ref))}
}

// MintRefresh returns a refresh token. Generation must be at least 1. The same reference and
// key always give the same text, which makes retries safe.
func MintRefresh(m MAC, ref ledger.CredentialRef) RefreshToken {
	if ref.Generation == 0 {
		panic("credential: a refresh token has generation 1 or more")
	}
	return RefreshToken{redact(mint(refreshPrefix, m, ref))}
}

// ParseCode returns the reference in an authorization code, if one of the keys made it.
func ParseCode(text string, keys MACs) (ledger.CredentialRef, error) {
	return parse(text, codePrefix, keys)
}

// ParseRefresh returns the reference in a refresh token, if one of the keys made it.
func ParseRefresh(text string, keys MACs) (ledger.CredentialRef, error) {
	return parse(text, refreshPrefix, keys)
}

// A frame is the bytes of a credential, with its prefix. It contains its own slice of parts,
// so that a call through the MAC interface costs one allocation instead of two.
type frame struct {
	bytes [frameSize]byte
	parts [1][]byte
}

func (f *frame) sum(m MAC) [32]byte {
	f.parts[0] = f.bytes[:macAt]
	return m.Sum(f.parts[:]...)
}

func mint(prefix string, m MAC, ref ledger.CredentialRef) string {
	f := new(frame)
	copy(f.bytes[:], prefix)
	f.bytes[versionAt] = chainVersion
	binary.BigEndian.PutUint32(f.bytes[keyAt:], ref.Key)
	copy(f.bytes[grantAt:], ref.Grant[:])
	binary.BigEndian.PutUint32(f.bytes[generationAt:], ref.Generation)
	sum := f.sum(m)
	copy(f.bytes[macAt:], sum[:])

	var text [chainTextSize]byte
	copy(text[:], prefix)
	base64.RawURLEncoding.Encode(text[prefixSize:], f.bytes[prefixSize:])
	return string(text[:])
}

// parse checks the form first, then the MAC, and the kind last: the kind that a text claims is
// reported only once the text is genuine.
func parse(text, prefix string, keys MACs) (ledger.CredentialRef, error) {
	f, ok := decode(text)
	if !ok {
		return ledger.CredentialRef{}, ErrMalformed
	}
	ref := ledger.CredentialRef{
		Key:        binary.BigEndian.Uint32(f.bytes[keyAt:]),
		Grant:      ledger.GrantID(f.bytes[grantAt:]),
		Generation: binary.BigEndian.Uint32(f.bytes[generationAt:]),
	}
	isCode := text[:prefixSize] == codePrefix
	if isCode != (ref.Generation == 0) {
		return ledger.CredentialRef{}, ErrMalformed // no such credential is ever minted
	}
	m, ok := keys(ref.Key)
	if !ok {
		return ledger.CredentialRef{}, ErrUnknownKey
	}
	sum := f.sum(m)
	if subtle.ConstantTimeCompare(sum[:], f.bytes[macAt:]) != 1 {
		return ledger.CredentialRef{}, ErrForged
	}
	if text[:prefixSize] != prefix {
		return ledger.CredentialRef{}, ErrWrongKind
	}
	return ref, nil
}

func decode(text string) (*frame, bool) {
	if len(text) != chainTextSize || text[:prefixSize] != codePrefix && text[:prefixSize] != refreshPrefix {
		return nil, false
	}
	f := new(frame)
	var encoded [chainTextSize]byte // on the stack, unlike []byte(text)
	copy(encoded[:], text)
	// The decoder skips line breaks; n reveals whether there were any.
	n, err := base64.RawURLEncoding.Decode(f.bytes[prefixSize:], encoded[prefixSize:])
	if err != nil || n != frameSize-prefixSize || f.bytes[versionAt] != chainVersion {
		return nil, false
	}
	copy(f.bytes[:], text[:prefixSize])
	return f, true
}
