package credential

import (
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
)

// A chained credential is, in text,
//
//	prefix | base64url( version | key id | grant id | generation | MAC )
//
// and the MAC covers all that stands before it, prefix and version included, so
// that a code cannot be re-labelled as a refresh token. All fields have a fixed
// length: the MAC input needs no framing, and 57 bytes are exactly 76 base64url
// characters, so that each credential has one spelling.
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

// Ref names one credential in the chain of a grant. Parsing returns a Link
// only for a credential that one of our keys made.
type Ref struct {
	Key        uint32   // the credential key it was made under
	Grant      [16]byte // the grant's id
	Generation uint32   // 0 is the authorization code, 1 the first refresh token
}

// MintCode makes the authorization code of a grant. Generation must be 0; the
// same link and key always give the same text.
func MintCode(m MAC, l Ref) Code {
	if l.Generation != 0 {
		panic("credential: a code has generation 0")
	}
	return Code{redact(mint(codePrefix, m, l))}
}

// MintRefresh makes a refresh token. Generation must be 1 or more; the same link
// and key always give the same text, which is what makes a retry safe.
func MintRefresh(m MAC, l Ref) RefreshToken {
	if l.Generation == 0 {
		panic("credential: a refresh token has generation 1 or more")
	}
	return RefreshToken{redact(mint(refreshPrefix, m, l))}
}

// ParseCode returns the link of an authorization code that is genuine.
func ParseCode(text string, keys MACs) (Ref, error) {
	return parse(text, codePrefix, keys)
}

// ParseRefresh returns the link of a refresh token that is genuine.
func ParseRefresh(text string, keys MACs) (Ref, error) {
	return parse(text, refreshPrefix, keys)
}

// frame is a credential in bytes, with its prefix. It holds its own slice of
// parts, so that calling through the MAC interface costs one allocation and
// not two.
type frame struct {
	bytes [frameSize]byte
	parts [1][]byte
}

func (f *frame) sum(m MAC) [32]byte {
	f.parts[0] = f.bytes[:macAt]
	return m.Sum(f.parts[:]...)
}

func mint(prefix string, m MAC, l Ref) string {
	f := new(frame)
	copy(f.bytes[:], prefix)
	f.bytes[versionAt] = chainVersion
	binary.BigEndian.PutUint32(f.bytes[keyAt:], l.Key)
	copy(f.bytes[grantAt:], l.Grant[:])
	binary.BigEndian.PutUint32(f.bytes[generationAt:], l.Generation)
	sum := f.sum(m)
	copy(f.bytes[macAt:], sum[:])

	var text [chainTextSize]byte
	copy(text[:], prefix)
	base64.RawURLEncoding.Encode(text[prefixSize:], f.bytes[prefixSize:])
	return string(text[:])
}

// parse checks the form, then the MAC, and the kind last: what a text claims to
// be is believed, and reported, only once it is genuine.
func parse(text, prefix string, keys MACs) (Ref, error) {
	f, ok := decode(text)
	if !ok {
		return Ref{}, ErrMalformed
	}
	l := Ref{
		Key:        binary.BigEndian.Uint32(f.bytes[keyAt:]),
		Grant:      [16]byte(f.bytes[grantAt:]),
		Generation: binary.BigEndian.Uint32(f.bytes[generationAt:]),
	}
	isCode := text[:prefixSize] == codePrefix
	if isCode != (l.Generation == 0) {
		return Ref{}, ErrMalformed // minted by nobody
	}
	m, ok := keys(l.Key)
	if !ok {
		return Ref{}, ErrUnknownKey
	}
	sum := f.sum(m)
	if subtle.ConstantTimeCompare(sum[:], f.bytes[macAt:]) != 1 {
		return Ref{}, ErrForged
	}
	if text[:prefixSize] != prefix {
		return Ref{}, ErrWrongKind
	}
	return l, nil
}

func decode(text string) (*frame, bool) {
	if len(text) != chainTextSize || text[:prefixSize] != codePrefix && text[:prefixSize] != refreshPrefix {
		return nil, false
	}
	f := new(frame)
	var encoded [chainTextSize]byte // on the stack, where []byte(text) would not be
	copy(encoded[:], text)
	// The decoder skips line breaks, so the count tells whether there were any.
	n, err := base64.RawURLEncoding.Decode(f.bytes[prefixSize:], encoded[prefixSize:])
	if err != nil || n != frameSize-prefixSize || f.bytes[versionAt] != chainVersion {
		return nil, false
	}
	copy(f.bytes[:], text[:prefixSize])
	return f, true
}
