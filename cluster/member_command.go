package cluster

import (
	"encoding/hex"
	"slices"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// The kinds of this package's own commands. A Machine's kinds are below them.
// They are appended, never renumbered or given a new meaning.
const (
	ownKinds command.Kind = 0xff00 + iota
	kindBootstrap
	kindInvite
	kindEnroll
	kindUpdate
	kindRemove
	kindRaise
	kindAuthority
	kindExpire
	kindHalt
)

func ownCommands() map[command.Kind]func() command.Command {
	return map[command.Kind]func() command.Command{
		kindBootstrap: func() command.Command { return new(bootstrapCluster) },
		kindInvite:    func() command.Command { return new(addInvite) },
		kindEnroll:    func() command.Command { return new(enroll) },
		kindUpdate:    func() command.Command { return new(updateMember) },
		kindRemove:    func() command.Command { return new(removeMember) },
		kindRaise:     func() command.Command { return new(raiseLevel) },
		kindAuthority: func() command.Command { return new(setAuthorities) },
		kindExpire:    func() command.Command { return new(expireInvites) },
		kindHalt:      func() command.Command { return new(endHalt) },
	}
}

// membership is the outcome of every command of this package.
type membership struct {
	Refused string `cbor:"1,keyasint,omitempty"` // why, for people; "" when it was accepted
	ID      string `cbor:"2,keyasint,omitempty"` // of the row
}

func refuseMember(why string) command.Decision {
	return command.Decision{Outcome: membership{Refused: why}}
}

// refuseConfirmFresh refuses a command on a view that may lag: it is decided again on a
// fresh one. It counts as authenticated, because only members send these commands.
func refuseConfirmFresh(why string) command.Decision {
	return command.Decision{Outcome: membership{Refused: why}, ConfirmFresh: true, Authenticated: true}
}

func acceptMember(id string, changes ...command.Change) command.Decision {
	return command.Decision{Outcome: membership{ID: id}, Changes: changes}
}

// bootstrapCluster makes the members and authorities that a cluster starts with.
type bootstrapCluster struct {
	Members     []Member    `cbor:"1,keyasint"`
	Authorities []authority `cbor:"2,keyasint"`
}

func (*bootstrapCluster) Kind() command.Kind { return kindBootstrap }

// Decide does nothing in a cluster that has members: every node that could have
// been the first leader has the same list.
func (c *bootstrapCluster) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	if len(members(txn)) > 0 {
		return acceptMember("")
	}
	var changes []command.Change
	for i := range c.Members {
		row := c.Members[i]
		row.Joined = m.At
		changes = append(changes, command.Change{Table: membersTable, Row: &row})
	}
	for i := range c.Authorities {
		changes = append(changes, command.Change{Table: authoritiesTable, Row: &c.Authorities[i]})
	}
	return acceptMember("", changes...)
}

// addInvite records a join token.
type addInvite struct {
	ID       string `cbor:"1,keyasint"`
	Name     string `cbor:"2,keyasint"`
	Lifetime int64  `cbor:"3,keyasint"` // ms
	Replaces string `cbor:"4,keyasint,omitempty"`
}

func (*addInvite) Kind() command.Kind { return kindInvite }

// Decide refuses a name that is taken; a later invite for the same name takes
// the place of an unused one.
func (c *addInvite) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	if old := find[invite](txn, invitesTable, c.ID); old != nil {
		return acceptMember(old.ID) // the same command again
	}
	if !ValidName(c.Name) {
		return refuseMember("a node's name is " + NameRule)
	}
	if len(members(txn)) == 0 {
		return refuseConfirmFresh("this cluster has no members yet")
	}
	if memberNamed(txn, c.Name) != nil {
		return refuseConfirmFresh("the cluster has a node " + c.Name + " already; mintmark cluster replace takes another one in its place")
	}
	if c.Replaces != "" && find[Member](txn, membersTable, c.Replaces) == nil {
		return refuseConfirmFresh("the node to be replaced is not a member")
	}
	var changes []command.Change
	for _, i := range list[invite](txn, invitesTable) {
		if i.Name == c.Name && i.Node == "" {
			changes = append(changes, command.Change{Table: invitesTable, Row: i, Delete: true})
		}
	}
	row := &invite{ID: c.ID, Name: c.Name, Expires: m.At + c.Lifetime, Replaces: c.Replaces}
	return acceptMember(c.ID, append(changes, command.Change{Table: invitesTable, Row: row})...)
}

