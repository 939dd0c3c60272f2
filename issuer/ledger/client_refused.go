package ledger

import (
	"github.com/mintmark-auth/mintmark/cluster/command"
)

// Refused is the latest proposed revision that a reviewer rejected. It has no effect on
// the client: it is kept until the next edit, so that its owner can start from it. An
// edit without changes removes it as well.
type Refused struct {
	Profile Profile `cbor:"1,keyasint"` // as it was proposed
	Reason  string  `cbor:"2,keyasint"` // kept here because a later suspension overwrites Client.Reason
	At      Time    `cbor:"3,keyasint"`
}

// refuse removes the proposed revision from review and records it, with the reason, as
// refused.
func (c *Client) refuse(reason string, m command.Meta) {
	c.Refused = &Refused{Profile: *c.Proposed, Reason: reason, At: stateTime(m)}
	c.Proposed = nil
}

// clearRefused removes the refused revision after an edit. Client.Reason stays while a
// new revision is proposed, since it may apply to that too, and while c is suspended.
func (c *Client) clearRefused() {
	if c.Refused == nil {
		return
	}
	c.Refused = nil
	if c.State == Approved && c.Proposed == nil {
		c.Reason = ""
	}
}
