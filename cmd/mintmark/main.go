// Command mintmark is the OAuth 2.0 authorization server of a scheduling
// product: one binary that serves, and that manages what it serves. This
// package owns flags, wiring and the text on the terminal; it decides nothing.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set by the linker.
var version = "dev"

func main() {
	if os.Getenv("GOGC") == "" {
		// The state is one large heap that changes slowly. Collecting half as
		// often as usual gives a tenth of the processor back to requests.
		debug.SetGCPercent(200)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := rootCommand().ExecuteContext(ctx)
	if err != nil {
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
	return root
}
