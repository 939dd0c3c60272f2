package admintest

import (
	"context"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// RotateAuthority implements admin.Cluster. An unreachable node delays the change.
func (c *Cluster) RotateAuthority(ctx context.Context) (admin.AuthorityChange, error) {
	if err := c.do("rotate-authority"); err != nil {
		return admin.AuthorityChange{}, err
	}
	a := admin.AuthorityChange{Done: true, Authorities: []admin.Authority{
		{ID: "aaaaaaaaaaaaaaaaaaaa", State: "signing", Made: Started, WaitingFor: []string{}},
	}}
	for _, n := range c.Status(ctx).Nodes {
		if n.State == status.StateUnreachable {
			a.Done = false
			a.Authorities = append(a.Authorities, admin.Authority{
				ID: "bbbbbbbbbbbbbbbbbbbb", State: "announced", Made: Started.Add(time.Hour), WaitingFor: []string{n.Name},
			})
		}
	}
	return a, nil
}
