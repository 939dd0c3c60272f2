package ledger

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// A PublisherState is the state of a publisher. The documents of an approved publisher are
// clients at once; those of another one can't be used.
type PublisherState string

// Publisher states: pending → approved or rejected; approved ⇄ rejected.
const (
	PublisherPending  PublisherState = "pending"
	PublisherApproved PublisherState = "approved"
	PublisherRejected PublisherState = "rejected"
)

// A Publisher is a host that publishes Client ID Metadata Documents, or LocalPublisher. Administrators review
// the publisher once, not each of its clients.
type Publisher struct {
	Host   string         `cbor:"1,keyasint"`           // see oauth.CheckPublisher
	Name   string         `cbor:"2,keyasint,omitempty"` // for reviewers; "" if it has none
	State  PublisherState `cbor:"3,keyasint"`
	Reason string         `cbor:"4,keyasint,omitempty"` // of a rejection
	// Scopes are the most that its clients may ask for, Defaults what they get if they ask for
	// none. Both are in catalogue order. Defaults only read.
	Scopes   []string `cbor:"5,keyasint,omitempty"`
	Defaults []string `cbor:"6,keyasint,omitempty"`
	// MaxClients is the maximum number of its clients, each with a document of its own.
	MaxClients int `cbor:"7,keyasint,omitempty"`
	// LongRetry is for clients that share one refresh token among several processes: a refresh
	// may be repeated for the lifetime of an access token, while its successor is unused.
	LongRetry bool `cbor:"8,keyasint,omitempty"`

	RequestedBy string `cbor:"9,keyasint,omitempty"` // id of the user whose authorization made it pending
	Requested   Time   `cbor:"10,keyasint,omitempty"`
	ReviewedBy  string `cbor:"11,keyasint,omitempty"` // like Event.Actor
	Reviewed    Time   `cbor:"12,keyasint,omitempty"`

	// RedirectURIs are the private-use redirection URIs of LocalPublisher's clients.
	RedirectURIs []string `cbor:"16,keyasint,omitempty"`

	Created Time       `cbor:"13,keyasint"`
	Changed Time       `cbor:"14,keyasint"`
	Last    command.ID `cbor:"15,keyasint"` // the last command that changed this row

	ManagedBy string `cbor:"17,keyasint,omitempty"` // like Client.ManagedBy
	Declared  string `cbor:"18,keyasint,omitempty"` // like Client.Declared
}

const (
	maxPublishers = 1000

	// DefaultMaxClients is Publisher.MaxClients of a publisher for which none is given, and
	// mostClients its greatest value.
	DefaultMaxClients = 20
	mostClients       = 100
	// maxClientRows is the maximum number of clients of a publisher, deleted and registered
	// ones included. EndPublisher writes them all and its own row and event: no more than
	// command.MaxChanges, and its record no more effects than MaxReplay.
	maxClientRows = 190

	// maxPending is the maximum number of pending publishers, and maxPendingOfUser of those
	// that one user requests within a day. Nobody can fill the review queue alone.
	maxPending       = 50
	maxPendingOfUser = 3
	// maxPrivateURIs is the maximum number of Publisher.RedirectURIs.
	maxPrivateURIs = 50
	// pendingClients is the maximum number of clients of a pending publisher.
	pendingClients = 3
	// pendingFor is how long a publisher waits for a review before it is forgotten.
	pendingFor = 7 * 24 * time.Hour
)

// Publisher returns the publisher with a host, or nil.
func (v View) Publisher(host string) *Publisher {
	return first[Publisher](v, TablePublishers, indexID, host)
}

// Publishers returns all publishers by host.
func (v View) Publishers() iter.Seq[*Publisher] { return rowsFrom[Publisher](v, TablePublishers, "") }

// publisherOwner returns the Client.Owner of a publisher's clients. No user has it as id.
func publisherOwner(host string) string { return "publisher:" + host }

// ClientsOfPublisher returns the clients whose documents a host publishes, by name.
func (v View) ClientsOfPublisher(host string) iter.Seq[*Client] {
	return v.ClientsOf(publisherOwner(host))
}

// countClientsOfPublisher counts its clients that are registered, or those with a document of
// their own.
func (v View) countClientsOfPublisher(host string, registered bool) (n int) {
	for c := range v.ClientsOfPublisher(host) {
		if (c.Document.Registered != "") == registered {
			n++
		}
	}
	return n
}

// PublisherOf returns the publisher of a client, or nil if its document was not listed or it
// has none.
func (v View) PublisherOf(c *Client) *Publisher {
	if c.Document == nil {
		return nil
	}
	return v.Publisher(c.Document.Host())
}

