// Command mintmark is the OAuth 2.0 authorization server of a scheduling product: one
// binary that serves, and that manages what it serves.
//
//	internal/cli        the commands of operators, "serve" and what they print
//	internal/bench      load, and how it is measured
//	internal/config     the settings of a node: flags, environment, file
//	internal/server     one running node: data, listeners, handlers, health
//	internal/telemetry  metrics and traces
//	internal/memory     the pace of the garbage collector
//	internal/proxy      trusted reverse proxies
//	internal/dev        "dev", fixtures and "demo api"
//	internal/testkit    what tests share
//
// The tests of this package are of the whole program: over HTTP, over the operators'
// socket and with processes of their own. chaos, e2e and upgrade test the built binary.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	_ "time/tzdata" // users have zones; the image and other minimal systems have no files of them

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/dev"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/memory"
)

// version is set by the linker, or else is the module's version if "go install" built the
// program.
var version = "dev"

func main() {
	if build, ok := debug.ReadBuildInfo(); ok && version == "dev" && strings.HasPrefix(build.Main.Version, "v") {
		version = build.Main.Version
	}
	memory.Tune()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(cli.Execute(ctx, rootCommand()))
}

func rootCommand() *cobra.Command {
	return cli.Root(version, dev.Command(dev.Options{Version: version}), dev.DemoCommand())
}
