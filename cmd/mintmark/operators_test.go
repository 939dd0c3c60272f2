package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// executeMain executes a command line as main does.
func executeMain(ctx context.Context, args []string, in io.Reader, out, err io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(err)
	return cli.Execute(ctx, root)
}

// commandLine executes a command line as main does.
func commandLine(t testing.TB, args ...string) testkit.Result {
	t.Helper()
	return testkit.Run(t, executeMain, args...)
}

// operatorOf returns the command line of the node with this data folder.
func operatorOf(t testing.TB, dir string) *testkit.CLI {
	return &testkit.CLI{T: t, Dir: dir, Execute: executeMain}
}

// operate executes a command with the data folder of a node.
func (n *nodeProcess) operate(t testing.TB, args ...string) testkit.Result {
	t.Helper()
	return operatorOf(t, n.Dir).Run("", args...)
}

// readOffline returns the output of "mintmark cluster backup save" or "journal" on the
// data folder of a stopped node, and the command's warnings.
func readOffline(t testing.TB, dir, what string) (file []byte, warning string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), what)
	r := operatorOf(t, dir).Run("", "cluster", "backup", what, path)
	require.Zero(t, r.Code, r.Err)
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	return file, r.Err
}