// unknownInvite is also of one that was used and whose node was removed.
const unknownInvite = "the join token is not known, or has expired: make another one"

// enroll makes whoever presents an invite a member.
type enroll struct {
	Invite string `cbor:"1,keyasint"`
	Member Member `cbor:"2,keyasint"`
}

func (*enroll) Kind() command.Kind { return kindEnroll }

// Decide binds the invite to the key that uses it first. The same key may ask
// again, because the answer may have been lost, as long as it is a member that
// has not run: one that has told of itself, and asks, has lost its data.
func (c *enroll) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	i := find[invite](txn, invitesTable, c.Invite)
	if i == nil || m.At >= i.Expires {
		return refuseConfirmFresh(unknownInvite)
	}
	if i.Node != "" {
		if old := find[Member](txn, membersTable, i.Node); old != nil && old.ID == c.Member.ID && slices.Equal(old.Key, c.Member.Key) {
			if old.Issuer != "" {
				return refuseConfirmFresh("node " + old.Name + " has run as a member, and lost its data: take a new node with an empty folder in its place (mintmark cluster replace)")
			}
			return acceptMember(old.ID)
		}
		return refuseConfirmFresh("the join token was used by another node: make another one")
	}
	switch all := members(txn); {
	case len(all) == 0:
		return refuseConfirmFresh("this cluster has no members yet")
	case !isNodeID(c.Member.ID) || len(c.Member.Key) != 32 || c.Member.Address == "":
		return refuseMember("the node's own description is not complete")
	case slices.ContainsFunc(all, func(o *Member) bool {
		return o.ID == c.Member.ID || o.Name == i.Name || slices.Equal(o.Key, c.Member.Key)
	}):
		return refuseConfirmFresh("a member has this name, id or key already")
	case c.Member.Level < readStatus(txn).Level:
		return refuseMember("the cluster uses features that this version of the program does not have: upgrade it first")
	}
	row := c.Member
	row.Name, row.Replaces, row.Joined = i.Name, i.Replaces, m.At
	used := *i
	used.Node = row.ID
	return acceptMember(row.ID, command.Change{Table: membersTable, Row: &row}, command.Change{Table: invitesTable, Row: &used})
}

func isNodeID(id string) bool {
	b, err := hex.DecodeString(id)
	return err == nil && len(b) == 8
}

// updateMember is how a node says what changed about it.
type updateMember struct {
	ID            string `cbor:"1,keyasint"`
	Address       string `cbor:"2,keyasint"`
	Version       string `cbor:"3,keyasint,omitempty"`
	Level         uint32 `cbor:"4,keyasint,omitempty"`
	Issuer        string `cbor:"5,keyasint,omitempty"`
	TrustedIssuer string `cbor:"6,keyasint,omitempty"`
}

func (*updateMember) Kind() command.Kind { return kindUpdate }

// Decide changes nothing where all of it is known.
func (c *updateMember) Decide(txn *memdb.Txn, _ command.Meta) command.Decision {
	old := find[Member](txn, membersTable, c.ID)
	switch {
	case old == nil:
		return refuseConfirmFresh("not a member")
	case c.Level < readStatus(txn).Level:
		return refuseMember("the cluster uses features that this version of the program does not have")
	}
	next := *old
	next.Address, next.Version, next.Level, next.Issuer, next.TrustedIssuer = c.Address, c.Version, c.Level, c.Issuer, c.TrustedIssuer
	if sameMember(next, *old) {
		return acceptMember(c.ID)
	}
	return acceptMember(c.ID, command.Change{Table: membersTable, Row: &next})
}

// removeMember takes the key of a member out of the list. The leader proposes it
// when raft's configuration has lost the node, see removal.go.
type removeMember struct {
	ID string `cbor:"1,keyasint"`
}

func (*removeMember) Kind() command.Kind { return kindRemove }

