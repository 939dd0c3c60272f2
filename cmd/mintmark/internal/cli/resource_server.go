package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) resourceServerCommand() *cobra.Command {
	return group("resource-server", "Manage resource servers, which introspect tokens and read what was revoked",
		m.resourceAdd(), m.resourceList(), m.resourceShow(), m.resourceSet(), m.resourceRemove(), m.resourceSecret())
}

func (m *management) resourceAdd() *cobra.Command {
	var q admin.NewResourceServer
	var scopes []string
	var secretFile string
	c := command("add URI", "Register a resource server", func(cmd *cobra.Command, args []string) error {
		secret, err := readSecret(cmd, secretFile)
		if err != nil {
			return err
		}
		q.ID, q.Scopes, q.Secret = args[0], splitScopes(scopes), secret
		return runOperation(m, cmd, admin.AddResourceServer, q, func(p *printer, a admin.AddedResourceServer) {
			if a.Secret == "" {
				p.line("resource server %s registered", a.ID)
				return
			}
			p.remark("resource server %s registered\nIts secret %s is shown this once:", a.ID, a.SecretID)
			p.secret(a.Secret.Reveal())
		})
	})
	c.Long = `Register a resource server by its identifier URI. With its secret it may introspect
access tokens and read the feed of revocations, at every node. It authenticates by
HTTP Basic with its name, or with its URI, form-encoded.`
	f := c.Flags()
	f.StringVar(&q.Name, "name", "", "name: letters, digits and - _ . ~ @ |, at most 63")
	f.StringArrayVar(&scopes, "scope", nil, "scopes that it uses, separated by commas or spaces (may be repeated; default: every scope)")
	f.StringVar(&secretFile, "secret-file", "", resourceSecretFileUsage)
	f.BoolVar(&q.NoSecret, "no-secret", false, "make no secret yet")
	c.MarkFlagsMutuallyExclusive("secret-file", "no-secret")
	_ = c.MarkFlagRequired("name")
	return c
}

func (m *management) resourceList() *cobra.Command {
	return command("list", "List resource servers", func(cmd *cobra.Command, _ []string) error {
		return runOperation(m, cmd, admin.ListResourceServers, admin.ResourceServerFilter{}, func(p *printer, a admin.ResourceServerList) {
			var rows [][]string
			for _, s := range a.ResourceServers {
				active, used := 0, time.Time{}
				for _, secret := range s.Secrets {
					if secret.State == "active" {
						active++
					}
					if secret.Used.After(used) {
						used = secret.Used
					}
				}
				rows = append(rows, []string{s.Name, s.ID, fmt.Sprint(active), formatTime(used), formatTime(s.Created)})
			}
			p.table([]string{"NAME", "URI", "SECRETS", "LAST USED", "CREATED"}, rows)
		})
	})
}

func (m *management) resourceShow() *cobra.Command {
	return command("show RESOURCE_SERVER", "Show a resource server and its secrets", func(cmd *cobra.Command, args []string) error {
		return runOperation(m, cmd, admin.ShowResourceServer, admin.ResourceServerRef{ID: args[0]}, showResourceServer)
	})
}

func showResourceServer(p *printer, s admin.ResourceServer) {
	scopes := s.Scopes
	if len(scopes) == 0 {
		scopes = []string{"(none selected: every scope)"}
	}
	p.properties(
		singleValue("Resource server", s.ID),
		singleValue("Name", s.Name),
		property{"Scopes", scopes},
		singleValue("Created", formatTime(s.Created)),
		singleValue("Changed", formatTime(s.Changed)),
	)
	if len(s.Secrets) > 0 {
		p.line("\nSecrets")
		printSecrets(p, s.Secrets)
	}
}

func (m *management) resourceSet() *cobra.Command {
	var name string
	var scopes []string
	var all bool
	c := command("set RESOURCE_SERVER", "Change the name or the scopes of a resource server", func(cmd *cobra.Command, args []string) error {
		q := admin.ResourceServerEdit{ID: args[0]}
		split := splitScopes(scopes)
		setIfChanged(cmd, "name", &q.Name, &name)
		setIfChanged(cmd, "scope", &q.Scopes, &split)
		if all {
			q.Scopes = &[]string{}
		}
		if q.Name == nil && q.Scopes == nil {
			return fmt.Errorf("say what to change: see %s --help", cmd.CommandPath())
		}
		return runOperation(m, cmd, admin.SetResourceServer, q, showResourceServer)
	})
	f := c.Flags()
	f.StringVar(&name, "name", "", "name")
	f.StringArrayVar(&scopes, "scope", nil, "all scopes that it uses, separated by commas or spaces (may be repeated)")
	f.BoolVar(&all, "every-scope", false, "it uses every scope")
	c.MarkFlagsMutuallyExclusive("scope", "every-scope")
	return c
}

func (m *management) resourceRemove() *cobra.Command {
	var yes bool
	c := command("remove RESOURCE_SERVER", "Remove a resource server; its secrets stop working at once", func(cmd *cobra.Command, args []string) error {
		if err := confirm(cmd, yes, "remove resource server "+args[0]+" and its secrets"); err != nil {
			return err
		}
		return runOperation(m, cmd, admin.RemoveResourceServer, admin.ResourceServerRef{ID: args[0]}, func(p *printer, a admin.RemovedResourceServer) {
			p.line("resource server %s is removed", a.ID)
			if a.Grants > 0 {
				p.remark("grants that were for it, and get no more tokens: %d", a.Grants)
			}
		})
	})
	confirmFlag(c, &yes, "remove without a question")
	return c
}

const resourceSecretFileUsage = "file that holds a secret of \"mintmark secret generate\", - for standard input (default: one is made)"

func (m *management) resourceSecret() *cobra.Command {
	var secretFile string
	add := command("add RESOURCE_SERVER", "Add a second secret; the one in use keeps working", func(cmd *cobra.Command, args []string) error {
		secret, err := readSecret(cmd, secretFile)
		if err != nil {
			return err
		}
		q := admin.NewResourceSecret{ResourceServer: args[0], Secret: secret}
		return runOperation(m, cmd, admin.AddResourceSecret, q, func(p *printer, a admin.AddedSecret) {
			if a.Secret == "" {
				p.line("secret %s added", a.ID)
				return
			}
			p.remark("Secret %s is shown this once:", a.ID)
			p.secret(a.Secret.Reveal())
		})
	})
	add.Flags().StringVar(&secretFile, "secret-file", "", resourceSecretFileUsage)
	revoke := command("revoke RESOURCE_SERVER SECRET_ID", "Revoke a secret at once", func(cmd *cobra.Command, args []string) error {
		return runOperation(m, cmd, admin.RevokeResourceSecret, admin.ResourceSecretRef{ResourceServer: args[0], ID: args[1]}, func(p *printer, a admin.Done) {
			p.line("secret %s is revoked", a.ID)
		})
	})
	return group("secret", "Manage the secrets of a resource server", add, revoke)
}
