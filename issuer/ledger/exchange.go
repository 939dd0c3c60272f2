package ledger

import (
	"crypto/subtle"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// Exchange redeems an authorization code (RFC 6749 §4.1.3).
type Exchange struct {
	ClientAuth ClientAuth     `cbor:"1,keyasint"`
	Credential *CredentialRef `cbor:"2,keyasint,omitempty"` // nil if the presented value is no authorization code of this server
	// Redirect is the SHA-256 of redirect_uri.
	Redirect [32]byte `cbor:"3,keyasint"`
	// Challenge is the code_challenge computed from the code_verifier (RFC 7636 §4.6),
	// so that the verifier itself doesn't enter the log. It is BadVerifier for a
	// malformed verifier.
	Challenge string `cbor:"4,keyasint,omitempty"`
	Resource  string `cbor:"5,keyasint,omitempty"` // the parameter resource, or UnknownResource
}

// BadVerifier represents a code_verifier that violates RFC 7636 §4.1. It matches no
// challenge.
const BadVerifier = "-"

// Kind implements command.Command.
func (*Exchange) Kind() command.Kind { return KindExchange }

// SingleRow implements command.SingleRow: of all grants an exchange reads its own.
func (c *Exchange) SingleRow() (table string, id [16]byte, ok bool) { return c.Credential.singleRow() }

// Decide authenticates the client, then checks the code.
func (c *Exchange) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	r, refused, ok := beginRedemption(v, m, c.ClientAuth, c.Credential)
	if !ok {
		return refused
	}
	if d, ok := c.checkCodeBinding(r); !ok {
		return d
	}
	g, t := r.grant, r.terms("", c.Resource)
	if r.decided() && t.cause == NoCause {
		return r.issue(g, t, false) // the same command again
	}
	if d, moved := r.outcomeUnknown(c.Credential); moved {
		return d
	}
	if d, ok := r.checkLive(c.Credential); !ok {
		return d
	}
	if g.Due > 0 {
		return r.reuse(CodeReused, GrantEndedByReuse, c.Credential)
	}
	if t.cause != NoCause {
		return r.refuse(t.code, t.cause, c.Credential, 0)
	}
	next, d, ok := r.spendDue(c.Credential)
	if !ok {
		return d
	}
	changes := append(r.auth.recordUse(v, m, c.ClientAuth), put(TableGrants, next),
		event(m, Event{Kind: EventExchanged, Actor: g.Client, Client: g.Client, User: g.User, Grant: g.ID}))
	return r.issue(next, t, false, append(changes, r.endLegacy(m)...)...)
}

// checkCodeBinding verifies the redirection URI of the authorization request (RFC 6749
// §4.1.3) and PKCE (RFC 7636 §4.6).
func (c *Exchange) checkCodeBinding(r redemption) (command.Decision, bool) {
	g := r.grant
	switch {
	case c.Redirect != g.Redirect:
		return r.refuse(oauth.InvalidGrant, RedirectMismatch, c.Credential, 0), false
	case g.Challenge == "" && c.Challenge != "":
		// Otherwise an attacker could strip the challenge (RFC 9700 §4.8.2).
		return r.refuse(oauth.InvalidRequest, VerifierUnexpected, c.Credential, 0), false
	case g.Challenge != "" && c.Challenge == "":
		return r.refuse(oauth.InvalidGrant, VerifierMissing, c.Credential, 0), false
	case subtle.ConstantTimeCompare([]byte(g.Challenge), []byte(c.Challenge)) != 1:
		return r.refuse(oauth.InvalidGrant, VerifierWrong, c.Credential, 0), false
	}
	return command.Decision{}, true
}

// endLegacy ends the user's older grants without limits for this client, since the user
// has now authorized it with scopes (service document, section 9).
func (r redemption) endLegacy(m command.Meta) []command.Change {
	if r.grant.Legacy || !r.auth.client.WasLegacy || r.user.revokedBefore(r.grant.Client).Legacy >= r.grant.CreatedSeq {
		return nil
	}
	next := *r.user
	revoked := next.revokedBefore(r.grant.Client)
	revoked.Legacy = r.grant.CreatedSeq
	next.setRevokedBefore(revoked)
	return []command.Change{put(TableUsers, &next)}
}
