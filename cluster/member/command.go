package member

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/errcode"
	"github.com/mintmark-auth/mintmark/cluster/machine"
)

// Outcome is the outcome of every command of this package.
type Outcome struct {
	Refused string `cbor:"1,keyasint,omitempty"` // the reason, in words; "" if accepted
	ID      string `cbor:"2,keyasint,omitempty"` // of the row
	Code    string `cbor:"3,keyasint,omitempty"` // of the error that is the reason; see package errcode
}

// Err returns a *RefusedError if the command was refused.
func (o Outcome) Err() error {
	if o.Refused == "" {
		return nil
	}
	return &RefusedError{Reason: o.Refused, Code: o.Code}
}

func refuseMember(why error) command.Decision {
	return command.Decision{Outcome: Outcome{Refused: why.Error(), Code: errcode.Of(why)}}
}

// refuseConfirmFresh refuses a command on a view that may be outdated: it is decided
// again on a fresh one. It counts as authenticated, because only members send these
// commands.
func refuseConfirmFresh(why error) command.Decision {
	d := refuseMember(why)
	d.ConfirmFresh, d.Authenticated = true, true
	return d
}

func acceptMember(id string, changes ...command.Change) command.Decision {
	return command.Decision{Outcome: Outcome{ID: id}, Changes: changes}
}

// Bootstrap creates the initial members and authorities of a cluster.
type Bootstrap struct {
	Members     []Member    `cbor:"1,keyasint"`
	Authorities []Authority `cbor:"2,keyasint"`
}

// Kind implements command.Command.
func (*Bootstrap) Kind() command.Kind { return kindBootstrap }

// Decide does nothing if the cluster has members: every node that could have been the
// first leader has the same list.
func (c *Bootstrap) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	if len(All(txn)) > 0 {
		return acceptMember("")
	}
	var changes []command.Change
	for i := range c.Members {
		row := c.Members[i]
		row.Joined = m.At
		changes = append(changes, command.Change{Table: MembersTable, Row: &row})
	}
	for i := range c.Authorities {
		changes = append(changes, command.Change{Table: AuthoritiesTable, Row: &c.Authorities[i]})
	}
	return acceptMember("", changes...)
}

// AddInvite records a join token.
type AddInvite struct {
	ID       string `cbor:"1,keyasint"`
	Name     string `cbor:"2,keyasint"`
	Lifetime int64  `cbor:"3,keyasint"` // ms
	Replaces string `cbor:"4,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*AddInvite) Kind() command.Kind { return kindInvite }

// Decide refuses a name that is in use; a later invite for the same name replaces an
// unused one.
func (c *AddInvite) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	if old := InviteByID(txn, c.ID); old != nil {
		return acceptMember(old.ID) // a repetition of the same command
	}
	if !ValidName(c.Name) {
		return refuseMember(errors.New("a node's name is " + NameRule))
	}
	if len(All(txn)) == 0 {
		return refuseConfirmFresh(errors.New("this cluster has no members yet"))
	}
	if Named(txn, c.Name) != nil {
		return refuseConfirmFresh(fmt.Errorf("node %s: %w", c.Name, ErrNameTaken))
	}
	if c.Replaces != "" && ByID(txn, c.Replaces) == nil {
		return refuseConfirmFresh(errors.New("the node to be replaced is not a member"))
	}
	var changes []command.Change
	for _, i := range Invites(txn) {
		if i.Name == c.Name && i.Node == "" {
			changes = append(changes, command.Change{Table: invitesTable, Row: i, Delete: true})
		}
	}
	row := &Invite{ID: c.ID, Name: c.Name, Expires: m.At + c.Lifetime, Replaces: c.Replaces}
	return acceptMember(c.ID, append(changes, command.Change{Table: invitesTable, Row: row})...)
}

// Update reports changes of a node's own row.
type Update struct {
	ID            string `cbor:"1,keyasint"`
	Address       string `cbor:"2,keyasint"`
	Version       string `cbor:"3,keyasint,omitempty"`
	Level         uint32 `cbor:"4,keyasint,omitempty"`
	Issuer        string `cbor:"5,keyasint,omitempty"`
	TrustedIssuer string `cbor:"6,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*Update) Kind() command.Kind { return kindUpdate }

// Decide changes nothing if the row is up to date.
func (c *Update) Decide(txn *memdb.Txn, _ command.Meta) command.Decision {
	old := ByID(txn, c.ID)
	switch {
	case old == nil:
		return refuseConfirmFresh(errors.New("not a member"))
	case c.Level < machine.ReadStatus(txn).Level:
		return refuseMember(errors.New("the cluster uses features that this version of the program does not have"))
	}
	next := *old
	next.Address, next.Version, next.Level, next.Issuer, next.TrustedIssuer = c.Address, c.Version, c.Level, c.Issuer, c.TrustedIssuer
	if sameMember(next, *old) {
		return acceptMember(c.ID)
	}
	return acceptMember(c.ID, command.Change{Table: MembersTable, Row: &next})
}

// Remove removes a member. The leader proposes it when raft's configuration no longer has
// the node, see removal.go in package cluster.
type Remove struct {
	ID string `cbor:"1,keyasint"`
}

// Kind implements command.Command.
func (*Remove) Kind() command.Kind { return kindRemove }

// Decide also removes the member's invite, or the node could rejoin with it.
func (c *Remove) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	all := All(txn)
	i := slices.IndexFunc(all, func(m *Member) bool { return m.ID == c.ID })
	switch {
	case i < 0 && m.Again:
		return acceptMember(c.ID)
	case i < 0:
		return refuseConfirmFresh(errors.New("not a member"))
	case len(all) == 1:
		return refuseConfirmFresh(errors.New("the node is the last one of the cluster"))
	}
	changes := []command.Change{{Table: MembersTable, Row: all[i], Delete: true}}
	for _, o := range all {
		if o.Replaces == c.ID {
			next := *o
			next.Replaces = ""
			changes = append(changes, command.Change{Table: MembersTable, Row: &next})
		}
	}
	for _, i := range Invites(txn) {
		if i.Node == c.ID {
			changes = append(changes, command.Change{Table: invitesTable, Row: i, Delete: true})
		}
	}
	return acceptMember(c.ID, changes...)
}

