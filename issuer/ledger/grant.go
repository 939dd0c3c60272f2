package ledger

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// GrantID is 128 random bits.
type GrantID [16]byte

// String returns the id as tokens, lists and logs show it.
func (id GrantID) String() string { return hex.EncodeToString(id[:]) }

// UnmarshalBinary implements encoding.BinaryUnmarshaler, for the reason of
// command.ID.UnmarshalBinary.
func (id *GrantID) UnmarshalBinary(b []byte) error {
	if len(b) != len(id) {
		return fmt.Errorf("decode grant id: %d bytes, %d expected", len(b), len(id))
	}
	*id = GrantID(b)
	return nil
}

// ParseGrantID parses the result of String.
func ParseGrantID(s string) (id GrantID, ok bool) {
	n, err := hex.Decode(id[:], []byte(s[:min(len(s), 2*len(id))]))
	return id, err == nil && n == len(id) && len(s) == 2*n
}

// A Sum is a SHA-256 digest or an HMAC-SHA-256.
type Sum [32]byte

// UnmarshalBinary implements encoding.BinaryUnmarshaler, for the reason of
// command.ID.UnmarshalBinary.
func (s *Sum) UnmarshalBinary(b []byte) error {
	if len(b) != len(s) {
		return fmt.Errorf("decode digest: %d bytes, %d expected", len(b), len(s))
	}
	*s = Sum(b)
	return nil
}

// A Grant is one consent of one user to one client. Its credentials form a chain of
// one-time values numbered by generation: generation 0 is the authorization code, 1 the
// first refresh token, and so on. The row stores no credential, only the generation that
// is due and the key it was made under.
type Grant struct {
	ID     GrantID `cbor:"1,keyasint"`
	Client string  `cbor:"2,keyasint"`
	User   string  `cbor:"3,keyasint"`
	// Scope and Legacy are those of the authorization; they never change. See View.ScopeOf.
	Scope  string `cbor:"4,keyasint,omitempty"`
	Legacy bool   `cbor:"5,keyasint,omitempty"`
	Agent  bool   `cbor:"25,keyasint,omitempty"` // the client had a document at the Allow
	// Resource is the number of the resource server that the grant is for, 0 for the
	// cluster's audience: see View.ResourceServerOf. It never changes. Here it takes no room.
	Resource uint16 `cbor:"24,keyasint,omitempty"`

	Due uint32 `cbor:"6,keyasint,omitempty"` // the generation that may be presented next
	Key uint32 `cbor:"7,keyasint"`           // number of the credential key that Due was made under
	// FastForwarded is the Restore.Count for which the grant used its fast-forward. It is
	// placed here to avoid padding.
	FastForwarded uint32 `cbor:"17,keyasint,omitempty"`
	CreatedSeq    uint64 `cbor:"8,keyasint"` // Meta.Seq of the Allow

	Challenge string `cbor:"9,keyasint,omitempty"` // PKCE S256 (RFC 7636 §4.2), never changes
	Redirect  Sum    `cbor:"10,keyasint"`          // SHA-256 of the redirection URI, never changes

	Created Time `cbor:"11,keyasint"`
	Spent   Time `cbor:"12,keyasint,omitempty"` // when generation Due-1 was first accepted
	Used    Time `cbor:"13,keyasint,omitempty"` // when a credential was last accepted

	Ended    Time       `cbor:"14,keyasint,omitempty"` // 0 while live
	EndCause Cause      `cbor:"15,keyasint,omitempty"`
	RetryDay int32      `cbor:"18,keyasint,omitempty"` // day (UTC, since the Unix epoch) of the last EventRetried, see auditsRetry
	Last     command.ID `cbor:"16,keyasint"`
	Halted   int64      `cbor:"19,keyasint,omitempty"` // Meta.Halted at Spent
	Repeats  uint8      `cbor:"20,keyasint,omitempty"` // how many consecutive generations, up to the last one, were requested twice; at most sharedAfter
	// EditedFields has a bit for each of ProfileFields that has an EventProfileEdited on
	// EditDay, the day (UTC, since the Unix epoch) of the last one. They fill a gap of the struct.
	EditedFields uint8  `cbor:"22,keyasint,omitempty"`
	EditDay      uint16 `cbor:"23,keyasint,omitempty"`
	SharedDay    int32  `cbor:"21,keyasint,omitempty"` // the day (UTC, since the Unix epoch) of the last EventShared
}

// ended returns why a grant of a user accepts no credential any more, or NoCause: see
// Grant.ended. The grant of a client with a document may also have ended with those of all
// users.
func (v View) ended(g *Grant, u *User) (cause Cause, when Time) {
	if cause, when := g.ended(u); cause != NoCause || !g.Agent {
		return cause, when
	}
	if c := v.Client(g.Client); c != nil && g.CreatedSeq <= c.GrantsRevokedBefore {
		return GrantEnded, 0
	}
	return NoCause, 0
}

