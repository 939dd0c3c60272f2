package ledger

import (
	"slices"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// LocalPublisher is the Publisher.Host of the programs on the user's computer. No host has this
// name. It publishes nothing: its clients are registered ones that receive the code on the
// loopback or at a private-use URI. None is accepted until an administrator lists it.
const LocalPublisher = "local"

// maxRegistered returns the maximum number of registered clients of a publisher that users have
// allowed, deleted ones included. Those of a host never take the place of its documents. All
// copies of a program are one client, see oauth.ShareRegistration.
func maxRegistered(host string) int {
	if host == LocalPublisher {
		return maxClientRows
	}
	return maxClientRows - mostClients
}

// CheckRegistration returns the publisher of a client with this registration, or why it is
// refused. field and note are set with RegistrationRefused.
func (v View) CheckRegistration(r *oauth.Registration) (p *Publisher, cause Cause, field, note string) {
	refuse := func(field, note string) (*Publisher, Cause, string, string) {
		return nil, RegistrationRefused, field, note
	}
	if !v.Settings().AcceptsAgents() {
		return nil, AgentsAreOff, "", ""
	}
	if note := checkText(r.Name, 1, 80); note != "" {
		return refuse("client_name", note)
	}
	if v.isOwnName(r.Name) {
		return refuse("client_name", "is like this service's own")
	}
	if len(r.RedirectURIs) == 0 || len(r.RedirectURIs) > oauth.MaxRegisteredURIs {
		return refuse("redirect_uris", "must be from 1 to 5")
	}
	var publisher string
	for i, uri := range r.RedirectURIs {
		host, note := oauth.RegisteredHost(uri)
		if note == "" && v.isOwn(uri) {
			note = "is an address of this service, not of the application"
		}
		if host == "" {
			host = LocalPublisher
		}
		if note == "" && i > 0 && host != publisher {
			// The consent page names one publisher, so all must receive the code as it.
			note = "must all have one host, or all be on the user's computer"
		}
		if note != "" {
			return refuse("redirect_uris", note)
		}
		publisher = host
	}
	p = v.Publisher(publisher)
	switch {
	case p == nil || p.State == PublisherPending:
		return nil, PublisherUnlisted, "", ""
	case p.State == PublisherRejected:
		return nil, PublisherIsRejected, "", ""
	case slices.ContainsFunc(r.RedirectURIs, p.unlisted):
		return refuse("redirect_uris", "has a private-use URI that is not listed here")
	}
	return p, NoCause, "", ""
}

// unlisted reports whether uri has a private-use scheme and is not one that p lists.
func (p *Publisher) unlisted(uri string) bool {
	return p.Host == LocalPublisher && oauth.CheckPrivateURI(uri) == "" && !slices.Contains(p.RedirectURIs, uri)
}

// clientOf returns the client of an authorization request, deleted ones included. A registered
// client has no row before a user allows it; clientOf then returns the row that it would get,
// or why it gets none. It returns nil if there is no such client.
func (v View) clientOf(r *oauth.AuthorizationRequest) (*Client, Cause) {
	c := v.ClientNamed(r.ClientID)
	if c != nil || r.Registration == nil {
		return c, NoCause
	}
	p, cause, _, _ := v.CheckRegistration(r.Registration)
	if cause != NoCause {
		return nil, cause
	}
	return &Client{
		ID: ClientKey(r.ClientID), Type: Public, State: Approved, Owner: p.Owner(), Revision: 1,
		Profile:  Profile{Name: r.Registration.Name, RedirectURIs: r.Registration.RedirectURIs},
		Document: &Document{ClientID: r.ClientID, Registered: p.Host},
	}, NoCause
}

// allowed returns the row of a client with a document after a user allowed it now. The first
// time it creates that of a registered client.
func (c *Client) allowed(at Time) *Client {
	next := *c // Last and Changed stay
	noted := *c.Document
	noted.Allowed = at
	next.Document = &noted
	if next.Created == 0 {
		next.Created, next.Changed = at, at
	}
	return &next
}
