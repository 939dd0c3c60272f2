package ledger

import (
	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// A CredentialRef identifies a genuine credential: its grant, its generation, and the key
// it was made under. The node that received the request has verified its MAC.
type CredentialRef struct {
	Grant      GrantID `cbor:"1,keyasint"`
	Generation uint32  `cbor:"2,keyasint,omitempty"`
	Key        uint32  `cbor:"3,keyasint"`
}

// singleRow is command.SingleRow of a command that redeems a credential.
func (r *CredentialRef) singleRow() (table string, id [16]byte, ok bool) {
	if r == nil {
		return "", id, false
	}
	return TableGrants, r.Grant, true
}

// A redemption is one attempt to spend a credential, as far as Exchange and Refresh do the
// same. Authentication comes first; a request that fails it changes nothing.
type redemption struct {
	v        View
	m        command.Meta
	auth     authentication
	settings *Settings
	grant    *Grant
	user     *User
}

// beginRedemption authenticates the client and finds the grant. ref is nil for a value
// that is no credential at all; it is refused only after the client has authenticated, so
// that a wrong secret always gives invalid_client.
//
// If ok is false, the decision is final.
func beginRedemption(v View, m command.Meta, p ClientAuth, ref *CredentialRef) (r redemption, d command.Decision, ok bool) {
	auth, d, ok := v.authenticateSender(p, ref != nil)
	if !ok {
		return r, d, false
	}
	if cause := v.usable(auth.client); cause != NoCause {
		d := refuse(oauth.UnauthorizedClient, cause)
		if ref != nil {
			d = auth.confirmFresh(d)
		}
		return r, d, false
	}
	if ref == nil {
		return r, refuse(oauth.InvalidGrant, NotACredential), false
	}
	g := v.Grant(ref.Grant)
	switch {
	case g == nil:
		return r, auth.confirmFresh(refuse(oauth.InvalidGrant, GrantGone)), false
	case g.Client != auth.client.ID:
		return r, auth.confirmFresh(refuse(oauth.InvalidGrant, NotACredential)), false
	}
	r = redemption{v: v, m: m, auth: auth, settings: v.Settings(), grant: g, user: v.User(g.User)}
	if !v.keyKnown(ref.Key) || g.Last == m.ID && !v.keyKnown(g.Key) {
		// A node that lags may have verified the MAC with a key that was dropped because
		// it leaked, which proves nothing. Nor can the due credential be minted under one.
		return r, r.refuse(oauth.InvalidGrant, KeyNotRecorded, ref, 0), false
	}
	return r, command.Decision{}, true
}

// decided reports whether this same command was accepted before and the grant has not
// changed since. The command then gets the same answer again.
func (r redemption) decided() bool {
	if r.grant.Last != r.m.ID {
		return false
	}
	cause, _ := r.v.ended(r.grant, r.user)
	return cause == NoCause
}

// refuse returns a refusal that names grant and generation, since the client has proven
// that both are its own.
func (r redemption) refuse(code oauth.Code, cause Cause, l *CredentialRef, when Time) command.Decision {
	return command.Decision{Outcome: Outcome{Refusal: &Refusal{
		Code: code, Cause: cause, Named: true,
		Grant: r.grant.ID, Presented: l.Generation, Due: r.grant.Due, When: when,
	}}, ConfirmFresh: true, Authenticated: r.auth.bySecret()}
}

// outcomeUnknown handles a command that was proposed before, with unknown fate, and finds
// that the row has moved on. It can't be determined whether the earlier proposal moved it,
// so no conclusion is allowed, least of all reuse. While the grant's fast-forward is
// unused, the earlier proposal has not moved the row.
func (r redemption) outcomeUnknown(l *CredentialRef) (command.Decision, bool) {
	if r.m.Again && r.grant.Due != l.Generation && !r.mayFastForward(l) {
		return command.Decision{Outcome: Outcome{Unknown: true}}, true
	}
	return command.Decision{}, false
}

// reuse ends the grant, since a spent credential was presented (RFC 6749 §4.1.2, RFC 9700
// §4.14.2). end is the cause that later requests get.
func (r redemption) reuse(cause, end Cause, l *CredentialRef) command.Decision {
	d := r.refuse(oauth.InvalidGrant, cause, l, r.grant.Spent)
	d.ConfirmFresh, d.Authenticated, d.ReuseDetected = false, false, true
	d.Changes = []command.Change{
		put(TableGrants, r.grant.withEnd(end, r.m)),
		event(r.m, Event{
			Kind: EventReuse, Actor: r.auth.client.ID, Client: r.grant.Client, User: r.grant.User, Grant: r.grant.ID,
			Detail: cause.String(),
		}),
	}
	return d
}

// checkLive refuses a grant that has ended.
func (r redemption) checkLive(l *CredentialRef) (command.Decision, bool) {
	if cause, when := r.v.ended(r.grant, r.user); cause != NoCause {
		return r.refuse(oauth.InvalidGrant, cause, l, when), false
	}
	return command.Decision{}, true
}

// spendDue spends the due credential. It refuses one that was made under another key than
// the recorded one.
func (r redemption) spendDue(l *CredentialRef) (next *Grant, d command.Decision, ok bool) {
	next, d, ok = r.spend(l, r.grant.Due)
	if ok && l.Key != r.grant.Key { // beginRedemption has verified that l.Key is known
		return nil, r.refuse(oauth.InvalidGrant, KeyNotRecorded, l, 0), false
	}
	return next, d, ok
}

// spend returns the grant's row after the credential of a generation was spent: every code
// and refresh token that is accepted for the first time passes here, also after a
// fast-forward. It refuses a credential that has expired.
func (r redemption) spend(l *CredentialRef, generation uint32) (next *Grant, d command.Decision, ok bool) {
	if cause, when := r.v.expired(r.grant, r.settings, generation, stateTime(r.m)); cause != NoCause {
		return nil, r.refuse(oauth.InvalidGrant, cause, l, when), false
	}
	return r.grant.withSpent(generation, r.v.ActiveKey(ForCredentials).Number, r.m), command.Decision{}, true
}

// terms are the scope and the audience of the access token that a request gets, or the code
// and the cause of its refusal.
type terms struct {
	scope    string
	audience string // "" for the cluster's
	code     oauth.Code
	cause    Cause
}

// terms returns the terms for the parameters scope and resource of a request; they may be
// empty. The grant itself doesn't change: if its scope is cut because its publisher may ask for
// less now, it is whole again once the publisher may ask for more.
func (r redemption) terms(scope, resource string) terms {
	s, cause := r.v.audienceFor(r.grant, resource)
	if cause != NoCause {
		return terms{code: oauth.InvalidTarget, cause: cause}
	}
	t := terms{code: oauth.InvalidScope}
	if t.scope, t.cause = r.grant.narrow(scope); t.scope != "" {
		if t.scope = r.v.CutScope(r.grant, t.scope); t.scope == "" {
			t.cause = ScopeWithdrawn
		}
	}
	if t.cause == ScopeWithdrawn && r.v.ScopeOf(r.grant) == "" {
		t.code = oauth.InvalidGrant // the client has to ask the user again
	}
	if s != nil {
		t.audience = s.ID
	}
	return t
}

// issue accepts the request; g is the grant's new row. A request of a legacy grant that
// named scopes gets a token limited to them.
func (r redemption) issue(g *Grant, t terms, retry bool, changes ...command.Change) command.Decision {
	signing := r.v.ActiveKey(ForSigning)
	at := issuedAfter(max(r.user.TokensRevokedBefore, r.auth.client.TokensRevokedBefore), stateTime(r.m))
	if signing == nil || at > stateTime(r.m).Add(MaxAhead) {
		return command.Decision{Outcome: Outcome{Unknown: true}}
	}
	return accept(Outcome{Issued: &Issued{
		Grant: g.ID, Client: r.auth.client.ClientID(), User: g.User, Scope: t.scope, Legacy: g.Legacy && t.scope == "", Audience: t.audience,
		Generation: g.Due, CredentialKey: g.Key, SigningKey: signing.ID, At: at, Retry: retry,
	}}, changes...)
}
