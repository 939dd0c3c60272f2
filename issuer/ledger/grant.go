package ledger

import (
	"encoding/hex"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// GrantID is 128 random bits.
type GrantID [16]byte

// String is the id as tokens, lists and the log have it.
func (id GrantID) String() string { return hex.EncodeToString(id[:]) }

// ParseGrantID reads what String wrote.
func ParseGrantID(s string) (id GrantID, ok bool) {
	n, err := hex.Decode(id[:], []byte(s[:min(len(s), 2*len(id))]))
	return id, err == nil && n == len(id) && len(s) == 2*n
}

// A Grant is one "Allow" of one user for one client. Its credentials form a
// chain of one-time values numbered by generation: generation 0 is the
// authorization code, 1 the first refresh token, and so on. The row keeps no
// credential, only the generation that is due and the key it was made under.
type Grant struct {
	ID     GrantID `cbor:"1,keyasint"`
	Client string  `cbor:"2,keyasint"`
	User   string  `cbor:"3,keyasint"`
	// Scope and Legacy are those of the authorization, for the grant's life.
	Scope  string `cbor:"4,keyasint,omitempty"`
	Legacy bool   `cbor:"5,keyasint,omitempty"`

	Due uint32 `cbor:"6,keyasint,omitempty"` // the generation that may be presented next
	Key uint32 `cbor:"7,keyasint"`           // the credential key that Due was made under
	// FastForwarded is the Restore.Count for which the chain fast-forwarded to a later
	// generation. It stands here to fill a gap of the struct.
	FastForwarded uint32 `cbor:"17,keyasint,omitempty"`
	CreatedSeq    uint64 `cbor:"8,keyasint"` // Meta.Seq of the Allow

	Challenge string   `cbor:"9,keyasint,omitempty"` // PKCE S256 (RFC 7636 §4.2), for life
	Redirect  [32]byte `cbor:"10,keyasint"`          // SHA-256 of the redirection URI, for life

	Created Time `cbor:"11,keyasint"`
	Spent   Time `cbor:"12,keyasint,omitempty"` // when generation Due-1 was spent first
	Used    Time `cbor:"13,keyasint,omitempty"` // the last acceptance

	Ended     Time       `cbor:"14,keyasint,omitempty"` // 0 while live
	EndCause  Cause      `cbor:"15,keyasint,omitempty"`
	RetryDay  int32      `cbor:"18,keyasint,omitempty"` // the day of the last retry that the audit trail tells, see auditsRetry
	Last      command.ID `cbor:"16,keyasint"`
	Halted    int64      `cbor:"19,keyasint,omitempty"` // Meta.Halted at Spent
	Repeats   uint8      `cbor:"20,keyasint,omitempty"` // how many generations in a row, up to the last one, were requested twice; it counts up to sharedAfter
	SharedDay int32      `cbor:"21,keyasint,omitempty"` // the day (UTC, since the Unix epoch) of the last EventShared
}

// ended says why the grant accepts nothing any more, whatever is presented:
// it was ended itself, its user or client is gone, or a cut covers it.
// When is the time it speaks of, where there is one.
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
		cut := u.revokedBefore(g.Client)
		switch {
		case g.CreatedSeq <= cut.Seq:
			return GrantEnded, 0
		case g.Legacy && g.CreatedSeq <= cut.Legacy:
			return Reauthorized, 0
		}
	}
	return NoCause, 0
}

// expired says whether a generation of g's chain has run out at state time:
// the code, or the refresh token that may be presented next.
func (v View) expired(g *Grant, s *Settings, generation uint32, at Time) (cause Cause, when Time) {
	if end := g.Created.Add(s.GrantAbsolute); at >= end {
		return GrantExpired, end
	}
	if generation == 0 {
		if end := g.Created.Add(s.CodeLifetime); at >= end {
			return CodeExpired, end
		}
		return NoCause, 0
	}
	if at < g.Used.Add(s.RefreshIdle) {
		return NoCause, 0
	}
	// Uses since the backup are lost with it, so idle time starts anew at a
	// restore.
	end := max(g.Created, g.Used, v.restoredAt(g.CreatedSeq)).Add(s.RefreshIdle)
	if at >= end {
		return RefreshIdle, end
	}
	return NoCause, 0
}

// latestPresentable is the last generation that may be presented, as far as expiry
// goes: where a fast-forward is open, some refresh token, although the code is due.
func (v View) latestPresentable(g *Grant) uint32 {
	if g.Due > 0 {
		return g.Due
	}
	if r := v.Restore(); r.covers(g.CreatedSeq) && g.FastForwarded != r.Count {
		return 1
	}
	return 0
}

// withEnd is a copy of g that has ended for cause.
func (g *Grant) withEnd(cause Cause, m command.Meta) *Grant {
	next := *g
	next.Ended, next.EndCause, next.Last = stateTime(m), cause, m.ID
	return &next
}

// withSpent is a copy of g of which a generation was accepted: the next one is
// due, under the credential key that is active now.
func (g *Grant) withSpent(generation, key uint32, m command.Meta) *Grant {
	next := *g
	if g.Used == g.Spent { // the generation before was requested only once
		next.Repeats = 0
	}
	next.Due = generation + 1
	next.Key, next.Spent, next.Halted, next.Used, next.Last = key, stateTime(m), m.Halted, stateTime(m), m.ID
	return &next
}

// sharedAfter is the number of generations in a row that must have been requested twice
// for a grant to count as shared. A single repetition follows a lost response. Two
// copies of an application, or a thief who refreshes as often as the application,
// request every generation twice.
const sharedAfter = 3

// Shared reports whether two parties seem to use the same grant. The grant goes on
// nevertheless, since applications that run as several processes do the same.
func (g *Grant) Shared() bool { return g.Repeats >= sharedAfter }

// spentWithin reports whether the last generation was spent within a window before m.
// Time in which the cluster could decide no command doesn't count: a client that lost
// its response when such a halt began could not repeat the request before its end.
func (g *Grant) spentWithin(window time.Duration, m command.Meta) bool {
	return window > 0 && stateTime(m)-Time(m.Halted-g.Halted) <= g.Spent.Add(window)
}

// retryWindow is how long a lost response may be asked for again.
func retryWindow(s *Settings, c *Client) time.Duration {
	if c.Public() {
		return s.RetryWindowPublic
	}
	return s.RetryWindow
}
