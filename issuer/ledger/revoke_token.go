package ledger

import (
	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// RevokeToken ends the grant of a token that its client presents (RFC 7009 §2.1). At most
// one of Refresh and Access is set.
type RevokeToken struct {
	ClientAuth ClientAuth     `cbor:"1,keyasint"`
	Refresh    *CredentialRef `cbor:"2,keyasint,omitempty"` // nil if the presented value is no refresh token of this server
	Access     *AccessRef     `cbor:"3,keyasint,omitempty"` // nil if the presented value is no valid access token of this server
}

// An AccessRef identifies a valid access token: its grant and the key that signed it. The
// node that received the request has verified the signature and the claims.
type AccessRef struct {
	Grant GrantID `cbor:"1,keyasint"`
	Key   string  `cbor:"2,keyasint"` // kid
}

// Kind implements command.Command.
func (*RevokeToken) Kind() command.Kind { return KindRevokeToken }

// SingleRow implements command.SingleRow: of all grants a revocation reads the token's.
func (c *RevokeToken) SingleRow() (table string, id [16]byte, ok bool) {
	grant, ok := c.grant()
	return TableGrants, grant, ok
}

// grant returns the grant of the token; ok is false if no token was presented.
func (c *RevokeToken) grant() (id GrantID, ok bool) {
	switch {
	case c.Refresh != nil:
		return c.Refresh.Grant, true
	case c.Access != nil:
		return c.Access.Grant, true
	}
	return id, false
}

// Decide authenticates the client, then ends the grant. It accepts a token of a grant that
// has ended already, so that a repeated command has the same answer. Any refresh token of
// the chain ends it, since a client that lost a response has only an earlier one; the token
// endpoint would end the grant for it too. A client that is not approved may revoke its
// tokens: that only takes access away.
//
// A refusal with InvalidGrant means that the presented value is not a token of the client.
// The client must not learn whether it is one of another client's.
func (c *RevokeToken) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	id, presented := c.grant()
	auth, d, ok := v.authenticateSender(c.ClientAuth, presented)
	if !ok {
		return d
	}
	g := v.Grant(id)
	switch {
	case !presented:
		return refuse(oauth.InvalidGrant, NotACredential)
	case !c.signed(v):
		return auth.confirmFresh(refuse(oauth.InvalidGrant, KeyNotRecorded))
	case g == nil:
		return auth.confirmFresh(accept(Outcome{})) // swept after it ended
	case g.Client != auth.client.ID:
		return auth.confirmFresh(refuse(oauth.InvalidGrant, NotACredential))
	case c.Access != nil && !v.FeedServed(): // resource servers accept the token until it expires
		return auth.confirmFresh(refuse(oauth.UnsupportedTokenType, AccessTokenRevocation))
	}
	if cause, _ := v.ended(g, v.User(g.User)); cause != NoCause {
		return auth.confirmFresh(accept(Outcome{}))
	}
	detail := "by its refresh token"
	if c.Access != nil {
		detail = "by an access token"
	}
	return accept(Outcome{}, append(auth.recordUse(v, m, c.ClientAuth),
		put(TableGrants, g.withEnd(GrantEndedByClient, m)),
		event(m, Event{Kind: EventGrantRevoked, Actor: g.Client, Client: g.Client, User: g.User, Grant: g.ID, Detail: detail}))...)
}

// signed reports whether the key of the token that was presented still counts. A node that lags may have verified
// it with one that was dropped because it leaked, which proves nothing.
func (c *RevokeToken) signed(v View) bool {
	if c.Refresh != nil {
		return v.keyKnown(c.Refresh.Key)
	}
	return v.Key(c.Access.Key) != nil
}
