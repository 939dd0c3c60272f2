package cluster

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"time"
)

// Invite makes a join token for a node that will have the given name. With
// replaces, a member's name, that member goes when the new one has become a
// voter. The error is a *RefusedError where a rule stands against it.
func (n *Node) Invite(ctx context.Context, name, replaces string, lifetime time.Duration) (token string, expires time.Time, err error) {
	a := n.roster.authority()
	if a == nil {
		return "", time.Time{}, &RefusedError{"this node has no network for others to join: run it with mintmark serve"}
	}
	if replaces != "" {
		old := memberNamed(n.View(), replaces)
		if old == nil {
			return "", time.Time{}, &NoNodeError{replaces}
		}
		replaces = old.ID
	}
	var secret [tokenSecret]byte
	if _, err := io.ReadFull(rand.Reader, secret[:]); err != nil {
		return "", time.Time{}, fmt.Errorf("make a join token: %w", err)
	}
	if _, err := n.decide(ctx, &addInvite{
		ID: inviteID(secret[:]), Name: name, Lifetime: lifetime.Milliseconds(), Replaces: replaces,
	}); err != nil {
		return "", time.Time{}, err
	}
	print, err := hex.DecodeString(a.ID)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("read the authority's fingerprint: %w", err)
	}
	raw := append([]byte{tokenVersion}, print...)
	raw = append(raw, secret[:]...)
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(raw), n.config.Now().Add(lifetime), nil
}

func inviteID(secret []byte) string {
	sum := sha256.Sum256(append([]byte("mintmark join "), secret...))
	return hex.EncodeToString(sum[:])
}
