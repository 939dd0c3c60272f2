package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// Root returns the program mintmark of this version, with the commands of this package
// and more.
func Root(version string, more ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use:           "mintmark",
		Short:         "An OAuth 2.0 authorization server in one binary",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.AddCommand(more...)
	root.AddCommand(serveCommand(version), doctorCommand(version), configCommand(), policyCommand(), generateSecretCommand())
	root.AddCommand(healthCommand(), docsCommand(), unitCommand(), metricsCommand(), versionCommand(version))
	root.AddCommand(managementCommands(version)...)
	root.SetFlagErrorFunc(flagError)
	prepare(root)
	return root
}

// Execute executes the command line, writes an error to standard error and returns the
// exit code.
func Execute(ctx context.Context, root *cobra.Command) int {
	refuseUnknownHelp(root)
	err := root.ExecuteContext(ctx)
	if err != nil && !errors.As(err, new(errLogged)) {
		fmt.Fprintln(root.ErrOrStderr(), "mintmark: "+withHint(err).Error())
	}
	return exitCode(err)
}
