package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// ApplyClient makes a client what an operator's file declares, in one decision. Unlike
// ImportClient it carries what the operator saw, so that it never overwrites a change that
// the operator did not see. A client that is what is declared already is not changed.
type ApplyClient struct {
	Actor Actor      `cbor:"1,keyasint"`
	ID    string     `cbor:"2,keyasint"`
	Owner string     `cbor:"3,keyasint"` // a user's id
	Type  ClientType `cbor:"4,keyasint"`
	// State is the declared state. "" leaves an approved client approved and a suspended
	// one suspended; any other is approved, since an operator's declaration is a review.
	State   ClientState `cbor:"5,keyasint,omitempty"`
	Legacy  bool        `cbor:"6,keyasint,omitempty"`
	Profile Profile     `cbor:"7,keyasint"` // a client's logo is not declared, and stays

	// Secrets are all secrets that are to be active, if NamesSecrets is set; otherwise the
	// secrets stay. ActiveSecrets are the ids of the active secrets that the operator saw.
	NamesSecrets  bool             `cbor:"8,keyasint,omitempty"`
	Secrets       []DeclaredSecret `cbor:"9,keyasint,omitempty"`
	ActiveSecrets []string         `cbor:"10,keyasint,omitempty"`

	// Revision is the revision that the operator saw; 0 means that there was no client.
	Revision uint64 `cbor:"11,keyasint,omitempty"`
	// Manager is the name under which the operator applies files: see Client.ManagedBy.
	Manager string `cbor:"12,keyasint"`
	// Adopt makes Manager the manager of an existing client.
	Adopt bool `cbor:"13,keyasint,omitempty"`
	// Confirm is like EditClient.Confirm.
	Confirm bool `cbor:"14,keyasint,omitempty"`
}

// A DeclaredSecret is a secret of a declaration. The client or resource server may have it
// already, recorded under another key.
type DeclaredSecret struct {
	New     NewSecret `cbor:"1,keyasint"` // if its row does not have it
	Digests []Digest  `cbor:"2,keyasint"` // under every key that the node has opened; none with New.Hash
}

// Kind implements command.Command.
func (*ApplyClient) Kind() command.Kind { return KindApplyClient }

// Decide accepts a repetition, and a declaration that changes nothing, whatever revision
// it carries.
func (c *ApplyClient) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identifyOperator(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	old := v.Client(c.ID)
	switch {
	case old != nil && old.Document != nil:
		return deny(DocumentOwned)
	case old != nil && old.Last == m.ID: // the settings may refuse now what they allowed then
		return accept(Outcome{ID: c.ID})
	}
	next, refused := c.declared(v, old, m)
	switch {
	case refused == nil && old != nil && len(applied(old, next)) == 0:
		return accept(Outcome{ID: c.ID})
	case old != nil && old.State != Deleted && !c.saw(old):
		return deny(Conflict)
	case old == nil && c.Revision != 0:
		return deny(NotFound) // it was deleted and lost with a restore
	case refused != nil:
		return command.Decision{Outcome: Outcome{Refusal: refused}}
	}
	next.Revision++
	next.Changed, next.Last = stateTime(m), m.ID
	next.queue(old, m)
	return accept(Outcome{ID: c.ID, Count: 1}, put(TableClients, next),
		event(m, Event{Kind: EventClientApplied, Actor: who.name(), Client: c.ID, User: next.Owner, Detail: appliedDetail(old, next)}))
}

// saw reports whether the client is as the operator saw it. Secrets are compared apart
// from the revision, which counts what is reviewed.
func (c *ApplyClient) saw(old *Client) bool {
	return old.Revision == c.Revision && (!c.NamesSecrets || slices.Equal(old.Secrets.activeIDs(), c.ActiveSecrets))
}

func (l Secrets) activeIDs() (ids []string) {
	for i := range l {
		if l[i].Active() {
			ids = append(ids, l[i].ID)
		}
	}
	return ids
}

