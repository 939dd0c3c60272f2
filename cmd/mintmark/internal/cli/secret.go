package cli

import (
	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) secretCommand() *cobra.Command {
	var secretFile string
	add := command("add CLIENT", "Add a second secret; the one in use keeps working", func(cmd *cobra.Command, args []string) error {
		secret, err := readSecret(cmd, secretFile)
		if err != nil {
			return err
		}
		return runOperation(m, cmd, admin.AddSecret, admin.NewSecret{Client: args[0], Secret: secret}, func(p *printer, a admin.AddedSecret) {
			if a.Secret == "" {
				p.line("secret %s added", a.ID)
				return
			}
			p.remark("Secret %s is shown this once:", a.ID)
			p.secret(a.Secret.Reveal())
		})
	})
	add.Flags().StringVar(&secretFile, "secret-file", "", "file that holds the secret, - for standard input (default: one is made)")

	revoke := command("revoke CLIENT SECRET_ID", "Revoke a secret at once", func(cmd *cobra.Command, args []string) error {
		return runOperation(m, cmd, admin.RevokeSecret, admin.SecretRef{Client: args[0], ID: args[1]}, func(p *printer, a admin.Done) {
			p.line("secret %s is revoked", a.ID)
		})
	})

	list := command("list CLIENT", "List a client's secrets", func(cmd *cobra.Command, args []string) error {
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
	return group("secret", "Manage the secrets of a client", add, revoke, list)
}
