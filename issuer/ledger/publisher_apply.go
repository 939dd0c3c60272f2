package ledger

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// ApplyPublisher makes a publisher what an operator's file declares, in one decision. Like
// ApplyResourceServer it carries what the operator saw, and a publisher that is what is declared
// already is not changed. A declaration is a review: a new or pending publisher is approved. A
// rejected one stays rejected, like a suspended client.
type ApplyPublisher struct {
	Actor        Actor    `cbor:"1,keyasint"`
	Host         string   `cbor:"2,keyasint"`
	Name         string   `cbor:"3,keyasint,omitempty"`
	Scopes       []string `cbor:"4,keyasint,omitempty"`
	Defaults     []string `cbor:"5,keyasint,omitempty"`
	MaxClients   int      `cbor:"6,keyasint,omitempty"` // 0 means DefaultMaxClients
	LongRetry    bool     `cbor:"7,keyasint,omitempty"`
	RedirectURIs []string `cbor:"8,keyasint,omitempty"` // for LocalPublisher only

	// ExpectedLast is the Publisher.Last that the operator saw; zero means that there was no
	// publisher.
	ExpectedLast command.ID `cbor:"9,keyasint,omitzero"`
	Manager      string     `cbor:"10,keyasint,omitempty"` // like ApplyResourceServer.Manager
	Adopt        bool       `cbor:"11,keyasint,omitempty"` // like ApplyClient.Adopt
	Declared     []string   `cbor:"12,keyasint,omitempty"` // like ImportClient.Declared
}

// Kind implements command.Command.
func (*ApplyPublisher) Kind() command.Kind { return KindApplyPublisher }

// Decide accepts a repetition, and a declaration that changes nothing, whatever it expects.
func (c *ApplyPublisher) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identifyOperator(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	old := v.Publisher(c.Host)
	if old != nil && (old.Last == m.ID || slices.Contains(c.Declared, old.Declared)) {
		return accept(Outcome{ID: c.Host})
	}
	next, refused := c.declared(v, old, who, m)
	switch {
	case refused == nil && old != nil && len(publisherChanges(old, next)) == 0 && old.Declared == next.Declared:
		return accept(Outcome{ID: c.Host})
	case old != nil && old.Last != c.ExpectedLast:
		return deny(Conflict)
	case old == nil && c.ExpectedLast != (command.ID{}):
		return deny(NotFound)
	case refused != nil:
		return command.Decision{Outcome: Outcome{Refusal: refused}}
	}
	detail := "added; scopes " + list(next.Scopes)
	if old != nil {
		detail = strings.Join(publisherChanges(old, next), "; ")
	}
	return accept(Outcome{ID: c.Host, Count: 1}, put(TablePublishers, next), detailEvent(m, EventPublisherApplied, who, c.Host, clipDetail(detail)))
}

// declared returns the row that the declaration makes of old, or why it can't be one.
func (c *ApplyPublisher) declared(v View, old *Publisher, who caller, m command.Meta) (*Publisher, *Refusal) {
	bad := func(field, note string) (*Publisher, *Refusal) { return nil, outcome(badField(field, note)).Refusal }
	next := &Publisher{Host: c.Host, Created: stateTime(m), ManagedBy: c.Manager}
	switch {
	case old != nil:
		next = old
	case count(v.Publishers()) >= maxPublishers:
		return nil, outcome(deny(TooManyPublishers)).Refusal
	}
	next = next.changed(m)
	field, note := (&PutPublisher{
		Host: c.Host, Name: c.Name, Scopes: c.Scopes, Defaults: c.Defaults, MaxClients: c.MaxClients, LongRetry: c.LongRetry, RedirectURIs: c.RedirectURIs,
	}).onto(v, next)
	switch {
	case note != "":
		return bad(field, note)
	case checkText(c.Manager, 0, maxManager) != "":
		return bad("manager", checkText(c.Manager, 0, maxManager))
	case next.ManagedBy != "" && next.ManagedBy != c.Manager && !c.Adopt:
		return bad("managed_by", "is "+next.ManagedBy)
	}
	if next.State != PublisherApproved && next.State != PublisherRejected {
		next.approve(who, m)
	}
	if len(c.Declared) > 0 {
		next.Declared = newest(c.Declared)
	}
	if c.Adopt {
		next.ManagedBy = c.Manager
	}
	return next, nil
}

// publisherChanges returns the differences between two rows that a review decides on, as the
// audit trail has them.
func publisherChanges(old, next *Publisher) (all differences) {
	all.text("state", string(old.State), string(next.State))
	all.text("name", old.Name, next.Name)
	all.members("scopes", old.Scopes, next.Scopes)
	all.members("default_scopes", old.Defaults, next.Defaults)
	all.text("max_clients", strconv.Itoa(old.MaxClients), strconv.Itoa(next.MaxClients))
	all.text("long_retry", strconv.FormatBool(old.LongRetry), strconv.FormatBool(next.LongRetry))
	all.members("redirect_uris", old.RedirectURIs, next.RedirectURIs)
	all.text("managed_by", old.ManagedBy, next.ManagedBy)
	return all
}
