package keys

import (
	"bytes"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
)

const clusterKeySize = 32

// ErrNoKey is returned by operations on the zero key.
var ErrNoKey = errors.New("no key")

// ErrBadKey reports bytes or a text that are not a key of the expected kind. It never
// contains the input.
var ErrBadKey = errors.New("not a valid key")

// A ClusterKey is the only secret that nodes of a cluster receive out of band; the
// cluster's other secrets are replicated sealed under it, and lost if it is lost. Every
// operation refuses the zero value.
type ClusterKey struct {
	redacted
	key *string // 32 bytes; nil in the zero value
}

// NewClusterKey returns a cluster key of 32 random bytes.
func NewClusterKey(rand io.Reader) (ClusterKey, error) {
	key := make([]byte, clusterKeySize)
	if _, err := io.ReadFull(rand, key); err != nil {
		return ClusterKey{}, fmt.Errorf("make cluster key: %w", err)
	}
	return clusterKeyOf(key)
}

// ParseClusterKey parses the text form of a cluster key, from a key file, an environment
// variable or a systemd credential: 43 base64url characters and at most one line ending.
func ParseClusterKey(text []byte) (ClusterKey, error) {
	text = bytes.TrimSuffix(text, []byte("\n"))
	text = bytes.TrimSuffix(text, []byte("\r"))
	key := make([]byte, clusterKeySize)
	if len(text) != base64.RawURLEncoding.EncodedLen(clusterKeySize) {
		return ClusterKey{}, fmt.Errorf("parse cluster key: %w", ErrBadKey)
	}
	// The decoder skips line breaks, so the count is checked too. Its error is dropped, since
	// it would reveal an offset in a secret.
	if n, err := base64.RawURLEncoding.Strict().Decode(key, text); err != nil || n != clusterKeySize {
		return ClusterKey{}, fmt.Errorf("parse cluster key: %w", ErrBadKey)
	}
	return clusterKeyOf(key)
}

// clusterKeyOf refuses the all-zero key, which no generator makes but a truncated or zeroed
// file may contain.
func clusterKeyOf(key []byte) (ClusterKey, error) {
	if isZero(key) {
		return ClusterKey{}, fmt.Errorf("cluster key of zeros: %w", ErrBadKey)
	}
	hidden := string(key)
	return ClusterKey{key: &hidden}, nil
}

// Text returns the form that ParseClusterKey parses, with its line ending: the secret
// itself, to be written to a file or sent to another node of the cluster.
func (k ClusterKey) Text() []byte {
	return append(base64.RawURLEncoding.AppendEncode(nil, []byte(*k.key)), '\n')
}

// IsZero reports whether k is the zero value.
func (k ClusterKey) IsZero() bool { return k.key == nil }

// Equal compares in constant time. The zero key equals nothing.
func (k ClusterKey) Equal(other ClusterKey) bool {
	if k.key == nil || other.key == nil {
		return false
	}
	return subtle.ConstantTimeCompare([]byte(*k.key), []byte(*other.key)) == 1
}

func isZero(b []byte) bool {
	var or byte
	for _, c := range b {
		or |= c
	}
	return or == 0
}
