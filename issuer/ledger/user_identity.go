package ledger

import (
	"crypto/sha256"
	"encoding/hex"
)

// An Identity is the SHA-256 of a user's upstream provider and subject. It names
// somebody without saying who that is.
type Identity []byte

func identityOf(upstream, subject string) Identity {
	// Neither holds a control character, so no two pairs give the same text.
	sum := sha256.Sum256([]byte(upstream + "\x00" + subject))
	return sum[:]
}

// identity is nil for a user who signs in here.
func (u *User) identity() Identity {
	if u.Upstream == "" {
		return u.FormerIdentity
	}
	return identityOf(u.Upstream, u.Subject)
}

// identityText is for the index.
func (u *User) identityText() string { return hex.EncodeToString(u.identity()) }

// UserBySubject finds a user of an upstream provider, deleted ones included.
func (v View) UserBySubject(upstream, subject string) *User {
	return v.userOf(identityOf(upstream, subject))
}

func (v View) userOf(id Identity) *User {
	return first[User](v, TableUsers, "identity", hex.EncodeToString(id))
}
