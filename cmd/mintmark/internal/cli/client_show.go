package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) clientShow() *cobra.Command {
	return command("show CLIENT", "Show all that is known of a client", func(cmd *cobra.Command, args []string) error {
		return runOperation(m, cmd, admin.ShowClient, admin.ClientRef{ID: args[0], Usage: true}, printClient)
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
	p.properties(slices.Concat([]property{
		singleValue("Client", c.ID),
		singleValue("Name", c.Name),
		singleValue("State", c.State),
		singleValue("Waiting", queueText(c.Queue)),
		singleValue("Reason", c.Reason),
		singleValue("Type", c.Type),
		singleValue("Kind", c.Kind),
		singleValue("Owner", c.Owner),
		singleValue("Purpose", c.Purpose),
		singleValue("Website", c.Website),
		singleValue("Privacy policy", c.PrivacyURL),
		singleValue("Terms", c.TermsURL),
		{"Redirect URIs", c.RedirectURIs},
		{"Scopes", scopes},
		singleValue("Authorizations", traffic),
		singleValue("Scopes asked for", strings.Join(c.AskedScopes, " ")),
	}, usageProperties(c.Usage), []property{
		singleValue("Managed by", c.ManagedBy),
		singleValue("Revision", fmt.Sprint(c.Revision)),
		singleValue("Created", formatTime(c.Created)),
		singleValue("Changed", formatTime(c.Changed)),
	})...)
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

// queueText tells the place of a client in the queue of reviews, "" if it is in none.
func queueText(q *admin.QueuePlace) string {
	switch {
	case q == nil:
		return ""
	case q.Position == 0:
		return "for a review since " + formatTime(q.Since)
	}
	return fmt.Sprintf("for a review since %s, number %d of %d", formatTime(q.Since), q.Position, q.Waiting)
}

// usageProperties returns the figures of a client, summed over days and hours.
func usageProperties(u *admin.Usage) []property {
	if u == nil {
		return nil
	}
	var allowed, fresh, refreshed, refused int
	for _, d := range u.Days {
		allowed, fresh = allowed+int(d.Authorizations), fresh+int(d.NewUsers)
	}
	for _, h := range u.Hours {
		refreshed, refused = refreshed+int(h.Refreshes), refused+int(h.Refusals)
	}
	return []property{
		singleValue("Connected", counted(u.Users, "user")+", "+counted(u.Grants, "grant")),
		singleValue("Allowed", fmt.Sprintf("%s in the last 30 days, %d of them by new users", counted(allowed, "time"), fresh)),
		singleValue("Refreshed", counted(refreshed, "time")+" in the last 24 hours"),
		singleValue("Refused", counted(refused, "time")+" in the last 24 hours"),
	}
}

func printSecrets(p *printer, secrets []admin.Secret) {
	var rows [][]string
	heading := []string{"ID", "TAIL", "CREATED", "LAST USED", "STATE"}
	named := slices.ContainsFunc(secrets, func(s admin.Secret) bool { return s.Name != "" })
	if named {
		heading = append(heading, "NAME")
	}
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
		if !s.Ends.IsZero() {
			state += ", ends " + formatTime(s.Ends)
		}
		row := []string{s.ID, tail, formatTime(s.Created), formatTime(s.Used), state}
		if named {
			row = append(row, s.Name)
		}
		rows = append(rows, row)
	}
	p.table(heading, rows)
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
