package ledger

import (
	"slices"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// Limits of the service document, section 8.
const (
	MaxRedirectURIs  = 10
	MaxActiveSecrets = 2
	MinScopes        = 1
)

// A ClientType is a client type of RFC 6749 §2.1. It never changes.
type ClientType string

// Client types.
const (
	Confidential ClientType = "confidential"
	Public       ClientType = "public"
)

// A ClientState is the state of a client. Only an approved client may be used.
type ClientState string

// Client states. Transitions: pending → approved or rejected (a review), rejected →
// pending (an edit), approved ⇄ suspended; any → deleted.
const (
	Pending   ClientState = "pending"
	Approved  ClientState = "approved"
	Rejected  ClientState = "rejected"
	Suspended ClientState = "suspended"
	Deleted   ClientState = "deleted"
)

// A Client is a registered application (RFC 6749 §2).
type Client struct {
	ID    string      `cbor:"1,keyasint"`
	Type  ClientType  `cbor:"2,keyasint"`
	State ClientState `cbor:"3,keyasint"`
	// Reason is the reviewer's reason for rejecting or suspending the client or, while
	// the client is approved, for rejecting a proposed revision. While it is suspended,
	// Reason is that of the suspension.
	Reason string `cbor:"4,keyasint,omitempty"`
	Owner  string `cbor:"5,keyasint"` // a user's id, or Publisher.Owner

	Profile

	// Legacy is true until scopes are first selected. While it is true, a request
	// without scope gives a grant without limits. WasLegacy stays true.
	Legacy    bool `cbor:"10,keyasint,omitempty"`
	WasLegacy bool `cbor:"11,keyasint,omitempty"`

	Secrets Secrets `cbor:"12,keyasint,omitempty"`

	// Revision counts the changes of everything that is reviewed. A review names the
	// revision that the reviewer saw.
	Revision uint64   `cbor:"13,keyasint"`
	Proposed *Profile `cbor:"14,keyasint,omitempty"` // the proposed revision of an approved client, awaiting review

	Created Time       `cbor:"15,keyasint"`
	Changed Time       `cbor:"16,keyasint"`
	Last    command.ID `cbor:"17,keyasint"` // the last command that changed this row

	// Traffic counts the Allows of a legacy client by day, the newest last, at most 30
	// days. RequestedScopes are the scopes that they asked for.
	Traffic         []DailyTraffic `cbor:"18,keyasint,omitempty"`
	RequestedScopes []string       `cbor:"19,keyasint,omitempty"`

	// Declared is a keyed digest of the fixture or import that last set this row. The
	// same declaration is not applied twice.
	Declared string `cbor:"20,keyasint,omitempty"`

	Offer *Offer `cbor:"23,keyasint,omitempty"` // see View.OfferOf

	// Waiting is when the client began to wait for a review; 0 if it doesn't wait, and
	// in rows written before the field existed.
	Waiting Time `cbor:"24,keyasint,omitempty"`

	Refused *Refused `cbor:"25,keyasint,omitempty"` // nil while Proposed is set

	// ManagedBy is the name under which an operator applies the files that the client came
	// from, or "". Only that name removes the client when its files no longer have it.
	ManagedBy string `cbor:"26,keyasint,omitempty"`

	Document *Document `cbor:"27,keyasint,omitempty"` // nil if the client was registered here

	// Grants created at or before GrantsRevokedBefore have ended, of all users.
	// TokensRevokedBefore is the latest iat that this covers, as in User.
	GrantsRevokedBefore uint64 `cbor:"28,keyasint,omitempty"`
	TokensRevokedBefore Time   `cbor:"29,keyasint,omitempty"`

	// Draft has the scopes that the owner of a legacy client means to select, in catalogue
	// order: see KeepDraft. No rule depends on it.
	Draft []string `cbor:"42,keyasint,omitempty"`
}

// An Offer is a pending transfer of a client to another user.
type Offer struct {
	To         string `cbor:"1,keyasint"` // a user's id
	CreatedSeq uint64 `cbor:"2,keyasint"`
	At         Time   `cbor:"3,keyasint"`
}

// A Profile is the part of a client that is reviewed.
type Profile struct {
	Name         string   `cbor:"6,keyasint"`
	Purpose      string   `cbor:"7,keyasint,omitempty"`
	Website      string   `cbor:"8,keyasint,omitempty"`
	RedirectURIs []string `cbor:"9,keyasint"`
	Scopes       []string `cbor:"21,keyasint,omitempty"` // in catalogue order; none on a legacy client
	Logo         []byte   `cbor:"22,keyasint,omitempty"` // SHA-256 of the picture
	PrivacyURL   string   `cbor:"40,keyasint,omitempty"` // policy_uri of RFC 7591 §2
	TermsURL     string   `cbor:"41,keyasint,omitempty"` // tos_uri of RFC 7591 §2
}

// DailyTraffic counts the authorizations of one day.
type DailyTraffic struct {
	Day          int32  `cbor:"1,keyasint"` // days since the Unix epoch, UTC
	WithoutScope uint32 `cbor:"2,keyasint"` // authorizations without the parameter scope
	WithScope    uint32 `cbor:"3,keyasint"`
}

// ActiveSecrets returns the number of active secrets.
func (c *Client) ActiveSecrets() int { return c.Secrets.active() }

// Public reports whether the client has no secrets (RFC 6749 §2.1).
func (c *Client) Public() bool { return c.Type == Public }

// Registered reports whether uri matches a registered redirection URI (RFC 9700 §2.1,
// RFC 8252 §7.3).
func (c *Client) Registered(uri string) bool {
	return slices.ContainsFunc(c.RedirectURIs, func(r string) bool {
		return oauth.MatchRedirectURI(r, uri, c.Public())
	})
}

// usable returns why the client may not be used, or NoCause. It is called only after the
// client authenticated, so that others can't learn a client's state.
func (c *Client) usable() Cause {
	switch c.State {
	case Approved:
		return NoCause
	case Pending:
		return ClientPending
	case Rejected:
		return ClientRejected
	case Suspended:
		return ClientSuspended
	}
	return ClientDeleted
}

// changed returns a copy of c for a command to change. Slices are shared with c: they
// must be replaced, not modified.
func (c *Client) changed(m command.Meta) *Client {
	next := *c
	next.Last, next.Changed = m.ID, stateTime(m)
	return &next
}
