package testkit

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// An Executor executes a command line and returns its exit code.
type Executor func(ctx context.Context, args []string, in io.Reader, out, err io.Writer) int

// A Result is what a program sees of a command.
type Result struct {
	Out, Err string
	Code     int
}

// Run executes a command line without standard input.
func Run(t testing.TB, execute Executor, args ...string) Result {
	t.Helper()
	return RunInput(t, execute, "", args...)
}

func RunInput(t testing.TB, execute Executor, stdin string, args ...string) Result {
	t.Helper()
	var out, remarks bytes.Buffer
	code := execute(t.Context(), args, strings.NewReader(stdin), &out, &remarks)
	return Result{out.String(), remarks.String(), code}
}

// A CLI is the command line with the data folder of one node.
type CLI struct {
	T       testing.TB
	Dir     string // data folder
	Execute Executor
}

// Run executes a command with this standard input.
func (c *CLI) Run(stdin string, args ...string) Result {
	c.T.Helper()
	return RunInput(c.T, c.Execute, stdin, append(args, "--data-dir", c.Dir)...)
}

// OK executes a command that must succeed, and returns its standard output.
func (c *CLI) OK(stdin string, args ...string) string {
	c.T.Helper()
	r := c.Run(stdin, args...)
	require.Zero(c.T, r.Code, "%v: %s", args, r.Err)
	return r.Out
}

// Fails executes a command that must end with this exit code, this text on standard
// error and nothing on standard output.
func (c *CLI) Fails(code int, text string, args ...string) {
	c.T.Helper()
	r := c.Run("", args...)
	require.Equal(c.T, code, r.Code, "%v: %s", args, r.Err)
	require.Contains(c.T, r.Err, text)
	require.Empty(c.T, r.Out)
}

// Object executes a command that must succeed, and returns its answer in JSON.
func (c *CLI) Object(args ...string) map[string]any {
	c.T.Helper()
	var m map[string]any
	require.NoError(c.T, json.Unmarshal([]byte(c.OK("", append(args, "-o", "json")...)), &m))
	return m
}
