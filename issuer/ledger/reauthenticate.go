package ledger

import (
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// ReauthenticateAfter is the maximum age of an administrator's sign-in for these actions:
// making an administrator, setting another user's password, transferring a client, adding a
// secret to a resource server, and approving or changing a publisher.
// With these, somebody who finds the administrator's browser unattended could gain access
// that outlasts the session.
//
// The command of each action checks the age. It compares state time with the session's
// row, which are the same on all nodes, so the decision depends neither on a node's clock
// nor on how long a page was open or which program sent the form. An operator has no
// session and is not checked.
const ReauthenticateAfter = 15 * time.Minute

// Fresh reports whether the user of s has authenticated within ReauthenticateAfter before
// a time.
func (s *Session) Fresh(at Time) bool { return at < s.Authenticated.Add(ReauthenticateAfter) }

// fresh reports whether i may perform actions that need a fresh sign-in.
func (i caller) fresh(m command.Meta) bool { return i.operator || i.session.Fresh(stateTime(m)) }

// authenticatedAt returns the time of a sign-in at a provider. authTime is the provider's
// auth_time, or 0 if it sent none; then the time of the command counts. The result is never
// later than the command, since the provider's clock may be ahead.
func authenticatedAt(authTime Time, m command.Meta) Time {
	if authTime == 0 {
		return stateTime(m)
	}
	return min(authTime, stateTime(m))
}

// Reauthenticate records that the user of a session has authenticated again, by password
// or at the upstream provider.
type Reauthenticate struct {
	Session [32]byte `cbor:"1,keyasint"`
	// VerifiedHash is like SignIn.VerifiedHash, for a user who entered the password.
	VerifiedHash [32]byte `cbor:"2,keyasint,omitzero"`

	// Issuer and Subject identify the person whom the upstream provider signed in, and
	// Authenticated is the provider's auth_time. All are zero if a password was given.
	Issuer        string `cbor:"3,keyasint,omitempty"`
	Subject       string `cbor:"4,keyasint,omitempty"`
	Authenticated Time   `cbor:"5,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*Reauthenticate) Kind() command.Kind { return KindReauthenticate }

// Decide refuses a proof of another user than the session's.
func (c *Reauthenticate) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	u, s := v.SignedIn(c.Session, stateTime(m))
	switch {
	case u == nil:
		return deny(NotSignedIn)
	case c.Issuer != "" && (c.Issuer != u.Upstream || c.Subject != u.Subject):
		return deny(OtherPerson)
	case c.Issuer == "" && (u.Password == "" || digest(u.Password) != c.VerifiedHash):
		return deny(PasswordChanged)
	}
	next := *s
	next.Authenticated = max(s.Authenticated, authenticatedAt(c.Authenticated, m))
	next.Last = m.ID
	return accept(Outcome{ID: u.ID}, put(TableSessions, &next))
}
