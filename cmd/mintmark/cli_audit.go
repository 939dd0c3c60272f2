package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) auditCommand() *cobra.Command {
	var q admin.EventFilter
	c := command("audit", "List the newest events of the audit trail", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		return ask(m, cmd, admin.Audit, q, func(p *printer, a admin.EventList) {
			var rows [][]string
			for _, e := range a.Events {
				rows = append(rows, []string{fmt.Sprint(e.Seq), exact(e.At), e.Kind, e.Actor, e.Client, e.User, e.Grant, e.Detail})
			}
			p.table([]string{"SEQ", "TIME", "KIND", "ACTOR", "CLIENT", "USER", "GRANT", "DETAIL"}, rows)
			if a.Truncated {
				p.remark("there are older ones; see --limit")
			}
		})
	})
	c.Flags().StringVar(&q.Client, "client", "", "only events of this client")
	c.Flags().StringVar(&q.User, "user", "", "only events of this user, or by this user")
	c.Flags().StringVar(&q.Kind, "kind", "", `only events of this kind, such as "grant.reuse", or "grant" for all of grants`)
	c.Flags().IntVar(&q.Limit, "limit", 50, "list at most so many; 0 for all")
	return c
}
