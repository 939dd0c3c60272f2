package ledger

import (
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// A User signs in, allows clients and may own some.
type User struct {
	ID       string `cbor:"1,keyasint"`
	Username string `cbor:"2,keyasint,omitempty"`
	Person

	// Password is an argon2id hash in PHC form; empty where the user signs in
	// elsewhere.
	Password string `cbor:"3,keyasint,omitempty"`
	// Upstream and Subject identify a user of an upstream OpenID Connect
	// provider. An e-mail address never does.
	Upstream string `cbor:"4,keyasint,omitempty"`
	Subject  string `cbor:"5,keyasint,omitempty"`

	Admin    bool `cbor:"6,keyasint,omitempty"`
	Disabled bool `cbor:"7,keyasint,omitempty"`
	Deleted  bool `cbor:"8,keyasint,omitempty"`

	// Grants lists this user's grants, so that grants need no index by user.
	Grants []GrantID `cbor:"9,keyasint,omitempty"`

	// Whatever was born at or before a cut has ended. A cut is one row, where
	// ending a hundred grants would be a hundred.
	SessionsRevokedBefore uint64          `cbor:"10,keyasint,omitempty"`
	GrantsRevokedBefore   uint64          `cbor:"11,keyasint,omitempty"`
	RevokedBeforeByClient []RevokedBefore `cbor:"12,keyasint,omitempty"`
	TokensRevokedBefore   Time            `cbor:"17,keyasint,omitempty"` // the latest iat that the last cut of grants revokes: see issuedAt

	Created  Time       `cbor:"13,keyasint"`
	Last     command.ID `cbor:"14,keyasint"`
	Declared string     `cbor:"15,keyasint,omitempty"` // as Client.Declared

	// FormerIdentity is the identity of a user whose Upstream and Subject are not kept, or
	// not known: whoever was deleted does not come back by signing in again.
	FormerIdentity Identity `cbor:"16,keyasint,omitempty"`
}

// A RevokedBefore ends a user's grants for one client that were born at or before it.
type RevokedBefore struct {
	Client string `cbor:"1,keyasint"`
	Seq    uint64 `cbor:"2,keyasint,omitempty"` // all grants
	Legacy uint64 `cbor:"3,keyasint,omitempty"` // legacy grants
}

// A Person is what GET /v2/me shows of a user. Empty means null.
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

// issuedAt returns the iat of a token of this user that is made at a time. The feed of
// revocations compares whole seconds and revokes every token of the second of a cut, so
// a token that is issued after a cut gets the next second as its iat. If that is more
// than MaxAhead later than the time, as after several cuts within a second, no token
// may be made yet.
func (u *User) issuedAt(at Time) Time {
	if u.TokensRevokedBefore.Unix() >= at.Unix() {
		return Time((u.TokensRevokedBefore.Unix() + 1) * 1000)
	}
	return at
}

// revokeTokens records a cut of the user's grants. It revokes every token that was made
// before, also one whose iat is the second after an earlier cut.
func (u *User) revokeTokens(at Time) {
	u.TokensRevokedBefore = min(u.issuedAt(at), at.Add(MaxAhead))
}

// inactiveCause says why the user may do nothing any more, if so.
func (u *User) inactiveCause() Cause {
	switch {
	case u == nil || u.Deleted:
		return UserDeleted
	case u.Disabled:
		return UserDisabled
	}
	return NoCause
}

// revokedBefore is the cut for one client, the zero RevokedBefore where there is none.
func (u *User) revokedBefore(client string) RevokedBefore {
	for _, c := range u.RevokedBeforeByClient {
		if c.Client == client {
			return c
		}
	}
	return RevokedBefore{Client: client}
}

// changed is a copy of u for a command to change; slices are shared with u
// and must be replaced.
func (u *User) changed(m command.Meta) *User {
	next := *u
	next.Last = m.ID
	return &next
}

// setRevokedBefore replaces the cut of one client in a fresh slice.
func (u *User) setRevokedBefore(cut RevokedBefore) {
	cuts := make([]RevokedBefore, 0, len(u.RevokedBeforeByClient)+1)
	for _, c := range u.RevokedBeforeByClient {
		if c.Client != cut.Client {
			cuts = append(cuts, c)
		}
	}
	u.RevokedBeforeByClient = append(cuts, cut)
}
