package admin

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A NewPublisher lists a publisher: a host whose metadata documents are clients, or "local" for
// the programs on the user's computer, which register themselves. It approves one that is
// pending or rejected.
type NewPublisher struct {
	Host       string   `json:"host"`
	Name       string   `json:"name,omitempty"`
	Scopes     []string `json:"scopes"`                   // the most that its clients may ask for
	Defaults   []string `json:"default_scopes,omitempty"` // what they get if they ask for none; only scopes that don't write
	MaxClients int      `json:"max_clients,omitempty"`    // 0 means 20
	// LongRetry lets several processes share a refresh token: a refresh may be repeated for the
	// lifetime of an access token.
	LongRetry bool `json:"long_retry,omitempty"`
	// RedirectURIs are the private-use redirection URIs that programs may register, for "local".
	RedirectURIs []string `json:"redirect_uris,omitempty"`
}

// A PublisherRef names a publisher by its host.
type PublisherRef struct {
	Host    string `json:"host"`
	Version string `json:"version,omitempty"` // for a removal: refuse it if the publisher was changed since; "" matches any
}

// A PublisherFilter selects publishers of the list.
type PublisherFilter struct {
	State  string `json:"state,omitempty"`  // pending, approved or rejected; "" for all
	Grants bool   `json:"grants,omitempty"` // count the live grants, which walks all users
}

// A PublisherList is ordered by host.
type PublisherList struct {
	Publishers []Publisher `json:"publishers"`
}

// A Publisher is a host that publishes metadata documents of clients.
type Publisher struct {
	Host         string              `json:"host"`
	Name         string              `json:"name,omitempty"`
	State        string              `json:"state"`
	Reason       string              `json:"reason,omitempty"` // of a rejection
	Scopes       []string            `json:"scopes"`
	Defaults     []string            `json:"default_scopes"`
	MaxClients   int                 `json:"max_clients,omitempty"` // with a document each; "local" publishes none
	LongRetry    bool                `json:"long_retry"`
	RedirectURIs []string            `json:"redirect_uris,omitempty"` // of "local", private-use ones
	RequestedBy  string              `json:"requested_by,omitempty"`  // user name
	Requested    time.Time           `json:"requested_at,omitzero"`
	ReviewedBy   string              `json:"reviewed_by,omitempty"`
	Reviewed     time.Time           `json:"reviewed_at,omitzero"`
	ManagedBy    string              `json:"managed_by,omitempty"` // like Client.ManagedBy
	Version      string              `json:"version"`              // differs after each change
	LiveGrants                       // for its clients, if PublisherFilter.Grants is set
	Clients      []PublishedDocument `json:"clients"`

	MaxRegistered int `json:"max_registered"` // clients without a document
}

// A PublishedDocument is a client of a publisher.
type PublishedDocument struct {
	ClientID string `json:"client_id"` // the URL of the document
	ID       string `json:"id"`        // of the client here
	Name     string `json:"name"`
	State    string `json:"state"`
	Proposed bool   `json:"proposed"` // a change of the document awaits a review
}

// A PublisherEdit changes the fields that are set.
type PublisherEdit struct {
	Host         string    `json:"host"`
	Name         *string   `json:"name,omitempty"`
	Scopes       *[]string `json:"scopes,omitempty"`
	Defaults     *[]string `json:"default_scopes,omitempty"`
	MaxClients   *int      `json:"max_clients,omitempty"`
	LongRetry    *bool     `json:"long_retry,omitempty"`
	RedirectURIs *[]string `json:"redirect_uris,omitempty"`
}

// A PublisherRejection says why a publisher's clients are refused from now on.
type PublisherRejection struct {
	Host   string `json:"host"`
	Reason string `json:"reason,omitempty"`
}

func publisherSubject(host string) string { return "publisher " + host }

func (c *call) addPublisher(ctx context.Context, q NewPublisher) (Publisher, error) {
	return c.putPublisher(ctx, &ledger.PutPublisher{
		Host: q.Host, Name: q.Name, Scopes: q.Scopes, Defaults: q.Defaults, MaxClients: q.MaxClients, LongRetry: q.LongRetry, RedirectURIs: q.RedirectURIs, New: true,
	})
}

func (c *call) putPublisher(ctx context.Context, cmd *ledger.PutPublisher) (Publisher, error) {
	subject := publisherSubject(cmd.Host)
	for _, scopes := range [][]string{cmd.Scopes, cmd.Defaults} {
		if err := checkScopes(subject, scopes); err != nil {
			return Publisher{}, err
		}
	}
	cmd.Actor = c.actor
	if _, err := c.propose(ctx, subject, cmd); err != nil {
		return Publisher{}, err
	}
	return c.showPublisher(ctx, PublisherRef{Host: cmd.Host})
}

