package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

func (m *management) settingsCommand() *cobra.Command {
	return group("settings", "Show and change the settings of the cluster", m.settingsShow(), m.settingsSet())
}

func (m *management) settingsShow() *cobra.Command {
	return command("show", "Show every setting of the cluster", func(cmd *cobra.Command, _ []string) error {
		return runOperation(m, cmd, admin.ShowSettings, admin.SettingsQuery{}, showSettings)
	})
}

func (m *management) settingsSet() *cobra.Command {
	var yes bool
	c := command("set KEY=VALUE...", "Change settings, all that are named or none", func(cmd *cobra.Command, args []string) error {
		q := admin.SettingsChange{Set: make(map[string]string, len(args))}
		for _, a := range args {
			key, value, ok := strings.Cut(a, "=")
			if !ok {
				return fmt.Errorf("%q is not KEY=VALUE", a)
			}
			q.Set[key] = value
		}
		if ends := endedByChange(q.Set); ends != "" {
			if err := confirm(cmd, yes, "set "+ends); err != nil {
				return err
			}
		}
		return runOperation(m, cmd, admin.SetSettings, q, showSettings)
	})
	c.Long = `Change settings, all that are named or none. They hold on every node from then
on: lifetimes for what is decided from now on, rotate_every (or "off") for the
schedule by which keys are replaced. A lifetime is as 60s, 12h, 90d or 1d12h. One
of grants or refresh tokens that is below an hour must be confirmed: it ends
existing ones, too. "service_name", "accent", the addresses and "forgot_password"
are what people see of the service; "none" or "default" takes one back.`
	confirmFlag(c, &yes, "shorten what grants and refresh tokens live by to less than an hour")
	return c
}

// minLifetime is the shortest lifetime that needs no confirmation. A shorter one is often
// a slip of the unit, and what it ends stays ended when the setting is corrected.
const minLifetime = time.Hour

// endedByChange describes which grants or tokens a change would end; "" if none.
func endedByChange(set map[string]string) string {
	for _, s := range []struct{ key, ends string }{
		{"grant_absolute", "every grant whose user chose Allow more than %s ago would end, with all its tokens, and no user stays connected for longer than that"},
		{"refresh_idle", "every refresh token that was not used for %s would end, and the users of those applications would have to choose Allow again"},
	} {
		value, given := set[s.key]
		if d, err := admin.ParseDuration(value); given && err == nil && d < minLifetime {
			return s.key + "=" + value + ": " + fmt.Sprintf(s.ends, admin.FormatDuration(d))
		}
	}
	return ""
}

func showSettings(p *printer, a admin.Settings) {
	var rows [][]string
	for _, s := range a.Settings {
		rows = append(rows, []string{s.Key, s.Value, s.About})
	}
	p.table([]string{"SETTING", "VALUE", "ABOUT"}, rows)
}
