package main

import (
	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) keysCommand() *cobra.Command {
	return group("keys", "List and rotate signing and credential keys, and change the cluster key", m.keysList(), m.keysRotate(), m.keysReseal())
}

func (m *management) keysList() *cobra.Command {
	return command("list", "List the keys and what comes next for each", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		return ask(m, cmd, admin.ListKeys, admin.KeyFilter{}, func(p *printer, a admin.KeyList) {
			var rows [][]string
			for _, k := range a.Keys {
				rows = append(rows, []string{k.ID, k.Purpose, k.Algorithm, k.State, when(k.Announced), when(k.NextStep)})
			}
			p.table([]string{"ID", "PURPOSE", "ALGORITHM", "STATE", "ANNOUNCED", "NEXT STEP"}, rows)
		})
	})
}

func (m *management) keysRotate() *cobra.Command {
	q := admin.Rotation{}
	c := command("rotate", "Announce a new key", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		return ask(m, cmd, admin.RotateKeys, q, func(p *printer, a admin.Rotated) {
			if q.Emergency {
				p.line("key %s is active", a.ID)
				p.remark("the key before it is gone: what it signed or made is refused from now on")
				return
			}
			p.line("key %s is announced", a.ID)
			p.remark("it becomes active by itself when verifiers have had the time to learn it; see mintmark keys list")
		})
	})
	c.Flags().StringVar(&q.Purpose, "purpose", "signing", "signing or credential")
	c.Flags().BoolVar(&q.Emergency, "emergency", false, "the key in use has leaked: replace it now, whatever breaks")
	return c
}
