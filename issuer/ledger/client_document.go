package ledger

import (
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-memdb"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Agents is the setting that says whose documents are used.
type Agents string

// Values of the setting.
const (
	AgentsOff      Agents = ""         // a client_id that is a URL is unknown
	AgentsListed   Agents = "listed"   // those of approved publishers
	AgentsReviewed Agents = "reviewed" // a publisher that isn't known becomes pending
)

// A Document is what a client's row has of its Client ID Metadata Document. The name, the
// website and the redirection URIs of the row are the document's, except for what awaits a
// review. Its scopes are those of its publisher.
//
// A registered client (RFC 7591) has one too, although nobody publishes it: its client_id has
// the whole registration, which never changes.
type Document struct {
	ClientID string   `cbor:"1,keyasint"`           // the URL of the document, or what the registration returned
	Digest   [32]byte `cbor:"2,keyasint"`           // SHA-256 of the document as it was last fetched
	Fresh    Time     `cbor:"3,keyasint"`           // until when it needs no other fetch
	Allowed  Time     `cbor:"4,keyasint,omitempty"` // when a user last allowed the client, 0 if never
	// Registered is the publisher of a registered client: a host, or LocalPublisher. It is ""
	// for a client with a document of its own, which has the host of its URL.
	Registered string `cbor:"5,keyasint,omitempty"`
	// Replaced reports that nothing of what was reviewed is left since the client was suspended:
	// a resumption leaves it to be reviewed again.
	Replaced bool `cbor:"6,keyasint,omitempty"`
}

// Host returns the host of the publisher, or LocalPublisher.
func (d *Document) Host() string {
	if d.Registered != "" {
		return d.Registered
	}
	return oauth.DocumentHost(d.ClientID)
}

const (
	// maxStale is how long after Document.Fresh new authorizations are accepted while the
	// document can't be fetched.
	maxStale = 24 * time.Hour

	maxAgentGrants = 20 // live ones of a user

	agentIdle     = 14 * 24 * time.Hour // at most, of the grant of a document's client
	agentAbsolute = 90 * 24 * time.Hour

	// A client without grants is forgotten when nobody has asked for it for so long. After
	// the last Allow no grant lives longer than agentAbsolute.
	forgetDocument = 30 * 24 * time.Hour
)

// documentID begins the Client.ID of clients with a document. Ids of other clients can't begin
// with it.
const documentID = "doc."

// ClientKey returns the Client.ID for a client_id that was sent. The client_id of a document is
// its URL, and a registered one has the registration: both are too long for every row that
// refers to the client. It returns "" for a Client.ID that isn't a client_id.
func ClientKey(clientID string) string {
	switch {
	case oauth.IsAgentID(clientID):
		sum := digest(clientID)
		return documentID + hex.EncodeToString(sum[:16])
	case strings.HasPrefix(clientID, documentID):
		return ""
	}
	return clientID
}

// ClientID returns the client_id (RFC 6749 §2.2), which is not Client.ID if the client has a
// document.
func (c *Client) ClientID() string {
	if c.Document != nil {
		return c.Document.ClientID
	}
	return c.ID
}

// ClientNamed returns the client with a client_id, deleted ones included, or nil.
func (v View) ClientNamed(clientID string) *Client {
	if c := v.Client(ClientKey(clientID)); c != nil && c.ClientID() == clientID {
		return c
	}
	return nil
}

// usable is like Client.usable, and for a client with a document also depends on the setting
// and on the publisher.
func (v View) usable(c *Client) Cause {
	if c.Document == nil {
		return c.usable()
	}
	p := v.PublisherOf(c)
	switch {
	case !v.Settings().AcceptsAgents():
		return AgentsAreOff
	case p == nil:
		return PublisherUnlisted
	case p.State == PublisherPending:
		return PublisherIsPending
	case p.State == PublisherRejected:
		return PublisherIsRejected
	}
	return c.usable()
}

// A Lookup says what to do about the document of a client_id before View.Authorize.
type Lookup int

// Lookups.
const (
	LookupNone  Lookup = iota // nothing: it has none, or the row is fresh
	LookupNew                 // fetch it, for the first time
	LookupAgain               // fetch it again; the row may be used if that fails
)

// Lookup returns what to do about the document of a client_id, for a user who is signed in,
// or why the document is not looked at. Nothing is fetched for others.
func (v View) Lookup(clientID string, at Time) (Lookup, Cause) {
	settings := v.Settings()
	if !settings.AcceptsAgents() || !oauth.IsDocumentURL(clientID) {
		return LookupNone, NoCause
	}
	host := oauth.DocumentHost(clientID)
	if oauth.CheckDocumentURL(clientID) != "" || v.isOwnHost(host) {
		return LookupNone, DocumentURLRefused
	}
	p := v.Publisher(host)
	switch {
	case settings.Agents == AgentsListed && (p == nil || p.State == PublisherPending):
		return LookupNone, PublisherUnlisted
	case p != nil && p.State == PublisherRejected:
		return LookupNone, PublisherIsRejected
	}
	c := v.ClientNamed(clientID)
	switch {
	case c == nil, p == nil && c.State != Deleted:
		return LookupNew, NoCause
	case c.State != Deleted && at >= c.Document.Fresh:
		return LookupAgain, NoCause
	}
	return LookupNone, NoCause
}

// Stale returns DocumentStale if the document of c was not fetched for so long that c gets no
// new authorizations. Existing grants stay.
func (c *Client) Stale(at Time) Cause {
	if c.Document != nil && c.Document.Registered == "" && at >= c.Document.Fresh.Add(maxStale) {
		return DocumentStale
	}
	return NoCause
}

// agentScope returns the scope of an authorization of a client with a document: what it asked
// for, cut to what its publisher may ask for, or the publisher's defaults.
func (p *Publisher) agentScope(asked string) (string, Cause) {
	if strings.TrimSpace(strings.ReplaceAll(asked, ",", " ")) == "" {
		if len(p.Defaults) == 0 {
			return "", ScopeMissing
		}
		return strings.Join(p.Defaults, " "), NoCause
	}
	kept := p.cut(asked)
	if kept == "" {
		return "", ScopeTooWide
	}
	return kept, NoCause
}

// cut returns what a publisher's clients may have of a scope, in the order of the scope.
func (p *Publisher) cut(asked string) string {
	most := scope.FromClaim(strings.Join(p.Scopes, " "))
	var kept []string
	for _, name := range strings.FieldsFunc(asked, func(r rune) bool { return r == ' ' || r == ',' }) {
		if most.Has(name) && !slices.Contains(kept, name) {
			kept = append(kept, name)
		}
	}
	return strings.Join(kept, " ")
}

// ScopeOf returns the scope that tokens of a grant get at most: that of its authorization, and
// for a client with a document, of that what its publisher may ask for now. It is "" if nothing
// is left, and for a grant without limits.
func (v View) ScopeOf(g *Grant) string { return v.CutScope(g, g.Scope) }

// CutScope is like ScopeOf, for a part of the grant's scope that a token was issued with.
func (v View) CutScope(g *Grant, part string) string {
	if !g.Agent {
		return part
	}
	if c := v.Client(g.Client); c != nil {
		if p := v.PublisherOf(c); p != nil {
			return p.cut(part)
		}
	}
	return part // such a grant has ended
}

// agentGrants counts the live grants of a user for clients with a document.
func (v View) agentGrants(u *User, at Time) (n int) {
	for _, g := range v.grantsOf(u, "", v.Settings(), at) {
		if g.Agent {
			n++
		}
	}
	return n
}

// lifetimes returns how long a refresh token of g may be unused, and how long g may last.
func (g *Grant) lifetimes(s *Settings) (idle, absolute time.Duration) {
	if g.Agent {
		return s.AgentLifetimes()
	}
	return s.RefreshIdle, s.GrantAbsolute
}

// AgentLifetimes returns how long a refresh token of a client with a document may be unused, and
// how long a grant for one may last.
func (s *Settings) AgentLifetimes() (idle, absolute time.Duration) {
	return min(s.RefreshIdle, agentIdle), min(s.GrantAbsolute, agentAbsolute)
}

// NoteDocument records a document that a node fetched for a signed-in user. A client that is
// not known is created; if its publisher isn't known either, that becomes pending.
type NoteDocument struct {
	Actor        Actor         `cbor:"1,keyasint"`
	URL          string        `cbor:"2,keyasint"`
	Name         string        `cbor:"3,keyasint"`
	Website      string        `cbor:"4,keyasint,omitempty"`
	RedirectURIs []string      `cbor:"5,keyasint"`
	Digest       [32]byte      `cbor:"6,keyasint"`
	Age          time.Duration `cbor:"7,keyasint"` // for which it needs no other fetch
}

// Kind implements command.Command.
func (*NoteDocument) Kind() command.Kind { return KindNoteDocument }

// Decide checks the document as far as the node that fetched it did.
func (c *NoteDocument) Decide(txn *memdb.Txn, m command.Meta) command.Decision {
	v := At(txn)
	who, cause := v.identify(c.Actor, m)
	switch {
	case cause != NoCause:
		return deny(cause)
	case who.user == nil:
		return deny(NotAllowed)
	}
	old := v.ClientNamed(c.URL)
	if old != nil && old.Last == m.ID {
		return accept(Outcome{ID: old.ID})
	}
	if field, note := c.check(v); note != "" {
		return badField(field, note)
	}
	lookup, cause := v.Lookup(c.URL, stateTime(m))
	switch {
	case !v.Settings().AcceptsAgents():
		return deny(AgentsAreOff)
	case cause != NoCause:
		return deny(cause)
	case lookup == LookupNone: // another request has fetched it meanwhile
		return accept(Outcome{ID: ClientKey(c.URL)})
	}
	if old != nil && v.PublisherOf(old) != nil {
		return c.again(v, m, who, old)
	}
	return c.first(v, m, who, old)
}

// check returns which field is not valid, and why.
func (c *NoteDocument) check(v View) (field, note string) {
	if note := oauth.CheckDocumentURL(c.URL); note != "" {
		return "client_id", note
	}
	if note := v.checkAgentName(c.Name); note != "" {
		return "client_name", note
	}
	if old := v.ClientNamed(c.URL); old == nil || old.Name != c.Name { // one that was accepted stays
		if note := v.likeAnother(c.Name, oauth.DocumentHost(c.URL)); note != "" {
			return "client_name", note
		}
	}
	if note := checkWebsite(c.Website); note != "" {
		return "website", note
	}
	if len(c.RedirectURIs) == 0 || len(c.RedirectURIs) > MaxRedirectURIs {
		return "redirect_uris", "must have from 1 to 10 members"
	}
	for i, uri := range c.RedirectURIs {
		if note := v.uriFault(c.RedirectURIs, i, oauth.CheckDocumentRedirectURI(uri, oauth.DocumentHost(c.URL))); note != "" {
			return "redirect_uris", note
		}
	}
	return "", ""
}

// checkAgentName returns why the name of a client with a Document is not valid, or "". With a
// name like this service's own, a consent page could be mistaken for one of this service.
func (v View) checkAgentName(name string) string {
	if note := checkText(name, 1, 80); note != "" {
		return note
	}
	if v.LikeService(name) {
		return "is like this service's own"
	}
	return ""
}

// first creates the client, and a pending publisher if there is none.
func (c *NoteDocument) first(v View, m command.Meta, who caller, old *Client) command.Decision {
	host := oauth.DocumentHost(c.URL)
	p, most, kind := v.Publisher(host), pendingClients, EventDocumentAdded
	var changes []command.Change
	switch {
	case p == nil:
		var all, pending, mine int
		for p := range v.Publishers() {
			all++
			if p.State == PublisherPending {
				pending++
			}
			if p.RequestedBy == who.user.ID && stateTime(m) < p.Requested.Add(24*time.Hour) {
				mine++
			}
		}
		if all >= maxPublishers || pending >= maxPending || mine >= maxPendingOfUser {
			return deny(TooManyPublishers)
		}
		kind = EventPublisherRequested
		changes = append(changes, put(TablePublishers, &Publisher{
			Host: host, State: PublisherPending, RequestedBy: who.user.ID, Requested: stateTime(m),
			Created: stateTime(m), Changed: stateTime(m), Last: m.ID,
		}))
	case p.State == PublisherApproved:
		most = p.MaxClients
	}
	if old == nil && v.countClientsOfPublisher(host, false) >= most {
		return deny(TooManyDocuments)
	}
	next := &Client{ID: ClientKey(c.URL), Type: Public, Owner: publisherOwner(host), State: Approved, Created: stateTime(m)}
	profile := c.profile()
	if old != nil { // its publisher was removed; the grants of that time have ended
		next = old.changed(m)
		next.Proposed, next.Refused = nil, nil
		switch {
		case old.State == Pending: // the publisher's review is one of it
			next.State = Approved
		case old.State == Rejected && !old.Profile.equal(&profile):
			next.replaced()
		}
	}
	next.Changed, next.Last = stateTime(m), m.ID
	next.Profile = profile
	next.Document = c.document(old, m)
	next.Revision++
	next.queue(old, m)
	return accept(Outcome{ID: next.ID}, append(changes, put(TableClients, next), c.event(m, kind, who, next.ID))...)
}

func (c *NoteDocument) profile() Profile {
	return Profile{Name: c.Name, Website: c.Website, RedirectURIs: c.RedirectURIs}
}

func (c *NoteDocument) document(old *Client, m command.Meta) *Document {
	age := min(max(c.Age, oauth.MinDocumentAge), oauth.MaxDocumentAge)
	d := &Document{ClientID: c.URL, Digest: c.Digest, Fresh: stateTime(m).Add(age)}
	if old != nil {
		d.Allowed, d.Replaced = old.Document.Allowed, old.Document.Replaced
	}
	return d
}

// again records that a known document was fetched again. What it removes counts at once; a
// new name or another redirection URI is a proposed revision, unless nothing of the client was
// approved: then the review is of the whole.
func (c *NoteDocument) again(v View, m command.Meta, who caller, old *Client) command.Decision {
	next := old.changed(m)
	next.Document = c.document(old, m)
	if c.Digest == old.Document.Digest {
		return accept(Outcome{ID: old.ID}, put(TableClients, next))
	}
	p := c.profile()
	next.Website = p.Website
	switch {
	case old.Profile.equal(&p):
		next.Proposed = nil
	case v.PublisherOf(old).State == PublisherPending && old.State != Rejected:
		next.Profile = p
	case old.unreviewed() || len(intersect(old.RedirectURIs, p.RedirectURIs)) == 0:
		next.Profile, next.Proposed, next.Refused = p, nil, nil
		next.replaced()
	default:
		next.propose(p)
		switch {
		case old.Refused != nil && old.Refused.Profile.equal(&p):
			next.Proposed = nil
		case next.Proposed != nil:
			next.Refused = nil
		}
	}
	if next.Profile.equal(&old.Profile) && sameProposal(next.Proposed, old.Proposed) {
		return accept(Outcome{ID: old.ID}, put(TableClients, next))
	}
	next.Revision++
	next.queue(old, m)
	return accept(Outcome{ID: old.ID}, put(TableClients, next), c.event(m, EventDocumentChanged, who, old.ID))
}

// unreviewed reports whether nothing of c was approved. c has a document.
func (c *Client) unreviewed() bool {
	return c.State == Pending || c.State == Rejected || c.Document.Replaced
}

// replaced records that nothing of what was reviewed of c is left.
func (c *Client) replaced() {
	switch c.State {
	case Approved, Rejected:
		c.State, c.Reason = Pending, ""
	case Suspended:
		d := *c.Document
		d.Replaced = true
		c.Document = &d
	}
}

func (c *NoteDocument) event(m command.Meta, kind EventKind, who caller, id string) command.Change {
	return event(m, Event{Kind: kind, Actor: who.name(), Client: id, Detail: c.URL})
}

// sweepable reports whether a pending publisher can be forgotten.
func (p *Publisher) sweepable(at Time) bool {
	return p.State == PublisherPending && at >= p.Requested.Add(pendingFor)
}

// documentSweepable reports whether a client with a document can be forgotten: it has no
// grants, and nobody has asked for it for long, or its publisher is not known. While that is
// known, an administrator's decision against the client stays, and a client that waits for one.
func (v View) documentSweepable(c *Client, at Time) bool {
	if c.Document == nil {
		return false
	}
	p := v.PublisherOf(c)
	forgotten := p == nil || p.sweepable(at)
	switch {
	case c.State != Approved && !forgotten:
		return false
	case c.Document.Allowed != 0:
		since := max(c.Document.Fresh, c.Document.Allowed.Add(agentAbsolute), v.Restore().At)
		return at >= since.Add(forgetDocument)
	}
	return forgotten || at >= c.Document.Fresh.Add(forgetDocument)
}

// SweepablePublishers returns the hosts of at most limit pending publishers that can be forgotten.
func (v View) SweepablePublishers(limit int, at Time) (hosts []string) {
	for p := range v.Publishers() {
		if len(hosts) >= limit {
			break
		}
		if p.sweepable(at) {
			hosts = append(hosts, p.Host)
		}
	}
	return hosts
}

// SweepableDocuments is like SweepableGrants, for clients with a document.
func (v View) SweepableDocuments(from string, limit int, at Time) (ids []string, next string) {
	for c := range rowsFrom[Client](v, TableClients, max(from, documentID)) {
		if !strings.HasPrefix(c.ID, documentID) {
			break
		}
		if limit--; limit < 0 {
			return ids, c.ID
		}
		if v.documentSweepable(c, at) {
			ids = append(ids, c.ID)
		}
	}
	return ids, ""
}
