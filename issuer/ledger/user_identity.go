package ledger

import (
	"crypto/sha256"
	"encoding/hex"
)

// An Identity is the SHA-256 of a user's upstream provider and subject. It identifies a
// person without revealing either.
type Identity []byte

func identityOf(upstream, subject string) Identity {
	// Neither contains a control character, so the text is unambiguous.
	sum := sha256.Sum256([]byte(upstream + "\x00" + subject))
	return sum[:]
}

// identity returns nil for a user who signs in by password.
func (u *User) identity() Identity {
	if u.Upstream == "" {
		return u.FormerIdentity
	}
	return identityOf(u.Upstream, u.Subject)
}

// identityText is the index key.
func (u *User) identityText() string { return hex.EncodeToString(u.identity()) }

// UserBySubject returns the user of an upstream provider with a subject, deleted ones
// included, or nil.
func (v View) UserBySubject(upstream, subject string) *User {
	return v.userOf(identityOf(upstream, subject))
}

func (v View) userOf(id Identity) *User {
	return first[User](v, TableUsers, "identity", hex.EncodeToString(id))
}
