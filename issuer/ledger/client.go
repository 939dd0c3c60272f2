package ledger

import (
	"slices"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// Limits of section 8 of the service document.
const (
	MaxRedirectURIs  = 10
	MaxActiveSecrets = 2
	MinScopes        = 1
)

// A ClientType is one of RFC 6749 §2.1. It never changes.
type ClientType string

// Client types.
const (
	Confidential ClientType = "confidential"
	Public       ClientType = "public"
)

// A ClientState says whether a client may be used: only an approved one may.
type ClientState string

// Client states. Edges: pending → approved or rejected (a review), rejected →
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
	// Reason is the reviewer's, for rejected and suspended clients and, while they
	// are approved, for a proposal that was turned down. Of a suspended client it
	// is that of the suspension.
	Reason string `cbor:"4,keyasint,omitempty"`
	Owner  string `cbor:"5,keyasint"` // a user's id

	Profile

	// Legacy is true until the first selection of scopes: a request without
	// scope then gives a grant without limits. WasLegacy stays true.
	Legacy    bool `cbor:"10,keyasint,omitempty"`
	WasLegacy bool `cbor:"11,keyasint,omitempty"`

	Secrets []Secret `cbor:"12,keyasint,omitempty"`

	// Revision counts the changes of everything that is reviewed. A review
	// names the revision it was decided on.
	Revision uint64   `cbor:"13,keyasint"`
	Proposed *Profile `cbor:"14,keyasint,omitempty"` // of an approved client, waiting for a review

	Created Time       `cbor:"15,keyasint"`
	Changed Time       `cbor:"16,keyasint"`
	Last    command.ID `cbor:"17,keyasint"` // the last command that changed this row

	// Traffic counts the Allow decisions of a legacy client by day, newest
	// last, 30 days at most; Asked has the scopes they asked for.
	Traffic         []DailyTraffic `cbor:"18,keyasint,omitempty"`
	RequestedScopes []string       `cbor:"19,keyasint,omitempty"`

	// Declared is a keyed digest of the fixture or import that made the row
	// what it was, so that the same declaration is not applied twice.
	Declared string `cbor:"20,keyasint,omitempty"`

	Offer *Offer `cbor:"23,keyasint,omitempty"` // see View.OfferOf

	// Waiting is since when the client has waited for a review, where it does; 0
	// in rows of older rules.
	Waiting Time `cbor:"24,keyasint,omitempty"`

	Refused *Refused `cbor:"25,keyasint,omitempty"` // never beside Proposed
}

// An Offer waits for another user to take a client over.
type Offer struct {
	To         string `cbor:"1,keyasint"` // a user's id
	CreatedSeq uint64 `cbor:"2,keyasint"`
	At         Time   `cbor:"3,keyasint"`
}

// A Profile is the part of a client that a review looks at.
type Profile struct {
	Name         string   `cbor:"6,keyasint"`
	Purpose      string   `cbor:"7,keyasint,omitempty"`
	Website      string   `cbor:"8,keyasint,omitempty"`
	RedirectURIs []string `cbor:"9,keyasint"`
	Scopes       []string `cbor:"21,keyasint,omitempty"` // in catalogue order; none on a legacy client
	Logo         []byte   `cbor:"22,keyasint,omitempty"` // digest of the picture
}

// A DailyTraffic counts authorizations of one day.
type DailyTraffic struct {
	Day          int32  `cbor:"1,keyasint"` // days since the Unix epoch, UTC
	WithoutScope uint32 `cbor:"2,keyasint"` // without the parameter scope
	WithScope    uint32 `cbor:"3,keyasint"`
}

// A Secret is one client secret. The row holds HMAC(key, SHA-256(secret)),
// so that a weak imported secret is safe in a backup too.
type Secret struct {
	ID      string   `cbor:"1,keyasint"`
	Key     uint32   `cbor:"2,keyasint"` // the credential key of Digest
	Digest  [32]byte `cbor:"3,keyasint"`
	Tail    string   `cbor:"4,keyasint,omitempty"` // its last characters, for people
	Created Time     `cbor:"5,keyasint"`
	Used    Time     `cbor:"6,keyasint,omitempty"` // to the minute
	Revoked Time     `cbor:"7,keyasint,omitempty"` // 0 while active
}

// Active reports whether the secret still authenticates its client.
func (s *Secret) Active() bool { return s.Revoked == 0 }

// ActiveSecrets counts the secrets that authenticate the client.
func (c *Client) ActiveSecrets() int {
	n := 0
	for i := range c.Secrets {
		if c.Secrets[i].Active() {
			n++
		}
	}
	return n
}

// Public reports whether the client has no secrets (RFC 6749 §2.1).
func (c *Client) Public() bool { return c.Type == Public }

// Registered reports whether uri is one the client may use (RFC 9700 §2.1,
// RFC 8252 §7.3).
func (c *Client) Registered(uri string) bool {
	return slices.ContainsFunc(c.RedirectURIs, func(r string) bool {
		return oauth.MatchRedirectURI(r, uri, c.Public())
	})
}

// usable refuses a client that isn't approved. It is asked after the client
// authenticated: a stranger learns nothing of a client's state.
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

// changed is a copy of c for a command to change. Slices are shared with c
// and must be replaced, not written into.
func (c *Client) changed(m command.Meta) *Client {
	next := *c
	next.Last, next.Changed = m.ID, stateTime(m)
	return &next
}
