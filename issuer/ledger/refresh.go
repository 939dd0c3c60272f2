package ledger

import (
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Refresh redeems a refresh token (RFC 6749 §6).
type Refresh struct {
	ClientAuth ClientAuth     `cbor:"1,keyasint"`
	Credential *CredentialRef `cbor:"2,keyasint,omitempty"` // nil if the presented value is no refresh token of this server
	Scope      string         `cbor:"3,keyasint,omitempty"` // a narrower scope for this access token, or UnknownScope
	// Unspent is View.Unspent on the node that received the request, at that time. A
	// slow node or network may delay the command until its own repetition and the next
	// refresh were decided. The token is spent by then, but that is not reuse by a thief.
	Unspent  bool   `cbor:"4,keyasint,omitempty"`
	Resource string `cbor:"5,keyasint,omitempty"` // the parameter resource, or UnknownResource
}

// UnknownScope represents a scope parameter that names an unknown scope. No scope has this
// name.
const UnknownScope = "?"

// Kind implements command.Command.
func (*Refresh) Kind() command.Kind { return KindRefresh }

// SingleRow implements command.SingleRow: of all grants a refresh reads its own.
func (c *Refresh) SingleRow() (table string, id [16]byte, ok bool) { return c.Credential.singleRow() }

// Decide authenticates the client, then checks the refresh token.
func (c *Refresh) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	r, refused, ok := beginRedemption(v, m, c.ClientAuth, c.Credential)
	if !ok {
		return refused
	}
	g := r.grant
	t := r.terms(c.Scope, c.Resource)
	if r.decided() && t.cause == NoCause {
		return r.issue(g, t, false) // the same command again
	}
	if d, moved := r.outcomeUnknown(c.Credential); moved {
		return d
	}
	if d, ok := r.checkLive(c.Credential); !ok {
		return d
	}
	if c.Credential.Generation > g.Due {
		return c.fastForward(r, t)
	}
	retry := c.Credential.Generation < g.Due
	if retry && !c.mayRetry(r) {
		if c.Unspent && c.spentRecently(r) {
			return command.Decision{Outcome: Outcome{Unknown: true}, ConfirmFresh: true, Authenticated: r.auth.bySecret()}
		}
		return r.reuse(RefreshReused, GrantEndedByReuse, c.Credential)
	}
	if t.cause != NoCause {
		return r.refuse(t.code, t.cause, c.Credential, 0)
	}
	if retry {
		return c.retry(r, t)
	}
	next, d, ok := r.spendDue(c.Credential)
	if !ok {
		return d
	}
	return r.issue(next, t, false, append(r.auth.recordUse(v, m, c.ClientAuth), put(TableGrants, next))...)
}

// spentRecently reports whether the token was spent so recently that a slow node may be
// why this command is decided after its own repetition. It is false if the client has no
// retry window.
func (c *Refresh) spentRecently(r redemption) bool {
	return r.grant.spentWithin(r.v.retryWindow(r.auth.client), r.m)
}

// mayRetry reports whether the request may be repeated after a lost response: the token's
// successor has not been used, and the token was spent within the retry window.
func (c *Refresh) mayRetry(r redemption) bool {
	return r.grant.retryable(c.Credential.Generation, r.v.retryWindow(r.auth.client), r.m)
}

// retryable reports whether the refresh token of a generation may be presented once more.
func (g *Grant) retryable(generation uint32, window time.Duration, m command.Meta) bool {
	return generation+1 == g.Due && g.spentWithin(window, m)
}

// Unspent reports whether, in this view, a refresh token is not spent: it is due, or later
// than the one due, or it is the previous one and may be repeated because its response may
// have been lost. m has state time: the clock of a node may be wrong.
func (v View) Unspent(l CredentialRef, m command.Meta) bool {
	g := v.Grant(l.Grant)
	if g == nil || l.Generation >= g.Due {
		return true
	}
	c := v.Client(g.Client)
	return c != nil && g.retryable(l.Generation, v.retryWindow(c), m)
}

// retry issues the same successor again, with a fresh access token. It changes the grant,
// so it goes through the log.
func (c *Refresh) retry(r redemption, t terms) command.Decision {
	g := r.grant
	if cause, when := r.v.expired(g, r.settings, g.Due, stateTime(r.m)); cause != NoCause {
		return r.refuse(oauth.InvalidGrant, cause, c.Credential, when)
	}
	if !r.v.keyKnown(g.Key) {
		// The successor was made under a leaked key and could not be redeemed.
		return r.refuse(oauth.InvalidGrant, KeyNotRecorded, c.Credential, 0)
	}
	next := *g
	next.Used, next.Last = max(stateTime(r.m), g.Spent+1), r.m.ID
	first := g.Used == g.Spent // this is the first repetition for this generation
	if first && !r.v.sharesTokens(r.auth.client) {
		next.Repeats = min(g.Repeats+1, sharedAfter)
	}
	changes := append(r.auth.recordUse(r.v, r.m, c.ClientAuth), put(TableGrants, &next))
	audit := func(kind EventKind) {
		changes = append(changes, event(r.m, Event{Kind: kind, Actor: g.Client, Client: g.Client, User: g.User, Grant: g.ID}))
	}
	switch {
	case next.Shared() && g.SharedDay != stateTime(r.m).day():
		next.SharedDay = stateTime(r.m).day()
		audit(EventShared)
	case g.auditsRetry(r.m):
		next.RetryDay = stateTime(r.m).day()
		audit(EventRetried)
	}
	d := r.issue(&next, t, true, changes...)
	if outcome(d).Issued != nil {
		outcome(d).Issued.Shared = first && next.Shared()
	}
	return d
}

// auditsRetry reports whether a retry adds an event: the first for a grant on each day of
// state time (UTC) does. The event shows whose responses get lost; metrics count how often.
// Without the bound, a client that refreshes and repeats in turn would displace all other
// events of the audit trail within minutes.
//
// There is no bound over all grants of a client. A client with 10,000 users may cause
// 10,000 such events a day, fewer than its users' own sign-ins do, and a bound would let
// one grant's repetitions hide behind the others. Nobody can make many grants for this
// purpose: see maxAllowsPerDay.
func (g *Grant) auditsRetry(m command.Meta) bool {
	return g.RetryDay != stateTime(m).day()
}

// narrow returns the scope of an access token: the grant's scope, or less if the request
// named less.
func (g *Grant) narrow(requested string) (string, Cause) {
	if requested == "" {
		return g.Scope, NoCause
	}
	asked, text, err := scope.Parse(requested)
	switch {
	case err != nil:
		return "", ScopeUnknown
	case !g.Legacy && !scope.FromClaim(g.Scope).Contains(asked):
		return "", ScopeTooWide
	}
	return text, NoCause
}