// ended returns why the grant accepts no credential any more, or NoCause: it was ended
// itself, its user is disabled or deleted, or the user's grants were revoked. when is the
// time of that, or 0 if it is not recorded.
func (g *Grant) ended(u *User) (cause Cause, when Time) {
	if g.Ended != 0 {
		return g.EndCause, g.Ended
	}
	if cause := u.inactiveCause(); cause != NoCause {
		return cause, 0
	}
	if g.CreatedSeq <= u.GrantsRevokedBefore {
		return GrantEnded, 0
	}
	if len(u.RevokedBeforeByClient) > 0 {
		revoked := u.revokedBefore(g.Client)
		switch {
		case g.CreatedSeq <= revoked.Seq:
			return GrantEnded, 0
		case g.Legacy && g.CreatedSeq <= revoked.Legacy:
			return Reauthorized, 0
		}
	}
	return NoCause, 0
}

// expired returns why a generation of g's chain has expired at a state time, and when it
// did, or NoCause.
func (v View) expired(g *Grant, s *Settings, generation uint32, at Time) (cause Cause, when Time) {
	refreshIdle, absolute := g.lifetimes(s)
	if end := g.Created.Add(absolute); at >= end {
		return GrantExpired, end
	}
	if generation == 0 {
		if end := g.Created.Add(s.CodeLifetime); at >= end {
			return CodeExpired, end
		}
		return NoCause, 0
	}
	if at < g.Used.Add(refreshIdle) {
		return NoCause, 0
	}
	// Uses after the backup are lost in a restore, so idle time is counted from the
	// restore.
	end := max(g.Created, g.Used, v.restoredAt(g.CreatedSeq)).Add(refreshIdle)
	if at >= end {
		return RefreshIdle, end
	}
	return NoCause, 0
}

// RefreshExpires returns when the refresh token that is due expires if it is not used.
func (v View) RefreshExpires(g *Grant) Time {
	refreshIdle, absolute := g.lifetimes(v.Settings())
	idle := max(g.Created, g.Used, v.restoredAt(g.CreatedSeq)).Add(refreshIdle)
	return min(idle, g.Created.Add(absolute))
}

// latestPresentable returns the latest generation that may be presented, ignoring expiry.
// It is a refresh token, although the code is due, if a fast-forward is possible.
func (v View) latestPresentable(g *Grant) uint32 {
	if g.Due > 0 {
		return g.Due
	}
	if r := v.Restore(); r.covers(g.CreatedSeq) && g.FastForwarded != r.Count {
		return 1
	}
	return 0
}

// withEnd returns a copy of g that ended for a cause.
func (g *Grant) withEnd(cause Cause, m command.Meta) *Grant {
	next := *g
	next.Ended, next.EndCause, next.Last = stateTime(m), cause, m.ID
	return &next
}

// withSpent returns a copy of g after a generation was accepted: the next one is due,
// under the credential key with that number.
func (g *Grant) withSpent(generation, key uint32, m command.Meta) *Grant {
	next := *g
	if g.Used == g.Spent { // the generation before was requested only once
		next.Repeats = 0
	}
	next.Due = generation + 1
	next.Key, next.Spent, next.Halted, next.Used, next.Last = key, stateTime(m), m.Halted, stateTime(m), m.ID
	return &next
}

// sharedAfter is the number of consecutive generations that must have been requested twice
// for a grant to count as shared. A single repetition may follow a lost response. Two
// copies of an application, or a thief who refreshes as often as the application, request
// every generation twice.
const sharedAfter = 3

// Shared reports whether two parties seem to use the same grant. The grant is not ended,
// since applications that run as several processes behave in the same way.
func (g *Grant) Shared() bool { return g.Repeats >= sharedAfter }

// spentWithin reports whether the last generation was spent within a window before m.
// Time during which the cluster could decide no command doesn't count: a client that lost
// its response when such a halt began could not repeat the request before its end.
func (g *Grant) spentWithin(window time.Duration, m command.Meta) bool {
	return window > 0 && stateTime(m)-Time(m.Halted-g.Halted) <= g.Spent.Add(window)
}

// retryWindow returns how long after a refresh its request may be repeated.
func (v View) retryWindow(c *Client) time.Duration {
	s := v.Settings()
	switch {
	case v.sharesTokens(c):
		return oauth.AccessTokenLifetime * time.Second
	case c.Public():
		return s.RetryWindowPublic
	}
	return s.RetryWindow
}

// sharesTokens reports whether several processes may share a refresh token of a client: see
// Publisher.LongRetry.
func (v View) sharesTokens(c *Client) bool {
	p := v.PublisherOf(c)
	return p != nil && p.LongRetry
}
