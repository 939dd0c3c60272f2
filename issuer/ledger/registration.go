package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// LocalPublisher is the Publisher.Host of the programs on the user's computer. No host has this
// name. It publishes nothing: its clients are registered ones that receive the code on the
// loopback or at a private-use URI. None is accepted until an administrator lists it. The document
// of a host may have loopback URIs, since the host vouches for them; a registration, which anybody
// can make, may not have them beside those of a host.
const LocalPublisher = "local"

// maxRegisteredOfUser is how many registered clients one user can be the first to allow within
// 24 hours. Nobody can fill a publisher alone in a day.
const maxRegisteredOfUser = 10

// maxRegistered returns the maximum number of registered clients of a publisher that users have
// allowed, deleted ones included. Those of a host never take the place of its documents. All
// copies of a program are one client, see oauth.ShareRegistration.
func maxRegistered(host string) int {
	if host == LocalPublisher {
		return maxClientRows
	}
	return maxClientRows - mostClients
}

// MaxRegistered returns the maximum number of registered clients of p that users have allowed,
// deleted ones included.
func (p *Publisher) MaxRegistered() int { return maxRegistered(p.Host) }

// CheckRegistration returns the publisher of a client with this registration, or why it is
// refused. Field and Note are set with RegistrationRefused.
func (v View) CheckRegistration(r *oauth.Registration) (*Publisher, *Refusal) {
	refuse := func(cause Cause) (*Publisher, *Refusal) {
		return nil, &Refusal{Code: oauth.InvalidRedirectURI, Cause: cause}
	}
	bad := func(code oauth.Code, field, note string) (*Publisher, *Refusal) {
		return nil, &Refusal{Code: code, Cause: RegistrationRefused, Field: field, Note: note}
	}
	if !v.Settings().AcceptsAgents() {
		return refuse(AgentsAreOff)
	}
	if note := v.checkAgentName(r.Name); note != "" {
		return bad(oauth.InvalidClientMetadata, "client_name", note)
	}
	if len(r.RedirectURIs) == 0 || len(r.RedirectURIs) > oauth.MaxRegisteredURIs {
		return bad(oauth.InvalidRedirectURI, "redirect_uris", "must have from 1 to 5 members")
	}
	// The consent page names one publisher, which is the only receiver of the code.
	var publisher string
	for i, uri := range r.RedirectURIs {
		host, note := oauth.RegisteredHost(uri)
		switch {
		case note != "":
		case v.isOwn(uri):
			note = "is an address of this service, not of the application"
		case publisher != "" && cmp.Or(host, LocalPublisher) != publisher:
			return bad(oauth.InvalidRedirectURI, "redirect_uris", "must all be of one host, or on the user's computer")
		default:
			publisher = cmp.Or(host, LocalPublisher)
		}
		if note != "" {
			return bad(oauth.InvalidRedirectURI, fmt.Sprintf("redirect_uris[%d]", i), note)
		}
	}
	p := v.Publisher(publisher)
	switch {
	case p == nil || p.State == PublisherPending:
		return refuse(PublisherUnlisted)
	case p.State == PublisherRejected:
		return refuse(PublisherIsRejected)
	case slices.ContainsFunc(r.RedirectURIs, p.unlisted):
		return bad(oauth.InvalidRedirectURI, "redirect_uris", "has a private-use URI that is not listed here")
	}
	if note := v.likeAnother(r.Name, p.Host); note != "" {
		return bad(oauth.InvalidClientMetadata, "client_name", note)
	}
	return p, nil
}

// unlisted reports whether uri has a private-use scheme and is not one that p lists. p is nil for
// a client without a Document.
func (p *Publisher) unlisted(uri string) bool {
	return p != nil && p.Host == LocalPublisher && !strings.HasPrefix(uri, "http://") && !slices.Contains(p.RedirectURIs, uri)
}

// clientOf returns the client of an authorization request, deleted ones included. A registered
// client has no row before a user allows it; clientOf then returns the row that it would get,
// or why it gets none. It returns nil if there is no such client.
func (v View) clientOf(r *oauth.AuthorizationRequest) (*Client, Cause) {
	c := v.ClientNamed(r.ClientID)
	if c != nil || r.Registration == nil {
		return c, NoCause
	}
	p, refused := v.CheckRegistration(r.Registration)
	if refused != nil {
		return nil, refused.Cause
	}
	return &Client{
		ID: ClientKey(r.ClientID), Type: Public, State: Approved, Owner: publisherOwner(p.Host), Revision: 1,
		Profile:  Profile{Name: r.Registration.Name, RedirectURIs: r.Registration.RedirectURIs},
		Document: &Document{ClientID: r.ClientID, Registered: p.Host},
	}, NoCause
}

// allowed returns the row of a client with a document after a user allowed it now. The first
// time it creates that of a registered client.
func (c *Client) allowed(m command.Meta) *Client {
	next := *c // Last and Changed stay
	noted := *c.Document
	noted.Allowed = stateTime(m)
	next.Document = &noted
	if next.Created == 0 {
		next.Created, next.Changed, next.Last = stateTime(m), stateTime(m), m.ID
	}
	return &next
}
