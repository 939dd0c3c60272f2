package member

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// A join token is
//
//	"mintmark-join-" base64url( version | SHA-256 of the authority's certificate | secret )
//
// The fingerprint authenticates the cluster to the new node, and the secret authenticates
// the new node to the cluster.
const (
	tokenPrefix  = "mintmark-join-"
	tokenVersion = 1
	tokenSecret  = 32
)

// NewTokenSecret returns the secret of a new join token.
func NewTokenSecret(rand io.Reader) ([]byte, error) {
	secret := make([]byte, tokenSecret)
	if _, err := io.ReadFull(rand, secret); err != nil {
		return nil, fmt.Errorf("generate join token: %w", err)
	}
	return secret, nil
}

// FormatToken returns a join token. authority is the id of the authority.
func FormatToken(authority string, secret []byte) (string, error) {
	print, err := hex.DecodeString(authority)
	if err != nil {
		return "", fmt.Errorf("decode authority fingerprint: %w", err)
	}
	raw := append([]byte{tokenVersion}, print...)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(append(raw, secret...)), nil
}

// ParseToken returns the fingerprint of the authority and the secret of a join token.
// The error is a *RefusedError.
func ParseToken(token string) (print, secret []byte, err error) {
	bad := Refuse(ErrBadToken)
	text, ok := strings.CutPrefix(strings.TrimSpace(token), tokenPrefix)
	if !ok {
		return nil, nil, bad
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) != 1+sha256.Size+tokenSecret || raw[0] != tokenVersion {
		return nil, nil, bad
	}
	return raw[1 : 1+sha256.Size], raw[1+sha256.Size:], nil
}

// InviteID returns the id of the invite that a secret is for.
func InviteID(secret []byte) string {
	sum := sha256.Sum256(append([]byte("mintmark join "), secret...))
	return hex.EncodeToString(sum[:])
}