// changed returns a copy of p for a command to change. Slices are shared with p.
func (p *Publisher) changed(m command.Meta) *Publisher {
	next := *p
	next.Last, next.Changed = m.ID, stateTime(m)
	return &next
}

// PutPublisher lists a publisher, or changes it. It approves one that is pending or rejected.
type PutPublisher struct {
	Actor      Actor    `cbor:"1,keyasint"`
	Host       string   `cbor:"2,keyasint"`
	Name       string   `cbor:"3,keyasint,omitempty"`
	Scopes     []string `cbor:"4,keyasint,omitempty"`
	Defaults   []string `cbor:"5,keyasint,omitempty"`
	MaxClients int      `cbor:"6,keyasint,omitempty"` // 0 means DefaultMaxClients
	LongRetry  bool     `cbor:"7,keyasint,omitempty"`
	New        bool     `cbor:"8,keyasint,omitempty"` // refuse to change one that is approved
	// ExpectedLast is the Publisher.Last that the sender saw. The command is refused if the
	// publisher was changed or removed since. Zero matches any.
	ExpectedLast command.ID `cbor:"9,keyasint,omitzero"`
	// RedirectURIs are for LocalPublisher only.
	RedirectURIs []string `cbor:"10,keyasint,omitempty"`
}

// Kind implements command.Command.
func (*PutPublisher) Kind() command.Kind { return KindPutPublisher }

// Decide narrows a publisher at once. The rows of its grants keep their scopes; what their tokens
// get is cut: see View.ScopeOf.
func (c *PutPublisher) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identifyAdministrator(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	old := v.Publisher(c.Host)
	switch {
	case old != nil && old.Last == m.ID:
		return accept(Outcome{ID: c.Host})
	case old != nil && c.New && old.State == PublisherApproved:
		return taken("host")
	case c.ExpectedLast != (command.ID{}) && (old == nil || old.Last != c.ExpectedLast):
		return deny(Conflict)
	case old == nil && count(v.Publishers()) >= maxPublishers:
		return deny(TooManyPublishers)
	}
	next := &Publisher{Host: c.Host, Created: stateTime(m), Changed: stateTime(m), Last: m.ID}
	if old != nil {
		next = old.changed(m)
	}
	if field, note := c.onto(v, next); note != "" {
		return badField(field, note)
	}
	kind, detail := EventPublisherAdded, list(next.Scopes)
	if next.State == PublisherApproved {
		kind, detail = EventPublisherEdited, clipDetail(strings.Join(publisherChanges(old, next), "; "))
		if detail == "" {
			return accept(Outcome{ID: c.Host})
		}
	} else {
		next.approve(who, m)
	}
	if !who.fresh(m) {
		return deny(SignInTooOld)
	}
	return accept(Outcome{ID: c.Host, Count: 1}, put(TablePublishers, next), detailEvent(m, kind, who, c.Host, detail))
}

// onto sets the fields of p that a review decides on, or returns which one is not valid, and why.
func (c *PutPublisher) onto(v View, p *Publisher) (field, note string) {
	scopes, defaults, field, note := c.check(v)
	if note != "" {
		return field, note
	}
	p.Name, p.Scopes, p.Defaults, p.LongRetry, p.MaxClients, p.RedirectURIs = c.Name, scopes, defaults, c.LongRetry, c.MaxClients, c.RedirectURIs
	if p.MaxClients == 0 {
		p.MaxClients = DefaultMaxClients
	}
	return "", ""
}

func (p *Publisher) approve(who caller, m command.Meta) {
	p.State, p.Reason, p.ReviewedBy, p.Reviewed = PublisherApproved, "", who.name(), stateTime(m)
}

