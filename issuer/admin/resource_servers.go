package admin

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A NewResourceServer requests the registration of a resource server.
type NewResourceServer struct {
	ID       string   `json:"id"` // identifier URI
	Name     string   `json:"name"`
	Scopes   []string `json:"scopes,omitempty"` // none means every scope
	Secret   Plain    `json:"secret,omitempty"` // in the format of generated secrets; generated if absent
	NoSecret bool     `json:"no_secret,omitempty"`
}

// An AddedResourceServer has the secret only if it was generated.
type AddedResourceServer struct {
	ID       string `json:"id"`
	SecretID string `json:"secret_id,omitempty"`
	Secret   Plain  `json:"secret,omitempty"`
}

// A ResourceServerRef names a resource server by its identifier URI or its name.
type ResourceServerRef struct {
	ID      string `json:"id"`
	Version string `json:"version,omitempty"` // for a removal, ResourceServer.Version that the operator saw; "" matches any
}

// A ResourceServerFilter selects resource servers of the list. There is nothing to select by.
type ResourceServerFilter struct{}

// A ResourceServerList is ordered by identifier URI.
type ResourceServerList struct {
	ResourceServers []ResourceServer `json:"resource_servers"`
}

// A ResourceServer is a registered resource server.
type ResourceServer struct {
	ID      string    `json:"id"` // identifier URI
	Name    string    `json:"name"`
	Scopes  []string  `json:"scopes"` // none means every scope
	Secrets []Secret  `json:"secrets"`
	Created time.Time `json:"created_at"`
	Changed time.Time `json:"changed_at"`

	ManagedBy string `json:"managed_by,omitempty"` // see ledger.Client.ManagedBy
	Version   string `json:"version"`              // differs after each change
}

// A RemovedResourceServer has the number of grants that were for it. They get no more tokens.
type RemovedResourceServer struct {
	ID     string `json:"id"`
	Grants int    `json:"grants"`
}

// A ResourceServerEdit changes the fields that are set.
type ResourceServerEdit struct {
	ID     string    `json:"id"` // identifier URI or name
	Name   *string   `json:"name,omitempty"`
	Scopes *[]string `json:"scopes,omitempty"`
}

// A NewResourceSecret requests another secret of a resource server.
type NewResourceSecret struct {
	ResourceServer string `json:"resource_server"`  // identifier URI or name
	Secret         Plain  `json:"secret,omitempty"` // like NewResourceServer.Secret
}

// A ResourceSecretRef names a secret of a resource server.
type ResourceSecretRef struct {
	ResourceServer string `json:"resource_server"` // identifier URI or name
	ID             string `json:"id"`
}

func resourceSubject(ref string) string { return "resource server " + ref }

// resourceSecret is secret for a resource server. A given secret must have the format of
// generated ones, which are never throttled.
func (c *call) resourceSecret(subject string, given Plain) (ledger.NewSecret, Plain, error) {
	if given != "" && !credential.IsSecret(given.Reveal()) {
		return ledger.NewSecret{}, "", badField(subject, "secret", "must have the format of a generated secret")
	}
	return c.secret(subject, given)
}

func (c *call) addResourceServer(ctx context.Context, q NewResourceServer) (AddedResourceServer, error) {
	subject := resourceSubject(q.ID)
	if err := checkScopes(subject, q.Scopes); err != nil {
		return AddedResourceServer{}, err
	}
	cmd := &ledger.PutResourceServer{Actor: c.actor, ID: q.ID, Name: q.Name, Scopes: q.Scopes, New: true}
	out := AddedResourceServer{ID: q.ID}
	if !q.NoSecret {
		s, made, err := c.resourceSecret(subject, q.Secret)
		if err != nil {
			return AddedResourceServer{}, err
		}
		cmd.Secret, out.SecretID, out.Secret = &s, s.ID, made
	}
	if _, err := c.propose(ctx, subject, cmd); err != nil {
		return AddedResourceServer{}, err
	}
	return out, nil
}

func (c *call) listResourceServers(ctx context.Context, _ ResourceServerFilter) (ResourceServerList, error) {
	list := ResourceServerList{ResourceServers: []ResourceServer{}}
	v, err := c.view(ctx)
	if err != nil {
		return list, err
	}
	for s := range v.ResourceServers() {
		list.ResourceServers = append(list.ResourceServers, resourceServerOf(v, s))
	}
	return list, nil
}

