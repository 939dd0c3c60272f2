package ledger

import (
	"github.com/mintmark-auth/mintmark/cluster/command"
)

// Refused is the latest change that a reviewer turned down. It counts for
// nothing: it is kept for the owner, who goes on from it or lets it go, until the
// next edit. An edit that leaves the client as it is lets it go.
type Refused struct {
	Profile Profile `cbor:"1,keyasint"` // as it was proposed
	Reason  string  `cbor:"2,keyasint"` // Client.Reason may be that of a later suspension
	At      Time    `cbor:"3,keyasint"`
}

// refuse removes the proposed revision from review, and records it as refused with the
// reason.
func (c *Client) refuse(reason string, m command.Meta) {
	c.Refused = &Refused{Profile: *c.Proposed, Reason: reason, At: stateTime(m)}
	c.Proposed = nil
}

// clearRefused ends what was refused, at an edit. The reviewer's words stay while they
// may be about what is proposed instead, or say why c is suspended.
func (c *Client) clearRefused() {
	if c.Refused == nil {
		return
	}
	c.Refused = nil
	if c.State == Approved && c.Proposed == nil {
		c.Reason = ""
	}
}
