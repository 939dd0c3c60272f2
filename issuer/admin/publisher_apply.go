package admin

import (
	"context"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A DeclaredPublisher is what a file of the operator declares a publisher to be, and what the
// operator saw of it. See ledger.ApplyPublisher.
type DeclaredPublisher struct {
	Host         string   `json:"host"`
	Name         string   `json:"name,omitempty"`
	Scopes       []string `json:"scopes"`
	Defaults     []string `json:"default_scopes,omitempty"`
	MaxClients   int      `json:"max_clients,omitempty"` // 0 means 20
	LongRetry    bool     `json:"long_retry,omitempty"`
	RedirectURIs []string `json:"redirect_uris,omitempty"`

	Version string `json:"version,omitempty"` // Publisher.Version that the operator saw; "" means that there was none
	Manager string `json:"manager"`
	Adopt   bool   `json:"adopt,omitempty"`
}

func (c *call) applyPublisher(ctx context.Context, q DeclaredPublisher) (Applied, error) {
	subject := publisherSubject(q.Host)
	for _, scopes := range [][]string{q.Scopes, q.Defaults} {
		if err := checkScopes(subject, scopes); err != nil {
			return Applied{}, err
		}
	}
	if q.Manager == "" {
		return Applied{}, badField(subject, "manager", "is empty")
	}
	seen, err := versionOf(subject, q.Version)
	if err != nil {
		return Applied{}, err
	}
	out, err := c.propose(ctx, subject, &ledger.ApplyPublisher{
		Actor: c.actor, Host: q.Host, Name: q.Name, Scopes: q.Scopes, Defaults: q.Defaults, MaxClients: q.MaxClients, LongRetry: q.LongRetry,
		RedirectURIs: q.RedirectURIs, ExpectedLast: seen, Manager: q.Manager, Adopt: q.Adopt,
	})
	if err != nil {
		return Applied{}, err
	}
	return appliedRow(q.Host, q.Version, out), nil
}

// appliedRow returns the result of a declaration of a row that had a version, "" if there was none.
func appliedRow(id, version string, out ledger.Outcome) Applied {
	result := ResultUnchanged
	switch {
	case out.Count > 0 && version == "":
		result = ResultAdded
	case out.Count > 0:
		result = ResultChanged
	}
	return Applied{ID: id, Result: result}
}

// countPublisherGrants counts the live grants for the clients of publishers.
func (c *call) countPublisherGrants(v ledger.View, publishers []Publisher) {
	index := make(map[string]*LiveGrants, len(publishers))
	for i := range publishers {
		index[publishers[i].Host] = &publishers[i].LiveGrants
	}
	c.countGrants(v, func(g *ledger.Grant) *LiveGrants {
		if !g.Agent {
			return nil
		}
		if client := v.Client(g.Client); client != nil {
			return index[client.Document.Host()]
		}
		return nil
	})
}
