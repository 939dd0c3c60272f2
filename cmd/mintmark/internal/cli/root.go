package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	}
	root.AddCommand(more...)
	root.AddCommand(serveCommand(version), configCommand(), policyCommand(), feedCommand(), versionCommand(version))
	root.AddCommand(managementCommands(version)...)
	root.SetFlagErrorFunc(unknownFirst)
	return root
}

// Execute executes the command line, writes an error to standard error and returns the
// exit code.
func Execute(ctx context.Context, root *cobra.Command) int {
	err := root.ExecuteContext(ctx)
	if err != nil && !errors.As(err, new(errLogged)) {
		fmt.Fprintln(root.ErrOrStderr(), "mintmark: "+withHint(err).Error())
	}
	return exitCode(err)
}

// unknownFirst blames the command that does not exist rather than its flag, which
// cobra looks at first.
func unknownFirst(c *cobra.Command, err error) error {
	args := c.Flags().Args()
	if !c.HasSubCommands() || len(args) == 0 {
		return err
	}
	c.SuggestionsMinimumDistance = 2 // cobra's own
	text := fmt.Sprintf("unknown command %q for %q", args[0], c.CommandPath())
	if like := c.SuggestionsFor(args[0]); len(like) > 0 {
		text += "; did you mean " + strings.Join(like, " or ") + "?"
	}
	return errors.New(text)
}
