// Command mintmark is the OAuth 2.0 authorization server of a scheduling
// product: one binary that serves, and that manages what it serves. This
// package owns flags, wiring and the text on the terminal; it decides nothing.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set by the linker, or else is the module's version if "go install" built the
// program.
var version = "dev"

func main() {
	if build, ok := debug.ReadBuildInfo(); ok && version == "dev" && strings.HasPrefix(build.Main.Version, "v") {
		version = build.Main.Version
	}
	if os.Getenv("GOGC") == "" {
		// The state is one large heap that changes slowly. Collecting half as
		// often as usual gives a tenth of the processor back to requests.
		debug.SetGCPercent(200)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := rootCommand().ExecuteContext(ctx)
	if err != nil && !errors.As(err, new(errLogged)) {
		fmt.Fprintln(os.Stderr, "mintmark: "+err.Error())
	}
	os.Exit(exitCode(err))
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "mintmark",
		Short:         "An OAuth 2.0 authorization server in one binary",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(devCommand(), serveCommand(), configCommand(), demoCommand(), policyCommand(), feedCommand(), versionCommand())
	root.AddCommand(managementCommands()...)
	root.SetFlagErrorFunc(unknownFirst)
	return root
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
