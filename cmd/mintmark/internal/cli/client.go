package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) clientCommand() *cobra.Command {
	return group("client", "Manage OAuth clients",
		m.clientAdd(), m.clientList(), m.clientShow(), m.clientSet(), m.clientDelete(),
		m.review("approve", "Approve a pending client, or the changes it proposes"),
		m.review("reject", "Reject a pending client, or the changes it proposes"),
		m.review("suspend", "Stop an approved client at once"),
		m.review("resume", "Let a suspended client work again"),
		m.clientImport(), m.secretCommand(),
	)
}

func (m *management) clientAdd() *cobra.Command {
	var q admin.NewClient
	var scopes []string
	var secretFile string
	c := command("add", "Create a client that waits for its review", func(cmd *cobra.Command, _ []string) error {
		secret, err := readSecret(cmd, secretFile)
		if err != nil {
			return err
		}
		q.Secret, q.Scopes = secret, splitScopes(scopes)
		return runOperation(m, cmd, admin.AddClient, q, func(p *printer, a admin.AddedClient) {
			if a.Secret == "" {
				p.line("client %s created; it is %s until it is approved", a.ID, a.State)
				return
			}
			p.remark("client %s created; it is %s until it is approved\nIts secret %s is shown this once:", a.ID, a.State, a.SecretID)
			p.secret(a.Secret.Reveal())
		})
	})
	f := c.Flags()
	f.StringVar(&q.ID, "id", "", "client id (default: made at random)")
	f.StringVar(&q.Name, "name", "", "name, as users see it")
	f.StringVar(&q.Owner, "owner", "", "name of the user who owns the client")
	f.StringVar(&q.Type, "type", "confidential", "confidential or public")
	f.StringVar(&q.Purpose, "purpose", "", "what it is for, as reviewers see it")
	f.StringVar(&q.Website, "website", "", "address of its website")
	f.StringVar(&q.PrivacyURL, "privacy-url", "", "address of its privacy policy")
	f.StringVar(&q.TermsURL, "terms-url", "", "address of its terms")
	f.StringArrayVar(&q.RedirectURIs, "redirect-uri", nil, "redirection URI (repeat for more, at most 10)")
	f.StringArrayVar(&scopes, "scope", nil, "scopes, separated by commas or spaces (may be repeated)")
	f.StringVar(&secretFile, "secret-file", "", "file that holds the secret, - for standard input (default: one is made)")
	for _, name := range []string{"name", "owner", "redirect-uri", "scope"} {
		_ = c.MarkFlagRequired(name)
	}
	return c
}

// splitScopes takes scopes apart as an authorization request may write them.
func splitScopes(given []string) []string {
	return strings.FieldsFunc(strings.Join(given, " "), func(r rune) bool { return r == ' ' || r == ',' })
}

func (m *management) clientList() *cobra.Command {
	var q admin.ClientFilter
	c := command("list", "List clients", func(cmd *cobra.Command, _ []string) error {
		return runOperation(m, cmd, admin.ListClients, q, func(p *printer, a admin.ClientList) {
			var rows [][]string
			for _, c := range a.Clients {
				state := c.State
				if c.Proposed {
					state += ", proposes changes"
				}
				rows = append(rows, []string{c.ID, c.Name, c.Type, c.Kind, state, c.Owner, formatTime(c.Created)})
			}
			p.table([]string{"ID", "NAME", "TYPE", "KIND", "STATE", "OWNER", "CREATED"}, rows)
		})
	})
	c.Flags().StringVar(&q.State, "state", "", "only those in this state: pending, approved, rejected, suspended or deleted (deleted ones are listed only so)")
	c.Flags().StringVar(&q.Owner, "owner", "", "only those of this user")
	return c
}

func (m *management) review(verdict, short string) *cobra.Command {
	q := admin.Review{Verdict: verdict}
	c := command(verdict+" CLIENT", short, func(cmd *cobra.Command, args []string) error {
		q.ID = args[0]
		return runOperation(m, cmd, admin.ReviewClient, q, func(p *printer, a admin.Client) {
			p.line("client %s is %s, revision %d", a.ID, a.State, a.Revision)
		})
	})
	c.Flags().StringVar(&q.Reason, "reason", "", "the reason that the owner sees")
	c.Flags().Uint64Var(&q.Revision, "revision", 0, "refuse if the client is at another revision than the one looked at")
	if verdict == "reject" {
		_ = c.MarkFlagRequired("reason")
	}
	return c
}

func (m *management) clientDelete() *cobra.Command {
	var yes bool
	c := command("delete CLIENT", "Delete a client for good: its grants end, and its id can never be used again", func(cmd *cobra.Command, args []string) error {
		if err := confirm(cmd, yes, "delete client "+args[0]+" for good and end all its grants; its id can never be used again"); err != nil {
			return err
		}
		return runOperation(m, cmd, admin.DeleteClient, admin.ClientRef{ID: args[0]}, func(p *printer, a admin.Done) {
			p.line("client %s is deleted", a.ID)
		})
	})
	confirmFlag(c, &yes, "delete without a question")
	return c
}

func (m *management) clientSet() *cobra.Command {
	var name, purpose, website, privacy, terms string
	var uris, scopes []string
	var q admin.ClientEdit
	c := command("set CLIENT", "Change a client at once, without a review", func(cmd *cobra.Command, args []string) error {
		q.ID = args[0]
		split := splitScopes(scopes)
		setIfChanged(cmd, "name", &q.Name, &name)
		setIfChanged(cmd, "purpose", &q.Purpose, &purpose)
		setIfChanged(cmd, "website", &q.Website, &website)
		setIfChanged(cmd, "privacy-url", &q.PrivacyURL, &privacy)
		setIfChanged(cmd, "terms-url", &q.TermsURL, &terms)
		setIfChanged(cmd, "redirect-uri", &q.RedirectURIs, &uris)
		setIfChanged(cmd, "scope", &q.Scopes, &split)
		if q.Name == nil && q.Purpose == nil && q.Website == nil && q.PrivacyURL == nil && q.TermsURL == nil && q.RedirectURIs == nil && q.Scopes == nil {
			return fmt.Errorf("say what to change: see %s --help", cmd.CommandPath())
		}
		return runOperation(m, cmd, admin.SetClient, q, func(p *printer, a admin.EditedClient) {
			p.line("client %s is changed, revision %d", a.ID, a.Revision)
			if a.Migrated {
				p.remark("It is no longer a legacy client: authorization requests need a scope from now on.")
			}
			if a.Dropped {
				p.remark("The changes that its owner had proposed are dropped.")
			}
		})
	})
	f := c.Flags()
	f.StringVar(&name, "name", "", "name, as users see it")
	f.StringVar(&purpose, "purpose", "", "what it is for")
	f.StringVar(&website, "website", "", "address of its website")
	f.StringVar(&privacy, "privacy-url", "", "address of its privacy policy")
	f.StringVar(&terms, "terms-url", "", "address of its terms")
	f.StringArrayVar(&uris, "redirect-uri", nil, "all redirection URIs (repeat for more)")
	f.StringArrayVar(&scopes, "scope", nil, "all scopes, separated by commas or spaces (may be repeated)")
	confirmFlag(c, &q.Confirm, "select the scopes of a legacy client although requests still come without scope")
	f.Uint64Var(&q.Revision, "revision", 0, "refuse if the client is at another revision than the one looked at")
	return c
}

// setIfChanged sets an optional field if its flag was given, even with an empty value.
func setIfChanged[T any](cmd *cobra.Command, flag string, field **T, value *T) {
	if cmd.Flags().Changed(flag) {
		*field = value
	}
}