// Decide also takes away the invite by which the member came, or it could come
// back by it.
func (c *removeMember) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	all := members(txn)
	i := slices.IndexFunc(all, func(m *Member) bool { return m.ID == c.ID })
	switch {
	case i < 0 && m.Again:
		return acceptMember(c.ID)
	case i < 0:
		return refuseConfirmFresh("not a member")
	case len(all) == 1:
		return refuseConfirmFresh("it is the last node of the cluster")
	}
	changes := []command.Change{{Table: membersTable, Row: all[i], Delete: true}}
	for _, o := range all {
		if o.Replaces == c.ID {
			next := *o
			next.Replaces = ""
			changes = append(changes, command.Change{Table: membersTable, Row: &next})
		}
	}
	for _, i := range list[invite](txn, invitesTable) {
		if i.Node == c.ID {
			changes = append(changes, command.Change{Table: invitesTable, Row: i, Delete: true})
		}
	}
	return acceptMember(c.ID, changes...)
}

// raiseLevel turns a feature level on when every member's program has it.
type raiseLevel struct {
	Level uint32 `cbor:"1,keyasint"`
}

func (*raiseLevel) Kind() command.Kind { return kindRaise }

// Decide writes the status row, from which core takes the level.
func (c *raiseLevel) Decide(txn *memdb.Txn, _ command.Meta) command.Decision {
	s := readStatus(txn)
	if c.Level <= s.Level {
		return acceptMember("")
	}
	for _, m := range members(txn) {
		if m.Level < c.Level {
			return refuseMember("node " + m.Name + " does not have this feature level")
		}
	}
	s.Level = c.Level
	return acceptMember("", command.Change{Table: statusTable, Row: &s})
}

// setAuthorities replaces the authorities that vouch for members: an added one,
// a dropped one, or the same ones sealed anew.
type setAuthorities struct {
	Authorities    []authority `cbor:"1,keyasint"`
	PreviousIDs    []string    `cbor:"2,keyasint"`           // ids of those that were read: others mean that it was decided on an old list
	PreviousDigest []byte      `cbor:"3,keyasint,omitempty"` // digestOf those that were read
}

func (*setAuthorities) Kind() command.Kind { return kindAuthority }

// Decide refuses to drop an authority that a member's certificate is from.
func (c *setAuthorities) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	old := list[authority](txn, authoritiesTable)
	ids := func(a *authority) string { return a.ID }
	if len(c.PreviousDigest) > 0 {
		switch why, done := c.check(txn, old); {
		case done:
			return acceptMember("")
		case why != "":
			return refuseConfirmFresh(why)
		}
	} else if had := mapped(old, ids); !slices.Equal(had, c.PreviousIDs) && !m.Again {
		return refuseConfirmFresh("the authorities have changed meanwhile")
	}
	if len(c.Authorities) == 0 {
		return refuseMember("a cluster needs an authority")
	}
	kept := func(id string) bool {
		return slices.ContainsFunc(c.Authorities, func(a authority) bool { return a.ID == id })
	}
	for _, member := range members(txn) {
		if member.Issuer != "" && !kept(member.Issuer) {
			return refuseMember("the certificate of node " + member.Name + " is from the authority that would go")
		}
	}
	var changes []command.Change
	for _, a := range old {
		if !kept(a.ID) {
			changes = append(changes, command.Change{Table: authoritiesTable, Row: a, Delete: true})
		}
	}
	for i := range c.Authorities {
		changes = append(changes, command.Change{Table: authoritiesTable, Row: &c.Authorities[i]})
	}
	return acceptMember("", changes...)
}

func mapped[A, B any](list []A, f func(A) B) []B {
	out := make([]B, len(list))
	for i, a := range list {
		out[i] = f(a)
	}
	return out
}

// expireInvites removes invites that nobody can use any more.
type expireInvites struct{}

func (*expireInvites) Kind() command.Kind { return kindExpire }

func (*expireInvites) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	var changes []command.Change
	for _, i := range list[invite](txn, invitesTable) {
		if m.At >= i.Expires && len(changes) < command.MaxChanges {
			changes = append(changes, command.Change{Table: invitesTable, Row: i, Delete: true})
		}
	}
	return acceptMember("", changes...)
}
