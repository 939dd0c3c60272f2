package cli

import (
	"crypto/rand"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/keys"
)

// newClusterKey describes a new key file. It does not contain the key.
type newClusterKey struct {
	File string `json:"file"`
	ID   string `json:"id"`
}

func (m *management) keysNewClusterKey() *cobra.Command {
	c := command("new-cluster-key FILE", "Make a cluster key, in a new file of mode 0600; needs no node", func(cmd *cobra.Command, args []string) error {
		if err := m.checkOutput(); err != nil {
			return err
		}
		cmd.SilenceUsage = true
		key, err := keys.NewClusterKey(rand.Reader)
		if err != nil {
			return err
		}
		if err := key.WriteFile(args[0]); err != nil {
			return err
		}
		return m.show(cmd, newClusterKey{args[0], key.ID()}, func(p *printer) {
			p.line("%s: cluster key %s", args[0], key.ID())
			p.remark("keep a copy in a safe place: whoever loses it loses every key that is sealed under it")
		})
	})
	c.Long = `Make a cluster key, in a new file of mode 0600. It is for those who bring the key
themselves, as a systemd credential or a secret of an orchestrator: otherwise
"mintmark cluster init" and "mintmark cluster generate" make one.`
	return c
}
