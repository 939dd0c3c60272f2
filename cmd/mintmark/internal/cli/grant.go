package cli

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) grantCommand() *cobra.Command {
	var publisher string
	revoke := command("revoke [GRANT]", "End one grant, or all grants for a publisher", func(cmd *cobra.Command, args []string) error {
		switch {
		case publisher == "" && len(args) == 0:
			return usageError(cmd, "GRANT or --publisher is missing")
		case publisher != "" && len(args) > 0:
			return usageError(cmd, "GRANT and --publisher exclude each other")
		case publisher != "":
			return runOperation(m, cmd, admin.RevokePublisher, admin.PublisherRef{Host: publisher}, func(p *printer, a admin.Done) {
				p.line("all grants for publisher %s have ended", a.ID)
			})
		}
		return runOperation(m, cmd, admin.RevokeGrant, admin.GrantRef{ID: args[0]}, func(p *printer, a admin.Done) {
			p.line("grant %s has ended", a.ID)
		})
	})
	revoke.Flags().StringVar(&publisher, "publisher", "", "host of a publisher: end the grants of all users for all its clients")

	var q admin.Disconnection
	disconnect := command("disconnect", "End all grants of a user, for one client or for all", func(cmd *cobra.Command, _ []string) error {
		return runOperation(m, cmd, admin.Disconnect, q, func(p *printer, _ admin.Done) {
			if q.Client == "" {
				p.line("all grants of user %s have ended", q.User)
			} else {
				p.line("all grants of user %s for client %s have ended", q.User, q.Client)
			}
		})
	})
	disconnect.Flags().StringVar(&q.User, "user", "", "name or id of the user")
	disconnect.Flags().StringVar(&q.Client, "client", "", "only those for this client")
	_ = disconnect.MarkFlagRequired("user")

	return group("grant", "See and end what users have allowed", m.grantList(), revoke, disconnect)
}

func (m *management) grantList() *cobra.Command {
	var q admin.GrantFilter
	var limit uint
	c := command("list", "List the grants of a user or of a client", func(cmd *cobra.Command, _ []string) error {
		if q.User == "" && q.Client == "" {
			return usageError(cmd, "--user or --client is missing")
		}
		q.Limit = int(min(limit, math.MaxInt32))
		return runOperation(m, cmd, admin.ListGrants, q, func(p *printer, a admin.GrantList) {
			var rows [][]string
			for _, g := range a.Grants {
				scopes := strings.Join(g.Scopes, " ")
				if g.Legacy {
					scopes = "(legacy: no limits)"
				}
				if g.Resource != "" {
					scopes += " for " + g.Resource
				}
				state := g.State
				if g.EndCause != "" {
					state += ": " + g.EndCause
				}
				rows = append(rows, []string{g.ID, g.User, g.Client, formatTime(g.Created), formatTime(g.Used), fmt.Sprint(g.Generation), scopes, state})
			}
			p.table([]string{"ID", "USER", "CLIENT", "CREATED", "LAST USED", "GENERATION", "SCOPES", "STATE"}, rows)
			if a.Truncated {
				p.remark("there are more; see --limit")
			}
		})
	})
	c.Flags().StringVar(&q.User, "user", "", "name or id of the user")
	c.Flags().StringVar(&q.Client, "client", "", "id of the client")
	c.Flags().BoolVar(&q.Ended, "ended", false, "list those that have ended, too, as long as they are remembered")
	c.Flags().UintVar(&limit, "limit", 200, "list at most so many; 0 for all")
	return c
}
