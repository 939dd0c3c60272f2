package testkit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An Executor executes a command line and returns its exit code.
type Executor func(ctx context.Context, args []string, in io.Reader, out, err io.Writer) int

// A Result is the output and the exit code of a command.
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

// Run executes a command with the given standard input.
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

// Fails executes a command that must end with the exit code, with text in standard error,
// and with an empty standard output.
func (c *CLI) Fails(code int, text string, args ...string) {
	c.T.Helper()
	r := c.Run("", args...)
	require.Equal(c.T, code, r.Code, "%v: %s", args, r.Err)
	require.Contains(c.T, r.Err, text)
	require.Empty(c.T, r.Out)
}

// Object executes a command that must succeed, and returns its JSON output.
func (c *CLI) Object(args ...string) map[string]any {
	c.T.Helper()
	var m map[string]any
	require.NoError(c.T, json.Unmarshal([]byte(c.OK("", append(args, "-o", "json")...)), &m))
	return m
}

// Decided executes a command, and repeats it while the error is that nothing was changed.
// On a busy machine a healthy leader may get no answer from its followers for 400 ms. It
// then steps down, and no command succeeds until a new leader is elected.
func (c *CLI) Decided(stdin string, args ...string) (r Result) {
	c.T.Helper()
	Until(Limit, func() bool {
		r = c.Run(stdin, args...)
		return r.Code == 0 || !strings.Contains(r.Err, "nothing was changed")
	})
	return r
}

// Must executes a command with Decided. It must succeed. Must returns its standard
// output.
func (c *CLI) Must(stdin string, args ...string) string {
	c.T.Helper()
	r := c.Decided(stdin, args...)
	require.Zero(c.T, r.Code, "%v: %s", args, r.Err)
	return r.Out
}

// Program returns an Executor of a binary. It kills a command that takes longer than the
// limit, and the exit code is then -1.
func Program(binary string, limit time.Duration) Executor {
	return func(ctx context.Context, args []string, in io.Reader, out, remarks io.Writer) int {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		c := exec.CommandContext(ctx, binary, args...)
		c.Env, c.Stdin, c.Stdout, c.Stderr = CleanEnv(), in, out, remarks
		if err := c.Run(); c.ProcessState == nil {
			_, _ = fmt.Fprintln(remarks, err)
			return -1
		}
		return c.ProcessState.ExitCode()
	}
}
