package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/packaging"
)

// The files of an installation by hand.
const (
	installedBinary = "/usr/local/bin/mintmark"
	installedConfig = "/etc/mintmark/mintmark.yaml"
)

// installed is the node of the unit, for commands that look at settings.
var installed = config.Installed{File: installedConfig, DataDir: packagedDataDir}

// unitCommand prints the systemd unit. It asks no node.
func unitCommand() *cobra.Command {
	var u packaging.Unit
	c := command("unit", "Print a hardened systemd unit of a node", func(cmd *cobra.Command, _ []string) error {
		_, err := io.WriteString(cmd.OutOrStdout(), u.Text())
		return err
	})
	c.Long = `Print a hardened systemd unit of a node.

The node runs as the account mintmark, keeps its data in /var/lib/mintmark and
writes nowhere else, except to /var/backups/mintmark if that is there. The cluster key is the credential cluster.key, read from
/etc/credstore/mintmark.cluster.key, or else a file in the data folder.`
	f := c.Flags()
	f.StringVar(&u.Binary, "binary", installedBinary, "`PATH` of the program")
	f.StringVar(&u.Config, "config", installedConfig, "`FILE` of the node's settings")
	f.BoolVar(&u.LowPorts, "low-ports", false, "allow the node to listen on ports below 1024")
	return c
}