// declared returns the row that the declaration makes of old, or why it can't be one.
func (c *ApplyClient) declared(v View, old *Client, m command.Meta) (*Client, *Refusal) {
	bad := func(field, note string) (*Client, *Refusal) { return nil, outcome(badField(field, note)).Refusal }
	next := &Client{ID: c.ID, Type: c.Type, Owner: c.Owner, Created: stateTime(m), ManagedBy: c.Manager}
	if old != nil {
		*next = *old
	}
	switch {
	case checkClientID(c.ID) != "":
		return bad("id", checkClientID(c.ID))
	case c.Type != Confidential && c.Type != Public:
		return bad("type", "must be confidential or public")
	case old != nil && old.State == Deleted:
		return bad("id", "is that of a deleted client, and can not be used again")
	case old != nil && old.Type != c.Type:
		return bad("type", "never changes")
	case old != nil && !old.Legacy && c.Legacy:
		return bad("legacy", "never returns to a client that has scopes")
	case c.Legacy && len(c.Profile.Scopes) > 0:
		return bad("scopes", "must be empty for a legacy client: it selects them at its migration")
	case checkText(c.Manager, 1, maxManager) != "":
		return bad("manager", checkText(c.Manager, 1, maxManager))
	case old != nil && old.ManagedBy != "" && old.ManagedBy != c.Manager && !c.Adopt:
		return bad("managed_by", "is "+old.ManagedBy)
	}
	switch c.State {
	case Pending, Approved, Rejected, Suspended:
		next.State = c.State
	case "":
		if next.State != Suspended {
			next.State = Approved
		}
	default:
		return bad("state", "must be pending, approved, rejected or suspended")
	}
	least := MinScopes
	if c.Legacy {
		least = 0
	}
	p, refused := v.checkProfile(c.Profile, c.Type, least)
	if refused != nil {
		return nil, refused
	}
	p.Logo = next.Logo
	next.Profile, next.Legacy, next.WasLegacy = p, c.Legacy, next.WasLegacy || c.Legacy
	next.endDraft()
	switch had := next.ActiveSecrets(); {
	case !c.NamesSecrets:
	case c.Type == Public && len(c.Secrets) > 0:
		return bad("secrets", "must be empty for a public client")
	default:
		if next.Secrets, refused = next.Secrets.declared(v, c.Secrets, stateTime(m)); refused != nil {
			return nil, refused
		}
		if had > 0 && next.ActiveSecrets() == 0 {
			return nil, outcome(deny(LastSecret)).Refusal
		}
	}
	if c.Adopt {
		next.ManagedBy = c.Manager
	}
	if old == nil || old.Owner != c.Owner {
		if v.User(c.Owner).inactiveCause() != NoCause {
			return bad("owner", "is not a user")
		}
		next.setOwner(c.Owner)
	}
	if old == nil {
		return next, nil
	}
	if old.State != next.State {
		next.Reason = ""
	}
	if old.Legacy && !next.Legacy && !c.Confirm {
		if unscoped, _ := old.RecentTraffic(stateTime(m)); unscoped > 0 {
			return nil, outcome(deny(ConfirmMigration)).Refusal
		}
	}
	next.Proposed = nil // an operator's change is no review of it
	next.clearRefused()
	return next, nil
}

// maxManager is the maximum length of a manager's name, in characters.
const maxManager = 64

