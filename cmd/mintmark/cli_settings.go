package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) settingsCommand() *cobra.Command {
	return group("settings", "Show and change the settings that hold on every node", m.settingsShow(), m.settingsSet())
}

func (m *management) settingsShow() *cobra.Command {
	return command("show", "Show every setting of the cluster", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		return ask(m, cmd, admin.ShowSettings, admin.SettingsQuery{}, showSettings)
	})
}

func (m *management) settingsSet() *cobra.Command {
	c := command("set KEY=VALUE...", "Change settings, all that are named or none", cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) error {
		q := admin.SettingsChange{Set: make(map[string]string, len(args))}
		for _, a := range args {
			key, value, ok := strings.Cut(a, "=")
			if !ok {
				return fmt.Errorf("%q is not KEY=VALUE", a)
			}
			q.Set[key] = value
		}
		return ask(m, cmd, admin.SetSettings, q, showSettings)
	})
	c.Long = `Change settings, all that are named or none. They hold on every node from then
on: lifetimes for what is decided from now on, rotate_every (or "off") for the
schedule by which keys are replaced.`
	return c
}

func showSettings(p *printer, a admin.Settings) {
	var rows [][]string
	for _, s := range a.Settings {
		rows = append(rows, []string{s.Key, s.Value, s.About})
	}
	p.table([]string{"SETTING", "VALUE", "ABOUT"}, rows)
}
