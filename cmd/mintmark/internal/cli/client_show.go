package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) clientShow() *cobra.Command {
	return command("show CLIENT", "Show all that is known of a client", func(cmd *cobra.Command, args []string) error {
		return runOperation(m, cmd, admin.ShowClient, admin.ClientRef{ID: args[0]}, printClient)
	})
}

func printClient(p *printer, c admin.Client) {
	traffic := ""
	if c.Traffic != nil {
		traffic = fmt.Sprintf("%d without scope, %d with scope, in the last 30 days", c.Traffic.WithoutScope, c.Traffic.WithScope)
	}
	scopes := c.Scopes
	if c.Kind == "legacy" {
		scopes = []string{"(none selected: no limits)"}
	}
	p.properties(
		singleValue("Client", c.ID),
		singleValue("Name", c.Name),
		singleValue("State", c.State),
		singleValue("Reason", c.Reason),
		singleValue("Type", c.Type),
		singleValue("Kind", c.Kind),
		singleValue("Owner", c.Owner),
		singleValue("Purpose", c.Purpose),
		singleValue("Website", c.Website),
		property{"Redirect URIs", c.RedirectURIs},
		property{"Scopes", scopes},
		singleValue("Authorizations", traffic),
		singleValue("Scopes asked for", strings.Join(c.AskedScopes, " ")),
		singleValue("Managed by", c.ManagedBy),
		singleValue("Revision", fmt.Sprint(c.Revision)),
		singleValue("Created", formatTime(c.Created)),
		singleValue("Changed", formatTime(c.Changed)),
	)
	if len(c.Secrets) > 0 {
		p.line("\nSecrets")
		printSecrets(p, c.Secrets)
	}
	if len(c.Difference) > 0 {
		p.line("\nProposed changes (approve or reject with --revision %d)", c.Revision)
		for _, d := range c.Difference {
			printDifference(p, d)
		}
	}
}

func printSecrets(p *printer, secrets []admin.Secret) {
	var rows [][]string
	for _, s := range secrets {
		tail := s.Tail
		if tail != "" {
			tail = "…" + tail
		}
		state := s.State
		if state == "void" {
			state += ": its key was dropped"
		}
		if s.Imported {
			state += ", imported and not used yet"
		}
		if !s.Revoked.IsZero() {
			state += " " + formatTime(s.Revoked)
		}
		rows = append(rows, []string{s.ID, tail, formatTime(s.Created), formatTime(s.Used), state})
	}
	p.table([]string{"ID", "ENDS IN", "CREATED", "LAST USED", "STATE"}, rows)
}

func printDifference(p *printer, d admin.Difference) {
	switch {
	case d.Removed == "":
		p.line("  + %s: %s", d.Field, d.Added)
	case d.Added == "":
		p.line("  - %s: %s", d.Field, d.Removed)
	default:
		p.line("  ~ %s: %s → %s", d.Field, d.Removed, d.Added)
	}
}
