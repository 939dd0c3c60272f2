package ledger

import (
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// A User is an account. It signs in, allows clients and may own some.
type User struct {
	ID       string `cbor:"1,keyasint"`
	Username string `cbor:"2,keyasint,omitempty"`
	Person

	// Password is an argon2id hash in PHC form, or the hash that was imported, or empty if
	// the user signs in through an upstream provider.
	Password string `cbor:"3,keyasint,omitempty"`
	// PasswordCost is set while Password is a hash that another system made. The next
	// sign-in replaces it: see UpgradePassword.
	PasswordCost HashCost `cbor:"18,keyasint,omitzero"`
	// Upstream and Subject identify a user of an upstream OpenID Connect provider. An
	// e-mail address never identifies a user.
	Upstream string `cbor:"4,keyasint,omitempty"`
	Subject  string `cbor:"5,keyasint,omitempty"`

	Admin    bool `cbor:"6,keyasint,omitempty"`
	Disabled bool `cbor:"7,keyasint,omitempty"`
	Deleted  bool `cbor:"8,keyasint,omitempty"`

	// Grants lists the user's grants, so that grants need no index by user.
	Grants []GrantID `cbor:"9,keyasint,omitempty"`

	// Sessions and grants created at or before these Seqs have ended. Revoking any number
	// of grants so changes one row.
	SessionsRevokedBefore uint64          `cbor:"10,keyasint,omitempty"`
	GrantsRevokedBefore   uint64          `cbor:"11,keyasint,omitempty"`
	RevokedBeforeByClient []RevokedBefore `cbor:"12,keyasint,omitempty"`
	TokensRevokedBefore   Time            `cbor:"17,keyasint,omitempty"` // the latest iat that the last revocation of grants covers: see issuedAfter

	Created  Time       `cbor:"13,keyasint"`
	Last     command.ID `cbor:"14,keyasint"`
	Declared string     `cbor:"15,keyasint,omitempty"` // like Client.Declared

	// FormerIdentity is the identity of a user whose Upstream and Subject are no longer
	// stored, or unknown: a deleted user can't return by signing in again.
	FormerIdentity Identity `cbor:"16,keyasint,omitempty"`

	// FeedDigest is the SHA-256 of the address at which programs read what needs the user, and
	// FeedSince is when it was made; zero if there is none.
	FeedDigest [32]byte `cbor:"30,keyasint,omitzero"`
	FeedSince  Time     `cbor:"31,keyasint,omitempty"`
}

// A RevokedBefore ends a user's grants for one client that were created at or before a Seq. It
// is removed with the last of the user's grants for the client: see Sweep.
type RevokedBefore struct {
	Client string `cbor:"1,keyasint"`
	Seq    uint64 `cbor:"2,keyasint,omitempty"` // all grants
	Legacy uint64 `cbor:"3,keyasint,omitempty"` // legacy grants
}

// A Person is the profile that GET /v2/me returns. An empty field is null.
type Person struct {
	Email             string `cbor:"20,keyasint,omitempty"`
	Name              string `cbor:"21,keyasint,omitempty"`
	AvatarURL         string `cbor:"22,keyasint,omitempty"`
	Bio               string `cbor:"23,keyasint,omitempty"`
	TimeFormat        int    `cbor:"24,keyasint,omitempty"` // 12 or 24; 0 means 24
	DefaultScheduleID string `cbor:"25,keyasint,omitempty"`
	WeekStart         string `cbor:"26,keyasint,omitempty"`
	TimeZone          string `cbor:"27,keyasint,omitempty"`
	Locale            string `cbor:"28,keyasint,omitempty"`
	OrganizationID    string `cbor:"29,keyasint,omitempty"`
}

// MaxAhead is how far the iat of a token may be ahead of state time.
const MaxAhead = 2 * time.Second

// issuedAfter returns the iat of a token that is issued at a time. revoked is the
// TokensRevokedBefore of its user or client. The revocation feed compares whole seconds, and a
// revocation covers every token of its second, so a token that is issued after it gets the next
// second as its iat. If that is more than MaxAhead later than the time, as after several
// revocations within a second, no token may be issued yet.
func issuedAfter(revoked, at Time) Time {
	if revoked.Unix() >= at.Unix() {
		return Time((revoked.Unix() + 1) * 1000)
	}
	return at
}

// revokeTokens sets TokensRevokedBefore to cover every token issued so far, including one
// whose iat is the second after an earlier revocation.
func (u *User) revokeTokens(at Time) {
	u.TokensRevokedBefore = min(issuedAfter(u.TokensRevokedBefore, at), at.Add(MaxAhead))
}

// inactiveCause returns why the user may do nothing, or NoCause.
func (u *User) inactiveCause() Cause {
	switch {
	case u == nil || u.Deleted:
		return UserDeleted
	case u.Disabled:
		return UserDisabled
	}
	return NoCause
}

// revokedBefore returns the entry for one client, or the zero RevokedBefore.
func (u *User) revokedBefore(client string) RevokedBefore {
	for _, c := range u.RevokedBeforeByClient {
		if c.Client == client {
			return c
		}
	}
	return RevokedBefore{Client: client}
}

// changed returns a copy of u for a command to change. Slices are shared with u and must be
// replaced.
func (u *User) changed(m command.Meta) *User {
	next := *u
	next.Last = m.ID
	return &next
}

// setRevokedBefore replaces the entry of one client, in a new slice.
func (u *User) setRevokedBefore(revoked RevokedBefore) {
	kept := make([]RevokedBefore, 0, len(u.RevokedBeforeByClient)+1)
	for _, c := range u.RevokedBeforeByClient {
		if c.Client != revoked.Client {
			kept = append(kept, c)
		}
	}
	u.RevokedBeforeByClient = append(kept, revoked)
}
