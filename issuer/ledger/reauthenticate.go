package ledger

import "time"

// ReauthenticateAfter is how old the sign-in of an administrator may be for the
// acts by which whoever found their browser open could stay in for good: to make
// an administrator, to set another user's password, to transfer a client.
//
// The age is judged in the command of each act, where the act happens. State time
// and the session's row are the same for all nodes, so that a node with another
// clock, a page that was open for long or a program that sends its form changes
// nothing. An operator has no session, and is not asked.
const ReauthenticateAfter = 15 * time.Minute

// Fresh reports whether the user of s proved who they are within
// ReauthenticateAfter.
func (s *Session) Fresh(at Time) bool { return at < s.Authenticated.Add(ReauthenticateAfter) }

// fresh reports whether i may do what needs a fresh sign-in.
func (i identity) fresh(m Meta) bool { return i.operator || i.session.Fresh(m.At) }

// authenticatedAt is when somebody signed in whom a provider signed in at said. It
// is never to come, and it is now where the provider does not say it.
func authenticatedAt(said Time, m Meta) Time {
	if said == 0 {
		return m.At
	}
	return min(said, m.At)
}

// Reauthenticate records that the user of a session has proved again who they are.
type Reauthenticate struct {
	Session [32]byte `cbor:"1,keyasint"`
	// Verified is as SignIn.Verified, of a user who gave a password.
	Verified [32]byte `cbor:"2,keyasint,omitzero"`

	// Issuer and Subject are whom the upstream provider signed in, "" where a
	// password was given, and Authenticated is when.
	Issuer        string `cbor:"3,keyasint,omitempty"`
	Subject       string `cbor:"4,keyasint,omitempty"`
	Authenticated Time   `cbor:"5,keyasint,omitempty"`
}

// Kind is KindReauthenticate.
func (*Reauthenticate) Kind() Kind { return KindReauthenticate }

// Decide refuses the proof of anybody but the session's own user.
func (c *Reauthenticate) Decide(v View, m Meta) Decision {
	u, s := v.SignedIn(c.Session, m.At)
	switch {
	case u == nil:
		return deny(NotSignedIn)
	case c.Issuer != "" && (c.Issuer != u.Upstream || c.Subject != u.Subject):
		return deny(OtherPerson)
	case c.Issuer == "" && (u.Password == "" || digest(u.Password) != c.Verified):
		return deny(PasswordChanged)
	}
	next := *s
	next.Authenticated = max(s.Authenticated, authenticatedAt(c.Authenticated, m))
	next.Last = m.ID
	return accept(Outcome{ID: u.ID}, put(TableSessions, &next))
}
