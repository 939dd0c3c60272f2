package ledger

import (
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// UpgradePassword replaces a password hash that another system made by one of this server, of
// the same password. The user has just entered the password, and it was verified against the
// hash that VerifiedHash is the digest of. Sessions and devices stay: the password is the same.
type UpgradePassword struct {
	User         string   `cbor:"1,keyasint"`
	VerifiedHash [32]byte `cbor:"2,keyasint"` // SHA-256 of User.Password
	Password     string   `cbor:"3,keyasint"` // argon2id, PHC form
}

// Kind implements command.Command.
func (*UpgradePassword) Kind() command.Kind { return KindUpgradePassword }

// Decide accepts the new hash only while the row has the verified one.
func (c *UpgradePassword) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	old := v.User(c.User)
	if cause := old.inactiveCause(); cause != NoCause {
		return deny(cause)
	}
	switch {
	case old.Last == m.ID:
		return accept(Outcome{ID: c.User})
	case old.PasswordCost == HashCost{} || digest(old.Password) != c.VerifiedHash:
		return deny(PasswordChanged)
	case c.Password == "":
		return badField("password", "is empty")
	}
	next := old.changed(m)
	next.setPassword(c.Password, HashCost{})
	return accept(Outcome{ID: c.User}, put(TableUsers, next))
}

// setPassword sets the hash of the password, and its cost if another system made it.
func (u *User) setPassword(hash string, cost HashCost) { u.Password, u.PasswordCost = hash, cost }
