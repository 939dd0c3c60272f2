package cli

import (
	"context"
	"io"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// testRoot is the program with the commands of this package.
func testRoot() *cobra.Command { return Root("v1") }

func executeRoot(ctx context.Context, args []string, in io.Reader, out, err io.Writer) int {
	root := testRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(err)
	return Execute(ctx, root)
}

// runLine executes a command line.
func runLine(t testing.TB, args ...string) testkit.Result {
	t.Helper()
	return testkit.Run(t, executeRoot, args...)
}

// runnerOf returns the command line of the node with this data folder.
func runnerOf(t testing.TB, dir string) *testkit.CLI {
	return &testkit.CLI{T: t, Dir: dir, Execute: executeRoot}
}
