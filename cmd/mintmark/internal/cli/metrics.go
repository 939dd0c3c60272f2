package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/telemetry"
)

// metricsCommand prints what watches the metrics of a node. It asks no node.
func metricsCommand() *cobra.Command {
	printed := func(use, short, text string) *cobra.Command {
		return command(use, short, func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), text)
			return err
		})
	}
	return group("metrics", "Print alerts and a dashboard for the metrics",
		printed("rules", "Print alert rules for Prometheus", telemetry.Rules),
		printed("dashboard", "Print a dashboard for Grafana", telemetry.Dashboard))
}