// declared returns l after a declaration of all secrets that are to be active, or why it can't
// be done. A secret that was revoked never becomes active again: it may have been revoked
// because it leaked.
func (l Secrets) declared(v View, secrets []DeclaredSecret, at Time) (Secrets, *Refusal) {
	bad := func(note string) (Secrets, *Refusal) { return nil, outcome(badField("secrets", note)).Refusal }
	if len(secrets) > MaxActiveSecrets {
		r := outcome(deny(TooManySecrets)).Refusal
		r.Field, r.Note = "secrets", "has more than 2"
		return nil, r
	}
	all := slices.Clone(l)
	kept, added := make([]bool, len(l)), Secrets(nil)
	for i := range secrets {
		d := &secrets[i]
		j := slices.IndexFunc(all, func(s Secret) bool { return d.is(&s) })
		switch note := d.New.check(); {
		case note != "":
			return bad(note)
		case slices.ContainsFunc(secrets[:i], func(o DeclaredSecret) bool { return o.New.same(&d.New) }),
			j >= 0 && kept[j]:
			return bad("has the same secret twice")
		case j < 0 && all.index(d.New.ID) >= 0:
			return nil, outcome(deny(AlreadyExists)).Refusal
		case j < 0 && !d.New.verifiable(v):
			return nil, outcome(deny(KeyNotRecorded)).Refusal
		case j < 0:
			added = append(added, d.New.at(at))
		case !all[j].Active():
			return bad("has " + all[j].ID + ", which was revoked")
		default:
			kept[j] = true
		}
	}
	for i := range all {
		if s := &all[i]; s.Active() && !kept[i] {
			s.revoke(at)
		}
	}
	return append(all, added...).settled(), nil
}

// is reports whether the declared secret is s.
func (d *DeclaredSecret) is(s *Secret) bool {
	if d.New.Hash != "" {
		return d.New.is(s)
	}
	_, match := ClientAuth{Digests: d.Digests}.matches(s)
	return match
}

// In returns the one of the secrets that was declared, or nil.
func (d *DeclaredSecret) In(l Secrets) *Secret {
	for i := range l {
		if d.is(&l[i]) {
			return &l[i]
		}
	}
	return nil
}

// applied returns the differences between two rows of a client that a declaration decides
// on, as the audit trail has them.
func applied(old, next *Client) []string {
	var all differences
	for _, d := range Differences(&old.Profile, &next.Profile) {
		if d.Before != d.After {
			all.text(d.Field, d.Before, d.After)
		} else {
			all.list(d.Field, d.Added, d.Removed)
		}
	}
	all.text("owner", old.Owner, next.Owner)
	all.text("state", string(old.State), string(next.State))
	if old.Legacy != next.Legacy {
		all = append(all, fmt.Sprintf("legacy: %t → %t", old.Legacy, next.Legacy))
	}
	all.secrets(old.Secrets, next.Secrets)
	all.text("managed_by", old.ManagedBy, next.ManagedBy)
	return all
}

// differences collects the differences between two rows, as the audit trail has them.
type differences []string

func (all *differences) text(field, a, b string) {
	if a != b {
		*all = append(*all, fmt.Sprintf("%s: %q → %q", field, a, b))
	}
}

func (all *differences) list(field string, added, removed []string) {
	words := make([]string, 0, len(added)+len(removed))
	for _, s := range added {
		words = append(words, "+"+s)
	}
	for _, s := range removed {
		words = append(words, "-"+s)
	}
	*all = append(*all, field+": "+cmp.Or(strings.Join(words, " "), "reordered"))
}

func (all *differences) members(field string, old, next []string) {
	if !slices.Equal(old, next) {
		all.list(field, subtract(next, old), subtract(old, next))
	}
}

func (all *differences) secrets(old, next Secrets) {
	all.members("secrets", old.activeIDs(), next.activeIDs())
}

// maxListedDetail is the maximum length of an event's detail that lists changes, in bytes.
const maxListedDetail = 1000

// appliedDetail returns the detail of the event: what a new client may do, or what changed.
func appliedDetail(old, next *Client) string {
	detail := "added"
	switch {
	case old != nil:
		detail = strings.Join(applied(old, next), "; ")
	case !next.Legacy:
		detail += "; scopes " + list(next.Scopes)
	}
	return clipDetail(detail)
}

// clipDetail cuts a detail that lists changes to maxListedDetail.
func clipDetail(detail string) string {
	if len(detail) <= maxListedDetail {
		return detail
	}
	end := maxListedDetail
	for !utf8.RuneStart(detail[end]) {
		end--
	}
	return detail[:end] + "…"
}