func (c *call) showResourceServer(ctx context.Context, q ResourceServerRef) (ResourceServer, error) {
	v, err := c.view(ctx)
	if err != nil {
		return ResourceServer{}, err
	}
	s := v.ResourceServerNamed(q.ID)
	if s == nil {
		return ResourceServer{}, notFound(resourceSubject(q.ID))
	}
	return resourceServerOf(v, s), nil
}

func resourceServerOf(v ledger.View, s *ledger.ResourceServer) ResourceServer {
	return ResourceServer{
		ID: s.ID, Name: s.Name, Scopes: notNil(s.Scopes), Secrets: secretsOf(v, s.Secrets),
		Created: stdTime(s.Created), Changed: stdTime(s.Changed), ManagedBy: s.ManagedBy, Version: hex.EncodeToString(s.Last[:]),
	}
}

// freshResource returns a resource server to base a change on.
func (c *call) freshResource(ctx context.Context, ref string) (*ledger.ResourceServer, error) {
	v, err := c.fresh(ctx)
	if err != nil {
		return nil, err
	}
	s := v.ResourceServerNamed(ref)
	if s == nil {
		return nil, notFound(resourceSubject(ref))
	}
	return s, nil
}

func (c *call) setResourceServer(ctx context.Context, q ResourceServerEdit) (ResourceServer, error) {
	old, err := c.freshResource(ctx, q.ID)
	if err != nil {
		return ResourceServer{}, err
	}
	cmd := &ledger.PutResourceServer{Actor: c.actor, ID: old.ID, Name: old.Name, Scopes: old.Scopes, ExpectedLast: old.Last}
	set(&cmd.Name, q.Name)
	set(&cmd.Scopes, q.Scopes)
	if err := checkScopes(resourceSubject(old.ID), cmd.Scopes); err != nil {
		return ResourceServer{}, err
	}
	if _, err := c.propose(ctx, resourceSubject(old.ID), cmd); err != nil {
		return ResourceServer{}, err
	}
	return c.showResourceServer(ctx, ResourceServerRef{ID: old.ID})
}

func (c *call) removeResourceServer(ctx context.Context, q ResourceServerRef) (RemovedResourceServer, error) {
	old, err := c.freshResource(ctx, q.ID)
	if err != nil {
		return RemovedResourceServer{}, err
	}
	seen, err := versionOf(resourceSubject(old.ID), q.Version)
	if err != nil {
		return RemovedResourceServer{}, err
	}
	out, err := c.propose(ctx, resourceSubject(old.ID), &ledger.RemoveResourceServer{Actor: c.actor, ID: old.ID, ExpectedLast: seen})
	if err != nil {
		return RemovedResourceServer{}, err
	}
	v, err := c.view(ctx)
	if err != nil {
		return RemovedResourceServer{}, err
	}
	return RemovedResourceServer{ID: out.ID, Grants: v.GrantsFor(old)}, nil
}

func (c *call) addResourceSecret(ctx context.Context, q NewResourceSecret) (AddedSecret, error) {
	old, err := c.freshResource(ctx, q.ResourceServer)
	if err != nil {
		return AddedSecret{}, err
	}
	subject := resourceSubject(old.ID)
	s, made, err := c.resourceSecret(subject, q.Secret)
	if err != nil {
		return AddedSecret{}, err
	}
	cmd := &ledger.AddResourceSecret{Actor: c.actor, Resource: old.ID, Secret: s}
	if _, err := c.propose(ctx, subject, cmd); err != nil {
		return AddedSecret{}, addSecretDetails(err, old.ActiveSecrets())
	}
	return AddedSecret{ID: s.ID, Secret: made}, nil
}

func (c *call) revokeResourceSecret(ctx context.Context, q ResourceSecretRef) (Done, error) {
	old, err := c.freshResource(ctx, q.ResourceServer)
	if err != nil {
		return Done{}, err
	}
	subject := resourceSubject(old.ID) + ": secret " + q.ID
	if _, err := c.propose(ctx, subject, &ledger.RevokeResourceSecret{Actor: c.actor, Resource: old.ID, Secret: q.ID}); err != nil {
		return Done{}, err
	}
	return Done{q.ID}, nil
}

// addSecretDetails adds the number of active secrets to a refusal that is about it.
func addSecretDetails(err error, active int) error {
	if p, ok := err.(*Problem); ok && p.Cause == ledger.TooManySecrets {
		p.Note = fmt.Sprintf("active: %d", active)
	}
	return err
}
