package ledger

import (
	"strings"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// KeepDraft keeps the scopes that the owner of a legacy client means to select, while the
// application moves to an authorization URL with them. It enforces nothing, and so has no
// event and is no change of the client: Last, Changed and Revision stay.
type KeepDraft struct {
	Actor  Actor    `cbor:"1,keyasint"`
	Client string   `cbor:"2,keyasint"`
	Scopes []string `cbor:"3,keyasint,omitempty"` // none forgets the draft
}

// Kind implements command.Command.
func (*KeepDraft) Kind() command.Kind { return KindKeepDraft }

// Decide refuses a client that is not a legacy client any more.
func (c *KeepDraft) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	old, _, refused, ok := At(txn).managedClient(c.Actor, c.Client, m)
	switch {
	case !ok:
		return refused
	case !old.Legacy:
		return deny(WrongState)
	}
	scopes := scope.FromClaim(strings.Join(c.Scopes, " ")).Names()
	if len(scopes) != len(c.Scopes) {
		return badField("scopes", "names a scope that does not exist, or one twice")
	}
	next := *old
	next.Draft = scopes
	return accept(Outcome{ID: old.ID}, put(TableClients, &next))
}

// endDraft forgets the draft of a client that has moved to scopes.
func (c *Client) endDraft() {
	if !c.Legacy {
		c.Draft = nil
	}
}
