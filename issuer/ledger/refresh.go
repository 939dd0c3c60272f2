package ledger

import (
	"time"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Refresh redeems a refresh token (RFC 6749 §6).
type Refresh struct {
	Proof Proof  `cbor:"1,keyasint"`
	Link  *Link  `cbor:"2,keyasint,omitempty"` // nil: what was presented is no refresh token of ours
	Scope string `cbor:"3,keyasint,omitempty"` // a narrower scope for this access token, or UnknownScope
	// Unspent is View.Unspent, on the node that received the request and at that time:
	// the token was still valid. A slow node or network may delay the command until
	// after its own repetition and the next refresh were decided. The token is spent by
	// then, but that is no reuse by a thief.
	Unspent bool `cbor:"4,keyasint,omitempty"`
}

// UnknownScope stands for a scope that names something unknown. No scope has
// this name.
const UnknownScope = "?"

// Kind is KindRefresh.
func (*Refresh) Kind() Kind { return KindRefresh }

// Decide runs the proofs, then the rules of the chain.
func (c *Refresh) Decide(v View, m Meta) Decision {
	r, refused, ok := begin(v, m, c.Proof, c.Link)
	if !ok {
		return refused
	}
	g := r.grant
	narrowed, cause := c.narrow(g)
	if r.decided() && cause == NoCause {
		return r.issue(g, narrowed, false) // the same command again: the same answer
	}
	if d, moved := r.moved(c.Link); moved {
		return d
	}
	if d, ok := r.live(c.Link); !ok {
		return d
	}
	if c.Link.Generation > g.Due {
		return c.leap(r, narrowed, cause)
	}
	retry := c.Link.Generation < g.Due
	if retry && !c.mayRetry(r) {
		if c.Unspent && c.lately(r) {
			return Decision{Outcome: Outcome{Unknown: true}, Recheck: true, Proved: r.auth.proved()}
		}
		return r.reuse(RefreshReused, GrantEndedByReuse, c.Link)
	}
	if cause != NoCause {
		return r.refuse(oauth.InvalidScope, cause, c.Link, 0)
	}
	if retry {
		return c.again(r, narrowed)
	}
	key, d, ok := r.fresh(c.Link)
	if !ok {
		return d
	}
	next := g.spends(g.Due, key, m)
	return r.issue(next, narrowed, false, append(r.auth.noteUse(v, m, c.Proof), put(TableGrants, next))...)
}

// lately reports whether the grant moved on so short a time ago that a slow node
// may be why this was decided after its own repetition. Where nothing may be
// asked for again, nothing is forgiven.
func (c *Refresh) lately(r redemption) bool {
	return r.grant.spentLately(retryWindow(r.settings, r.auth.client), r.m)
}

// mayRetry reports whether a response that was lost may be asked for again:
// the successor of the token has not been used, and the token was spent no
// longer ago than the retry window.
func (c *Refresh) mayRetry(r redemption) bool {
	return r.grant.repeatable(c.Link.Generation, retryWindow(r.settings, r.auth.client), r.m)
}

// repeatable reports whether the refresh token of a generation may be presented
// once more.
func (g *Grant) repeatable(generation uint32, window time.Duration, m Meta) bool {
	return generation+1 == g.Due && g.spentLately(window, m)
}

// Unspent reports whether, by this view, a refresh token is not spent: it is the one
// that is due, or a later one, or the one before, which may be repeated since its
// response may have been lost. m has the time of the request.
func (v View) Unspent(l Link, m Meta) bool {
	g := v.Grant(l.Grant)
	if g == nil || l.Generation >= g.Due {
		return true
	}
	c := v.Client(g.Client)
	return c != nil && g.repeatable(l.Generation, retryWindow(v.Settings(), c), m)
}

// again gives the same successor with a fresh access token. It is an
// acceptance like any other, so it goes through the log.
func (c *Refresh) again(r redemption, narrowed string) Decision {
	g := r.grant
	if cause, when := r.v.expired(g, r.settings, g.Due, r.m.At); cause != NoCause {
		return r.refuse(oauth.InvalidGrant, cause, c.Link, when)
	}
	if !r.v.keeps(g.Key) {
		// The successor was made under a key that leaked, and is worth nothing.
		return r.refuse(oauth.InvalidGrant, KeyNotRecorded, c.Link, 0)
	}
	next := *g
	next.Used, next.Last = max(r.m.At, g.Spent+1), r.m.ID
	first := g.Used == g.Spent // the first repetition for this generation
	if first {
		next.Twice = min(g.Twice+1, sharedAfter)
	}
	changes := append(r.auth.noteUse(r.v, r.m, c.Proof), put(TableGrants, &next))
	tell := func(kind EventKind) {
		changes = append(changes, event(r.m, Event{Kind: kind, Actor: g.Client, Client: g.Client, User: g.User, Grant: g.ID}))
	}
	switch {
	case next.Shared() && g.Shown != r.m.At.day():
		next.Shown = r.m.At.day()
		tell(EventShared)
	case g.tellsRetry(r.m):
		next.Retried = r.m.At.day()
		tell(EventRetried)
	}
	d := r.issue(&next, narrowed, true, changes...)
	if d.Outcome.Issued != nil {
		d.Outcome.Issued.Shared = first && next.Shared()
	}
	return d
}

// tellsRetry reports whether a retry is an event: the first of a grant on a day
// of state time (UTC). That tells whose responses get lost; how often, the metrics
// count. A client that refreshes and asks again in turn would otherwise push
// all that others did out of the audit trail within minutes.
//
// There is no bound for all grants of a client together. One with 10,000 users
// may have 10,000 such events a day, which its users' own sign-ins outnumber, and
// a bound would let whoever asks again for one grant hide behind the others.
// Nobody can make many grants for it either: see maxAllowsADay.
func (g *Grant) tellsRetry(m Meta) bool {
	return g.Retried != m.At.day()
}

// narrow is the scope of the access token: all of the grant, or less where
// less was asked for. The grant keeps its own.
func (c *Refresh) narrow(g *Grant) (string, Cause) {
	if c.Scope == "" {
		return g.Scope, NoCause
	}
	asked, text, err := scope.Parse(c.Scope)
	switch {
	case err != nil:
		return "", ScopeUnknown
	case asked.Empty():
		return g.Scope, NoCause
	case !g.Legacy && !scope.FromClaim(g.Scope).Contains(asked):
		return "", ScopeTooWide
	}
	return text, NoCause
}