func (c *call) listPublishers(ctx context.Context, q PublisherFilter) (PublisherList, error) {
	list := PublisherList{Publishers: []Publisher{}}
	v, err := c.view(ctx)
	if err != nil {
		return list, err
	}
	for p := range v.Publishers() {
		if q.State == "" || q.State == string(p.State) {
			list.Publishers = append(list.Publishers, publisherOf(v, p))
		}
	}
	if q.Grants {
		c.countPublisherGrants(v, list.Publishers)
	}
	return list, nil
}

func (c *call) showPublisher(ctx context.Context, q PublisherRef) (Publisher, error) {
	v, err := c.view(ctx)
	if err != nil {
		return Publisher{}, err
	}
	p := v.Publisher(q.Host)
	if p == nil {
		return Publisher{}, notFound(publisherSubject(q.Host))
	}
	return publisherOf(v, p), nil
}

func publisherOf(v ledger.View, p *ledger.Publisher) Publisher {
	out := Publisher{
		Host: p.Host, Name: p.Name, State: string(p.State), Reason: p.Reason, Scopes: notNil(p.Scopes), Defaults: notNil(p.Defaults),
		MaxClients: p.MaxClients, LongRetry: p.LongRetry, RedirectURIs: p.RedirectURIs, Requested: stdTime(p.Requested), Reviewed: stdTime(p.Reviewed),
		ReviewedBy: userName(v, p.ReviewedBy), ManagedBy: p.ManagedBy, Version: hex.EncodeToString(p.Last[:]), Clients: []PublishedDocument{},
		MaxRegistered: p.MaxRegistered(),
	}
	if p.RequestedBy != "" {
		out.RequestedBy = userName(v, p.RequestedBy)
	}
	for one := range v.ClientsOfPublisher(p.Host) {
		out.Clients = append(out.Clients, PublishedDocument{
			ClientID: one.ClientID(), ID: one.ID, Name: one.Name, State: string(one.State), Proposed: one.Proposed != nil,
		})
	}
	return out
}

func (c *call) setPublisher(ctx context.Context, q PublisherEdit) (Publisher, error) {
	v, err := c.fresh(ctx)
	if err != nil {
		return Publisher{}, err
	}
	old := v.Publisher(q.Host)
	if old == nil {
		return Publisher{}, notFound(publisherSubject(q.Host))
	}
	if old.State != ledger.PublisherApproved { // the command would approve it
		return Publisher{}, refusal(publisherSubject(q.Host), &ledger.Refusal{Cause: ledger.WrongState})
	}
	cmd := &ledger.PutPublisher{
		Host: old.Host, Name: old.Name, Scopes: old.Scopes, Defaults: old.Defaults, MaxClients: old.MaxClients, LongRetry: old.LongRetry,
		RedirectURIs: old.RedirectURIs, ExpectedLast: old.Last,
	}
	set(&cmd.Name, q.Name)
	set(&cmd.Scopes, q.Scopes)
	set(&cmd.Defaults, q.Defaults)
	set(&cmd.MaxClients, q.MaxClients)
	set(&cmd.LongRetry, q.LongRetry)
	set(&cmd.RedirectURIs, q.RedirectURIs)
	return c.putPublisher(ctx, cmd)
}

// set sets a field to a value that was given.
func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

func (c *call) rejectPublisher(ctx context.Context, q PublisherRejection) (Done, error) {
	return c.endPublisher(ctx, &ledger.EndPublisher{Host: q.Host, How: ledger.EndReject, Reason: q.Reason})
}

func (c *call) removePublisher(ctx context.Context, q PublisherRef) (Done, error) {
	seen, err := versionOf(publisherSubject(q.Host), q.Version)
	if err != nil {
		return Done{}, err
	}
	return c.endPublisher(ctx, &ledger.EndPublisher{Host: q.Host, How: ledger.EndRemove, ExpectedLast: seen})
}

func (c *call) revokePublisher(ctx context.Context, q PublisherRef) (Done, error) {
	return c.endPublisher(ctx, &ledger.EndPublisher{Host: q.Host, How: ledger.EndGrants})
}

func (c *call) endPublisher(ctx context.Context, cmd *ledger.EndPublisher) (Done, error) {
	cmd.Actor = c.actor
	out, err := c.propose(ctx, publisherSubject(cmd.Host), cmd)
	return Done{out.ID}, err
}
