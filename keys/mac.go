package keys

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"sync"
)

// A MACKey computes HMAC-SHA256 (RFC 2104) under one subkey. It is safe for concurrent use.
type MACKey struct {
	redacted
	states sync.Pool // of *macState, each keyed and reset
}

// A macState is one keyed HMAC. Keying hashes two blocks, which resetting a pooled state avoids:
// a short message is twice as fast.
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

// Sum returns the MAC of the concatenated parts. The boundaries of parts are not authenticated:
// the caller must frame them so that the concatenation is unambiguous.
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
