package admin

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A GrantFilter selects grants of a user, of a client, or of both. One of them is
// required, since there may be a million grants.
type GrantFilter struct {
	User   string `json:"user,omitempty"` // name or id
	Client string `json:"client,omitempty"`
	Ended  bool   `json:"ended,omitempty"` // include grants that have ended and are still stored
	Limit  int    `json:"limit,omitempty"` // 0 means no limit
}

// A GrantList has Truncated set if the limit omitted some.
type GrantList struct {
	Grants    []Grant `json:"grants"`
	Truncated bool    `json:"truncated"`
}

// A Grant is one consent of a user to a client.
type Grant struct {
	ID         string    `json:"id"`
	User       string    `json:"user"` // name
	UserID     string    `json:"user_id"`
	Client     string    `json:"client"` // client_id
	State      string    `json:"state"`  // "live" or "ended"
	EndCause   string    `json:"end_cause,omitempty"`
	Scopes     []string  `json:"scopes"`
	Legacy     bool      `json:"legacy"`
	Resource   string    `json:"resource,omitempty"` // identifier of the resource server that it is for; absent for the cluster's audience
	Generation uint32    `json:"generation_due"`
	Created    time.Time `json:"created_at"`
	Used       time.Time `json:"last_used_at,omitzero"`
	Ended      time.Time `json:"ended_at,omitzero"`
}

func grantOf(v ledger.View, g *ledger.Grant) Grant {
	out := Grant{
		ID: g.ID.String(), User: userName(v, g.User), UserID: g.User, Client: clientID(v, g.Client),
		State: "live", Scopes: notNil(strings.Fields(v.ScopeOf(g))), Legacy: g.Legacy, Generation: g.Due,
		Created: stdTime(g.Created), Used: stdTime(g.Used), Ended: stdTime(g.Ended),
	}
	if s, ok := v.ResourceServerOf(g); ok && s != nil {
		out.Resource = s.ID
	}
	if cause := v.GrantUnredeemable(g); cause != ledger.NoCause {
		out.State, out.EndCause = "ended", cause.String()
	}
	return out
}

// clientID returns the client_id of the client with an id, or the id if it is gone.
func clientID(v ledger.View, id string) string {
	if c := v.Client(id); c != nil {
		return c.ClientID()
	}
	return id
}

func (c *call) listGrants(ctx context.Context, q GrantFilter) (GrantList, error) {
	list := GrantList{Grants: []Grant{}}
	v, err := c.view(ctx)
	if err != nil {
		return list, err
	}
	if q.User == "" && q.Client == "" {
		return list, badField("", "user", "or client must be named")
	}
	client := v.Client(clientKey(q.Client))
	if q.Client != "" && client == nil {
		return list, notFound(clientSubject(q.Client))
	}
	all := v.Grants()
	if q.User != "" {
		u := findUser(v, q.User)
		if u == nil {
			return list, notFound("user " + q.User)
		}
		all = grantsOf(v, u)
	}
	for g := range all {
		if client != nil && g.Client != client.ID || !q.Ended && v.GrantUnredeemable(g) != ledger.NoCause {
			continue
		}
		if q.Limit > 0 && len(list.Grants) == q.Limit {
			list.Truncated = true
			break
		}
		list.Grants = append(list.Grants, grantOf(v, g))
	}
	slices.SortStableFunc(list.Grants, func(a, b Grant) int { return a.Created.Compare(b.Created) })
	return list, nil
}

// grantsOf returns the grants that a user's row lists, ended ones included.
func grantsOf(v ledger.View, u *ledger.User) iter.Seq[*ledger.Grant] {
	return func(yield func(*ledger.Grant) bool) {
		for _, id := range u.Grants {
			if g := v.Grant(id); g != nil && !yield(g) {
				return
			}
		}
	}
}

// A GrantRef names a grant.
type GrantRef struct {
	ID string `json:"id"`
}

func (c *call) revokeGrant(ctx context.Context, q GrantRef) (Done, error) {
	subject := "grant " + q.ID
	id, ok := ledger.ParseGrantID(q.ID)
	if !ok {
		return Done{}, notFound(subject)
	}
	_, err := c.propose(ctx, subject, &ledger.RevokeGrant{Actor: c.actor, Grant: id})
	return Done(q), err
}

// A Disconnection ends all grants of a user, for one client or for all.
type Disconnection struct {
	User   string `json:"user"`
	Client string `json:"client,omitempty"`
}

func (c *call) disconnect(ctx context.Context, q Disconnection) (Done, error) {
	u, err := c.freshUser(ctx, q.User)
	if err != nil {
		return Done{}, err
	}
	subject := "user " + q.User
	if q.Client != "" {
		subject = clientSubject(q.Client)
	}
	_, err = c.propose(ctx, subject, &ledger.Disconnect{Actor: c.actor, User: u.ID, Client: clientKey(q.Client)})
	return Done{u.ID}, err
}