// check returns both lists of scopes in catalogue order, or which field is not valid, and why.
func (c *PutPublisher) check(v View) (scopes, defaults []string, field, note string) {
	if c.Host != LocalPublisher {
		if note := oauth.CheckPublisher(c.Host); note != "" {
			return nil, nil, "host", note
		}
		if len(c.RedirectURIs) > 0 {
			return nil, nil, "redirect_uris", "must be empty for a host"
		}
	}
	if len(c.RedirectURIs) > maxPrivateURIs {
		return nil, nil, "redirect_uris", "must be at most 50"
	}
	for i, uri := range c.RedirectURIs {
		if note := v.uriFault(c.RedirectURIs, i, oauth.CheckPrivateURI(uri)); note != "" {
			return nil, nil, "redirect_uris", note
		}
	}
	if v.isOwnHost(c.Host) {
		return nil, nil, "host", "is this service's own"
	}
	if note := checkText(c.Name, min(len(c.Name), 1), 80); note != "" {
		return nil, nil, "name", note
	}
	most, _, err := scope.Parse(strings.Join(c.Scopes, " "))
	switch {
	case err != nil:
		return nil, nil, "scopes", "names a scope that does not exist"
	case most.Empty():
		return nil, nil, "scopes", "needs at least one"
	}
	some, _, err := scope.Parse(strings.Join(c.Defaults, " "))
	switch {
	case err != nil:
		return nil, nil, "defaults", "names a scope that does not exist"
	case !most.Contains(some):
		return nil, nil, "defaults", "has a scope that is not among the scopes"
	case writes(some):
		return nil, nil, "defaults", "has a scope that is not for reading only"
	case c.MaxClients < 0 || c.MaxClients > mostClients:
		return nil, nil, "max_clients", "must be from 1 to 100"
	}
	return most.Names(), orElse(some.Names(), nil), "", ""
}

// writes reports whether a scope of s permits changes.
func writes(s scope.Set) bool {
	return slices.ContainsFunc(scope.Catalogue(), func(one scope.Scope) bool { return one.Writes && s.Has(one.Name) })
}

// isOwnHost reports whether a host is one of this service's.
func (v View) isOwnHost(host string) bool { return slices.Contains(v.Settings().Hosts(), host) }

// EndPublisher ends all grants for a publisher's clients, of all users, and may do more.
type EndPublisher struct {
	Actor        Actor        `cbor:"1,keyasint"`
	Host         string       `cbor:"2,keyasint"`
	How          PublisherEnd `cbor:"3,keyasint"`
	Reason       string       `cbor:"4,keyasint,omitempty"` // for EndReject
	ExpectedLast command.ID   `cbor:"5,keyasint,omitzero"`  // like PutPublisher.ExpectedLast
}

// A PublisherEnd is what happens to a publisher whose grants end.
type PublisherEnd string

// What EndPublisher does to the publisher.
const (
	EndGrants PublisherEnd = "revoke" // nothing: its clients may ask users again
	EndReject PublisherEnd = "reject" // its clients can't be used, and it can't be requested again
	EndRemove PublisherEnd = "remove" // its row is removed, so that it may be requested again
)

// Kind implements command.Command.
func (*EndPublisher) Kind() command.Kind { return KindEndPublisher }

// Decide changes the publisher's row and those of its clients, however many grants there are.
func (c *EndPublisher) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identifyAdministrator(c.Actor, m)
	if cause != NoCause {
		return deny(cause)
	}
	old := v.Publisher(c.Host)
	switch {
	case old == nil && m.Again && c.How == EndRemove, old != nil && old.Last == m.ID:
		return accept(Outcome{ID: c.Host})
	case old == nil:
		return deny(NotFound)
	case c.ExpectedLast != (command.ID{}) && old.Last != c.ExpectedLast:
		return deny(Conflict)
	}
	if note := checkText(c.Reason, 0, MaxReason); note != "" {
		return badField("reason", note)
	}
	next := old.changed(m)
	var kind EventKind
	change := put(TablePublishers, next)
	switch c.How {
	case EndGrants:
		kind = EventPublisherRevoked
	case EndReject:
		if old.State == PublisherRejected {
			return deny(WrongState)
		}
		kind = EventPublisherRejected
		next.State, next.Reason, next.ReviewedBy, next.Reviewed = PublisherRejected, c.Reason, who.name(), stateTime(m)
	case EndRemove:
		kind, change = EventPublisherRemoved, remove(TablePublishers, old)
	default:
		return badField("how", "must be revoke, reject or remove")
	}
	changes := []command.Change{change}
	for client := range v.ClientsOfPublisher(c.Host) {
		if len(changes) > maxClientRows { // a larger decision would stop every node
			return deny(TooManyDocuments)
		}
		changes = append(changes, put(TableClients, client.withGrantsEnded(m)))
	}
	return accept(Outcome{ID: c.Host, Count: len(changes) - 1}, append(changes, detailEvent(m, kind, who, c.Host, c.Reason))...)
}

// withGrantsEnded returns a copy of c after all its grants so far have ended.
func (c *Client) withGrantsEnded(m command.Meta) *Client {
	next := c.changed(m)
	next.GrantsRevokedBefore, next.TokensRevokedBefore = m.Seq, stateTime(m).Add(MaxAhead)
	return next
}
