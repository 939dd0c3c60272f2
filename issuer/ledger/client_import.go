package ledger

import (
	"slices"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// ImportClient creates a client that an operator declares: a legacy client from before
// scopes, or a fixture. An existing client with the same id is changed to the declaration,
// unless the same declaration was applied before; then later changes of the client stay.
//
// It is not ApplyClient, which brings a client to what its file says whenever the file is
// applied, under a manager that may also remove it: an import is done once, nobody manages the
// client by it, and it may declare revoked secrets, which ApplyClient never takes back. A
// command for both would have each field and rule for one of them only.
type ImportClient struct {
	ID      string      `cbor:"1,keyasint"`
	Owner   string      `cbor:"2,keyasint"`
	Type    ClientType  `cbor:"3,keyasint"`
	State   ClientState `cbor:"4,keyasint"`
	Legacy  bool        `cbor:"5,keyasint,omitempty"`
	Profile Profile     `cbor:"6,keyasint"`
	Secrets []NewSecret `cbor:"7,keyasint,omitempty"`
	Revoked []NewSecret `cbor:"8,keyasint,omitempty"`
	// Declared has keyed digests of the declaration, under the newest key first. A
	// declaration that was applied under any of them is not applied again.
	Declared []string `cbor:"9,keyasint,omitempty"`
	Actor    Actor    `cbor:"10,keyasint,omitzero"` // an operator; zero is the local one
}

// Kind implements command.Command.
func (*ImportClient) Kind() command.Kind { return KindImportClient }

// Decide checks the same fields and limits as CreateClient does.
func (c *ImportClient) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identifyOperator(c.Actor.orOperator(), m)
	if cause != NoCause {
		return deny(cause)
	}
	old := v.Client(c.ID)
	switch {
	case old == nil:
	case old.Last == m.ID || old.Declared == newest(c.Declared) && old.Declared != "":
		return accept(Outcome{ID: c.ID})
	case slices.Contains(c.Declared, old.Declared):
		// Under an older key, which will be dropped: then the declaration would be taken for
		// another one, and a secret that was revoked since would be valid again.
		renewed := *old
		renewed.Declared, renewed.Last = newest(c.Declared), m.ID
		return accept(Outcome{ID: c.ID}, put(TableClients, &renewed))
	}
	if refused := c.check(v, old); refused != nil {
		return command.Decision{Outcome: Outcome{Refusal: refused}}
	}
	least := MinScopes
	if c.Legacy {
		least = 0
	}
	p, refused := v.checkProfile(c.Profile, c.Type, least)
	if refused != nil {
		return command.Decision{Outcome: Outcome{Refusal: refused}}
	}
	if _, refused := v.putLogo(p.Logo, nil); refused != nil {
		return command.Decision{Outcome: Outcome{Refusal: refused}}
	}
	row := &Client{ID: c.ID, Type: c.Type, Created: stateTime(m)}
	if old != nil {
		*row = *old
	}
	if row.Owner != c.Owner {
		row.Offer = nil
	}
	row.Owner, row.State, row.Profile = c.Owner, c.State, p
	row.Proposed, row.Refused, row.Reason = nil, nil, ""
	row.Legacy, row.WasLegacy = c.Legacy, row.WasLegacy || c.Legacy
	row.endDraft()
	row.Declared = newest(c.Declared)
	row.Revision++
	row.Changed, row.Last = stateTime(m), m.ID
	row.Secrets = c.secrets(row.Secrets, m)
	row.queue(old, m)
	return accept(Outcome{ID: c.ID, Count: 1}, put(TableClients, row),
		event(m, Event{Kind: EventClientImported, Actor: who.name(), Client: c.ID, User: c.Owner}))
}

// newest returns the digest to store for a declaration, or "" if there is none.
func newest(declared []string) string {
	if len(declared) == 0 {
		return ""
	}
	return declared[0]
}

func (c *ImportClient) check(v View, old *Client) *Refusal {
	bad := func(field, note string) *Refusal { return outcome(badField(field, note)).Refusal }
	if note := checkClientID(c.ID); note != "" {
		return bad("id", note)
	}
	switch {
	case c.Type != Confidential && c.Type != Public:
		return bad("type", "must be confidential or public")
	case old != nil && old.State == Deleted:
		return bad("id", "is that of a deleted client, and can not be used again")
	case old != nil && !old.Legacy && c.Legacy:
		return bad("legacy", "never returns to a client that has scopes")
	case old != nil && old.Type != c.Type:
		return bad("type", "never changes")
	case c.State != Pending && c.State != Approved && c.State != Rejected && c.State != Suspended:
		return bad("state", "must be pending, approved, rejected or suspended")
	case v.User(c.Owner).inactiveCause() != NoCause:
		return bad("owner", "is not a user")
	case c.Legacy && len(c.Profile.Scopes) > 0:
		return bad("scopes", "must be empty for a legacy client: it selects them at its migration")
	case c.Type == Public && len(c.Secrets)+len(c.Revoked) > 0:
		return bad("secrets", "must be empty for a public client")
	case len(c.Secrets) > MaxActiveSecrets:
		r := outcome(deny(TooManySecrets)).Refusal
		r.Field, r.Note = "secrets", "has more than 2"
		return r
	}
	all := slices.Concat(c.Secrets, c.Revoked)
	for i := range all {
		for j := range i {
			if all[i].same(&all[j]) {
				return bad("secrets", "has the same secret twice")
			}
		}
		if note := all[i].check(); note != "" {
			return bad("secrets", note)
		}
		if !all[i].verifiable(v) {
			return outcome(deny(KeyNotRecorded)).Refusal
		}
		if old == nil || all[i].Hash == "" {
			continue
		}
		// The hash of a revoked secret is gone, or was replaced at its first use.
		for j := range old.Secrets {
			if s := &old.Secrets[j]; all[i].is(s) && !s.Active() {
				return bad("secrets", "has "+s.ID+", which was revoked")
			}
		}
	}
	return nil
}

// secrets returns the declared secrets. A secret that exists already keeps its id and its
// history; one that is not declared is revoked.
func (c *ImportClient) secrets(old Secrets, m command.Meta) Secrets {
	known := func(n NewSecret) Secret {
		for _, s := range old {
			if n.is(&s) {
				return s
			}
		}
		return n.at(stateTime(m))
	}
	var list Secrets
	listed := func(s Secret) bool {
		return slices.ContainsFunc(list, func(o Secret) bool { return o.ID == s.ID })
	}
	for _, n := range c.Secrets {
		s := known(n)
		s.Revoked = 0
		list = append(list, s)
	}
	for _, n := range c.Revoked {
		s := known(n)
		if s.Active() {
			s.revoke(stateTime(m))
		}
		list = append(list, s)
	}
	for _, s := range old {
		if !listed(s) {
			if s.Active() {
				s.revoke(stateTime(m))
			}
			list = append(list, s)
		}
	}
	return list.settled()
}
