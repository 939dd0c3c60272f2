package admin

import (
	"context"
	"encoding/hex"
	"slices"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A ResourceServersQuery requests everything that is known of some resource servers, in one
// view.
type ResourceServersQuery struct {
	ResourceServers []ResourceServerQuestion `json:"resource_servers"`
	Grants          bool                     `json:"grants,omitempty"` // like ClientsQuery.Grants
}

// A ResourceServerQuestion names a resource server by its identifier URI.
type ResourceServerQuestion struct {
	ID      string           `json:"id"`
	Secrets []DeclaredSecret `json:"secrets,omitempty"` // like ClientQuestion.Secrets
}

// DescribedResourceServers has those of the resource servers that exist.
type DescribedResourceServers struct {
	ResourceServers []DescribedResourceServer `json:"resource_servers"`
}

// A DescribedResourceServer is a resource server with the answers to a
// ResourceServerQuestion.
type DescribedResourceServer struct {
	ResourceServer
	SecretIDs  []string `json:"secret_ids,omitempty"` // like DescribedClient.SecretIDs
	LiveGrants          // that get no more tokens if it is removed
}

func (c *call) describeResourceServers(ctx context.Context, q ResourceServersQuery) (DescribedResourceServers, error) {
	out := DescribedResourceServers{ResourceServers: []DescribedResourceServer{}}
	if err := c.comparing(slices.ContainsFunc(q.ResourceServers, func(one ResourceServerQuestion) bool { return len(one.Secrets) > 0 })); err != nil {
		return out, err
	}
	v, err := c.fresh(ctx) // changes are planned on it
	if err != nil {
		return out, err
	}
	for _, one := range q.ResourceServers {
		row := v.ResourceServer(one.ID)
		if row == nil {
			continue
		}
		d := DescribedResourceServer{ResourceServer: resourceServerOf(v, row)}
		if d.SecretIDs, err = c.secretIDs(resourceSubject(one.ID), one.Secrets, row.Secrets); err != nil {
			return out, err
		}
		out.ResourceServers = append(out.ResourceServers, d)
	}
	if q.Grants {
		index := make(map[string]*LiveGrants, len(out.ResourceServers))
		for i := range out.ResourceServers {
			index[out.ResourceServers[i].ID] = &out.ResourceServers[i].LiveGrants
		}
		c.countGrants(v, func(g *ledger.Grant) *LiveGrants {
			if s, ok := v.ResourceServerOf(g); ok && s != nil {
				return index[s.ID]
			}
			return nil
		})
	}
	return out, nil
}

// A DeclaredResourceServer is what a file of the operator declares a resource server to be,
// and what the operator saw of it. See ledger.ApplyResourceServer.
type DeclaredResourceServer struct {
	ID     string   `json:"id"` // identifier URI
	Name   string   `json:"name"`
	Scopes []string `json:"scopes,omitempty"` // none means every scope
	// Secrets are all secrets that are to be active; nil leaves them as they are.
	Secrets *[]DeclaredSecret `json:"secrets,omitempty"`
	Version string            `json:"version,omitempty"` // ResourceServer.Version that the operator saw; "" means that there was none
	Manager string            `json:"manager"`
	Adopt   bool              `json:"adopt,omitempty"`
}

func (c *call) applyResourceServer(ctx context.Context, q DeclaredResourceServer) (Applied, error) {
	subject := resourceSubject(q.ID)
	if err := checkScopes(subject, q.Scopes); err != nil {
		return Applied{}, err
	}
	if q.Manager == "" {
		return Applied{}, badField(subject, "manager", "is empty")
	}
	seen, err := versionOf(subject, q.Version)
	if err != nil {
		return Applied{}, err
	}
	cmd := &ledger.ApplyResourceServer{
		Actor: c.actor, ID: q.ID, Name: q.Name, Scopes: q.Scopes, NamesSecrets: q.Secrets != nil,
		ExpectedLast: seen, Manager: q.Manager, Adopt: q.Adopt,
	}
	if q.Secrets != nil {
		if cmd.Secrets, err = c.declaredSecrets(subject, *q.Secrets); err != nil {
			return Applied{}, err
		}
	}
	out, err := c.propose(ctx, subject, cmd)
	if err != nil {
		return Applied{}, err
	}
	return appliedRow(q.ID, q.Version, out), nil
}

// versionOf returns the id of the command that the Version of a row names, zero for "".
func versionOf(subject, version string) (id command.ID, err error) {
	b, err := hex.DecodeString(version)
	if err != nil || len(b) != 0 && len(b) != len(id) {
		return id, badField(subject, "version", "is not that of a row")
	}
	copy(id[:], b)
	return id, nil
}
