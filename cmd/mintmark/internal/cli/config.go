package cli

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
)

// configCommand shows what "mintmark serve" would do with the same flags,
// environment and file. It starts nothing and speaks to no node.
func configCommand() *cobra.Command {
	c := group("config", "See and explain the settings of a node", configShowCommand(), configExampleCommand())
	c.Long = c.Short + ".\n\n" + aboutConfig
	return c
}

const aboutConfig = `A flag overrides the environment, which overrides the file of --config, which
overrides the default. The file is YAML and spells a key as the flag:

    cluster-listen: 10.0.0.1:8300

The variable of the same setting is MINTMARK_CLUSTER_LISTEN; in it a list is
separated by commas, and an empty one counts as not set. A key of the file or a
variable MINTMARK_... that does not exist is an error. MINTMARK_CLUSTER_KEY may
hold the cluster's key instead of a file, and MINTMARK_UPSTREAM_CLIENT_SECRET the
client secret at the provider that people sign in with; they are never shown.`

func configShowCommand() *cobra.Command {
	var o config.Options
	m := new(management)
	c := command("show", "Show every setting, its value and where it comes from", func(cmd *cobra.Command, _ []string) error {
		if m.output != "text" && m.output != "json" {
			return errors.New("--output must be text or json")
		}
		o, from, err := config.LoadInstalled(cmd.Flags(), os.Environ(), installed)
		if from == nil {
			return err
		}
		// What could be read helps to find what is wrong with it.
		shown := o.Shown(from, os.Environ())
		return errors.Join(m.show(cmd, shown, func(p *printer) { p.settings(shown) }), err)
	})
	c.Long = c.Short + ".\n\n" + aboutConfig + `

Without --config this shows /etc/mintmark/mintmark.yaml, if it is there and this
account may read it, unless --data-dir names another folder than
/var/lib/mintmark. "mintmark serve" reads it only if --config names it.`
	o.Flags(c.Flags())
	c.Flags().StringVarP(&m.output, "output", "o", "text", "output format: text or json")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func configExampleCommand() *cobra.Command {
	return command("example", "Print a commented file of all settings with their defaults", func(cmd *cobra.Command, _ []string) error {
		_, err := io.WriteString(cmd.OutOrStdout(), config.Example)
		return err
	})
}

func (p *printer) settings(all config.Shown) {
	rows := make([][]string, len(all.Settings))
	for i, s := range all.Settings {
		rows[i] = []string{s.Key, textOf(s.Value), s.Source.String()}
	}
	p.table([]string{"SETTING", "VALUE", "SOURCE"}, rows)
}

func textOf(value any) string {
	switch v := value.(type) {
	case []string:
		return strings.Join(v, ", ")
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	}
	return value.(string)
}
