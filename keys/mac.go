package keys

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"sync"
)

// MACKey computes HMAC-SHA256 (RFC 2104) under one subkey. It is safe for
// concurrent use.
type MACKey struct {
	redacted
	states sync.Pool // of *macState, each keyed and reset
}

// macState is one keyed HMAC. Keying hashes two blocks; a reset state has
// them done, so a pool makes a short message twice as fast.
type macState struct {
	hash.Hash
	sum [sha256.Size]byte
}

func newMACKey(key []byte) *MACKey {
	m := new(MACKey)
	m.states.New = func() any {
		h := hmac.New(sha256.New, key)
		h.Reset()
		return &macState{Hash: h}
	}
	return m
}

// Sum returns the MAC of the parts one after the other. Where a part ends is
// not part of what is authenticated: the caller frames them so that no two
// meanings share the same bytes.
func (m *MACKey) Sum(parts ...[]byte) [sha256.Size]byte {
	s := m.states.Get().(*macState)
	for _, p := range parts {
		s.Write(p) // a hash never returns an error
	}
	s.Hash.Sum(s.sum[:0])
	sum := s.sum
	s.Reset()
	clear(s.sum[:])
	m.states.Put(s)
	return sum
}
