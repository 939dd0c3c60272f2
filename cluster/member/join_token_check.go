package member

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// Enroll makes the holder of an invite a member.
type Enroll struct {
	Invite string `cbor:"1,keyasint"`
	Member Member `cbor:"2,keyasint"`
}

// Kind implements command.Command.
func (*Enroll) Kind() command.Kind { return kindEnroll }

// Decide binds the invite to the key that uses it first. The same key may repeat the
// command, because the answer may have been lost, as long as the member has not run: a
// member that has reported its version and enrolls again has lost its data.
func (c *Enroll) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	i := InviteByID(txn, c.Invite)
	if i == nil || m.At >= i.Expires {
		return refuseConfirmFresh(ErrUnknownInvite) // or it was used, and its node was removed
	}
	if i.Node != "" {
		if old := ByID(txn, i.Node); old != nil && old.ID == c.Member.ID && slices.Equal(old.Key, c.Member.Key) {
			if old.Issuer != "" {
				return refuseConfirmFresh(fmt.Errorf("node %s: %w", old.Name, store.ErrDataLost))
			}
			return acceptMember(old.ID)
		}
		return refuseConfirmFresh(ErrTokenUsed)
	}
	switch all := All(txn); {
	case len(all) == 0:
		return refuseConfirmFresh(errors.New("this cluster has no members yet"))
	case !IsNodeID(c.Member.ID) || len(c.Member.Key) != 32 || c.Member.Address == "":
		return refuseMember(errors.New("the node's description is incomplete"))
	case slices.ContainsFunc(all, func(o *Member) bool {
		return o.ID == c.Member.ID || o.Name == i.Name || slices.Equal(o.Key, c.Member.Key)
	}):
		return refuseConfirmFresh(errors.New("a member has this name, id or key already"))
	case c.Member.Level < machine.ReadStatus(txn).Level:
		return refuseMember(machine.ErrOldProgram)
	}
	row := c.Member
	row.Name, row.Replaces, row.Joined = i.Name, i.Replaces, m.At
	used := *i
	used.Node = row.ID
	return acceptMember(row.ID, command.Change{Table: MembersTable, Row: &row}, command.Change{Table: invitesTable, Row: &used})
}
