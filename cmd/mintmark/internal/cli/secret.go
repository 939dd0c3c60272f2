package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) secretCommand() *cobra.Command {
	return group("secret", "Manage the secrets of a client", m.secretAdd(), m.secretSet(), m.secretRevoke(), m.secretList())
}

func (m *management) secretAdd() *cobra.Command {
	var q admin.NewSecret
	var secretFile string
	c := command("add CLIENT", "Add a second secret; the one in use keeps working", func(cmd *cobra.Command, args []string) error {
		secret, err := readSecret(cmd, secretFile)
		if err != nil {
			return err
		}
		q.Client, q.Secret = args[0], secret
		return runOperation(m, cmd, admin.AddSecret, q, func(p *printer, a admin.AddedSecret) {
			if a.Secret == "" {
				p.line("secret %s added", a.ID)
				return
			}
			p.remark("Secret %s is shown this once:", a.ID)
			p.secret(a.Secret.Reveal())
		})
	})
	c.Flags().StringVar(&secretFile, "secret-file", "", "file that holds the secret, - for standard input (default: one is made)")
	c.Flags().StringVar(&q.Name, "name", "", "what the secret is called, at most 40 characters")
	config.DurationVar(c.Flags(), &q.OldEndsIn, "old-ends", 0, "revoke the other secret after this time, from 1h to 90d (default: it stays)")
	return c
}

// never is the value of --ends that cancels an end.
const never = "never"

func (m *management) secretSet() *cobra.Command {
	var name, ends string
	c := command("set CLIENT SECRET_ID", "Name an active secret, or have it revoked after a time", func(cmd *cobra.Command, args []string) error {
		q := admin.SecretEdit{Client: args[0], ID: args[1]}
		setIfChanged(cmd, "name", &q.Name, &name)
		if cmd.Flags().Changed("ends") {
			d, err := admin.ParseDuration(ends)
			if err != nil && ends != never {
				return fmt.Errorf("--ends must be a duration such as 12h or 7d, or %s", never)
			}
			q.EndsIn = &d
		}
		if q.Name == nil && q.EndsIn == nil {
			return fmt.Errorf("say what to change: see %s --help", cmd.CommandPath())
		}
		return runOperation(m, cmd, admin.SetSecret, q, func(p *printer, a admin.Secret) {
			printSecrets(p, []admin.Secret{a})
		})
	})
	c.Flags().StringVar(&name, "name", "", "what the secret is called, at most 40 characters")
	c.Flags().StringVar(&ends, "ends", "", "revoke it after this time, from 1h to 90d, or "+never)
	return c
}

func (m *management) secretRevoke() *cobra.Command {
	return command("revoke CLIENT SECRET_ID", "Revoke a secret at once", func(cmd *cobra.Command, args []string) error {
		return runOperation(m, cmd, admin.RevokeSecret, admin.SecretRef{Client: args[0], ID: args[1]}, func(p *printer, a admin.Done) {
			p.line("secret %s is revoked", a.ID)
		})
	})
}

func (m *management) secretList() *cobra.Command {
	return command("list CLIENT", "List a client's secrets", func(cmd *cobra.Command, args []string) error {
		c, err := m.open(cmd)
		if err != nil {
			return err
		}
		defer c.Close()
		client, err := admin.ShowClient.Call(cmdContext(cmd), c, admin.ClientRef{ID: args[0]})
		if err != nil {
			return err
		}
		answer := struct {
			Secrets []admin.Secret `json:"secrets"`
		}{client.Secrets}
		return m.show(cmd, answer, func(p *printer) { printSecrets(p, client.Secrets) })
	})
}