// RaiseLevel enables a feature level once every member's program supports it.
type RaiseLevel struct {
	Level uint32 `cbor:"1,keyasint"`
}

// Kind implements command.Command.
func (*RaiseLevel) Kind() command.Kind { return kindRaise }

// Decide writes the status row, from which machine.State takes the level.
func (c *RaiseLevel) Decide(txn *memdb.Txn, _ command.Meta) command.Decision {
	s := machine.ReadStatus(txn)
	if c.Level <= s.Level {
		return acceptMember("")
	}
	for _, m := range All(txn) {
		if m.Level < c.Level {
			return refuseMember(errors.New("node " + m.Name + " does not support this feature level"))
		}
	}
	s.Level = c.Level
	return acceptMember("", command.Change{Table: machine.StatusTable, Row: &s})
}

// SetAuthorities replaces the authorities: it adds one, removes one, or replaces them by
// the same ones sealed again.
type SetAuthorities struct {
	Authorities    []Authority `cbor:"1,keyasint"`
	PreviousDigest []byte      `cbor:"3,keyasint"` // DigestOf the authorities that were read
}

// Kind implements command.Command.
func (*SetAuthorities) Kind() command.Kind { return kindAuthority }

// Decide refuses to remove an authority that issued a member's certificate.
func (c *SetAuthorities) Decide(txn *memdb.Txn, _ command.Meta) command.Decision {
	old := Authorities(txn)
	switch why, done := c.check(txn, old); {
	case done:
		return acceptMember("")
	case why != "":
		return refuseConfirmFresh(errors.New(why))
	}
	kept := func(id string) bool {
		return slices.ContainsFunc(c.Authorities, func(a Authority) bool { return a.ID == id })
	}
	for _, member := range All(txn) {
		if member.Issuer != "" && !kept(member.Issuer) {
			return refuseMember(errors.New("the certificate of node " + member.Name + " is from an authority that would be removed"))
		}
	}
	var changes []command.Change
	for _, a := range old {
		if !kept(a.ID) {
			changes = append(changes, command.Change{Table: AuthoritiesTable, Row: a, Delete: true})
		}
	}
	for i := range c.Authorities {
		changes = append(changes, command.Change{Table: AuthoritiesTable, Row: &c.Authorities[i]})
	}
	return acceptMember("", changes...)
}

// ExpireInvites removes expired invites.
type ExpireInvites struct{}

// Kind implements command.Command.
func (*ExpireInvites) Kind() command.Kind { return kindExpire }

// Decide implements command.Command.
func (*ExpireInvites) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	var changes []command.Change
	for _, i := range Invites(txn) {
		if m.At >= i.Expires && len(changes) < command.MaxChanges {
			changes = append(changes, command.Change{Table: invitesTable, Row: i, Delete: true})
		}
	}
	return acceptMember("", changes...)
}
