package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// completions returns what a shell offers after a line, without descriptions.
func (c *cliEnv) completions(line ...string) (offered []string) {
	c.T.Helper()
	c.T.(*testing.T).Setenv("MINTMARK_DATA_DIR", c.Dir)
	r := runLine(c.T, append([]string{"__complete"}, line...)...)
	require.Equal(c.T, ExitOK, r.Code, r.Err)
	for row := range strings.Lines(r.Out) {
		name, _, _ := strings.Cut(strings.TrimSpace(row), "\t")
		if name != "" && !strings.HasPrefix(name, ":") {
			offered = append(offered, name)
		}
	}
	return offered
}

// TestCompletions: a shell offers the names and ids that the node knows.
func TestCompletions(t *testing.T) {
	c := newCLI(t)
	secret := c.View().Client("cal-app").Secrets[0].ID
	for _, test := range []struct {
		line []string
		want []string
	}{
		{[]string{"client", "show", ""}, []string{"cal-app"}},
		{[]string{"client", "delete", "cal"}, []string{"cal-app"}},
		{[]string{"client", "show", "cal-app", ""}, nil},
		{[]string{"client", "secret", "revoke", "cal-app", ""}, []string{secret}},
		{[]string{"user", "show", ""}, []string{"alice"}},
		{[]string{"grant", "list", "--user", ""}, []string{"alice"}},
		{[]string{"grant", "list", "--client", ""}, []string{"cal-app"}},
		{[]string{"client", "list", "--state", ""}, []string{"pending", "approved", "rejected", "suspended", "deleted"}},
		{[]string{"client", "add", "--scope", ""}, scope.All().Names()},
		{[]string{"client", "add", "--purpose", ""}, nil},
		{[]string{"keys", "rotate", "--purpose", ""}, []string{"signing", "credential"}},
		{[]string{"explain", ""}, nil},
		{[]string{"client", "sh"}, []string{"show"}},
	} {
		require.Equal(t, test.want, c.completions(test.line...), "%v", test.line)
	}
	require.Contains(t, c.completions("settings", "set", ""), "code_lifetime=")
	require.Contains(t, c.completions("settings", "set", "code_lifetime=60s", ""), "rotate_every=")
	require.NotContains(t, c.completions("settings", "set", ""), "base_url=")
	require.Contains(t, c.completions("audit", "--kind", "grant."), "grant.reuse")

	nodes := newClusterCLI(t)
	require.Equal(t, []string{"n1", "n2", "n3"}, nodes.completions("cluster", "remove", ""))
	require.Equal(t, []string{"n1", "n2", "n3"}, nodes.completions("cluster", "transfer-leader", "--to", ""))
	require.Equal(t, []string{"n4"}, nodes.completions("cluster", "invitation", "withdraw", ""))
}

// TestCompletionOfAnUnknownCommand: the shell doesn't offer files.
func TestCompletionOfAnUnknownCommand(t *testing.T) {
	r := runLine(t, "__complete", "keys", "drop", "")
	require.Equal(t, ExitOK, r.Code, r.Err)
	require.Equal(t, fmt.Sprintf(":%d\n", cobra.ShellCompDirectiveNoFileComp), r.Out)
}

// TestCompletionsWithoutANode: the shell offers nothing, and shows no error.
func TestCompletionsWithoutANode(t *testing.T) {
	c := newCLI(t)
	c.Dir = filepath.Join(c.Dir, "elsewhere")
	for _, line := range [][]string{{"client", "show", ""}, {"user", "show", ""}, {"cluster", "remove", ""}, {"client", "secret", "revoke", "cal-app", ""}, {"settings", "set", ""}, {"keys", "rotate", "--emergency", ""}} {
		require.Empty(t, c.completions(line...), "%v", line)
	}
}
