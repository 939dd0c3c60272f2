package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// eachCommand calls f for every command that has no subcommands.
func eachCommand(c *cobra.Command, f func(path string, c *cobra.Command)) {
	for _, below := range c.Commands() {
		eachCommand(below, f)
	}
	if !c.HasSubCommands() {
		f(strings.TrimPrefix(c.CommandPath(), "mintmark "), c)
	}
}

// words splits a line as a shell does, without its redirections.
func words(line string) (all []string) {
	line, _, _ = strings.Cut(line, " > ")
	for _, w := range regexp.MustCompile(`(?:[^\s"]|"[^"]*")+`).FindAllString(line, -1) {
		all = append(all, strings.ReplaceAll(w, `"`, ""))
	}
	return all
}

// checkLine checks a line as cobra does before it runs a command.
func checkLine(line string) error {
	root := testRoot()
	c, rest, err := root.Find(words(line)[1:])
	if err != nil {
		return err
	}
	c.InheritedFlags() // ParseFlags needs this call first
	if err := c.ParseFlags(rest); err != nil {
		return flagError(c, err)
	}
	return c.Args(c, c.Flags().Args())
}

// TestExamples: each command has an example, and the example is of that command.
func TestExamples(t *testing.T) {
	seen := map[string]bool{}
	eachCommand(testRoot(), func(path string, c *cobra.Command) {
		seen[path] = true
		require.NotEmpty(t, c.Example, path)
		for line := range strings.Lines(c.Example) {
			require.Contains(t, line, "mintmark "+path, path)
			require.NoError(t, checkLine(strings.TrimSpace(line)), line)
			if _, file, ok := strings.Cut(line, "--config "); ok {
				require.Equal(t, installedConfig, strings.TrimSpace(file), path)
			}
		}
	})
	for path := range examples {
		first, _, _ := strings.Cut(path, " ")
		if first != "dev" && first != "demo" && first != "docs" { // see TestExamplesOfTheProgram
			require.True(t, seen[path], "%s is not a command", path)
		}
	}
}

// TestUsageErrors: an error of the command line is in the product's own words, and names
// the wrong argument.
func TestUsageErrors(t *testing.T) {
	for line, want := range map[string]string{
		"mintmark shwo":                            `unknown command "shwo" for "mintmark"`,
		"mintmark status":                          `unknown command "status" for "mintmark"; did you mean cluster status?`,
		"mintmark list":                            `unknown command "list" for "mintmark" (see mintmark --help)`,
		"mintmark config explan":                   `unknown command "explan" for "mintmark config" (see mintmark config --help)`,
		"mintmark audit --kidn x":                  `unknown flag --kidn for "mintmark audit"; did you mean --kind?`,
		"mintmark clinet list":                     `unknown command "clinet" for "mintmark"; did you mean client?`,
		"mintmark client shwo":                     `unknown command "shwo" for "mintmark client"; did you mean show?`,
		"mintmark client secret lsit":              `unknown command "lsit" for "mintmark client secret"; did you mean list or set?`,
		"mintmark client shwo --output json":       `unknown command "shwo" for "mintmark client"; did you mean show?`,
		"mintmark cluster backup rsetore f --yes":  `unknown command "rsetore" for "mintmark cluster backup"; did you mean restore?`,
		"mintmark client show":                     "CLIENT is missing; usage: mintmark client show CLIENT",
		"mintmark client show a b":                 `unexpected argument "b"`,
		"mintmark client list a":                   `unexpected argument "a"`,
		"mintmark client secret revoke a":          "SECRET_ID is missing",
		"mintmark settings set":                    "KEY=VALUE is missing",
		"mintmark client add --name X":             "--owner, --redirect-uri, --scope are missing",
		"mintmark client reject a":                 "--reason is missing",
		"mintmark resource-server add https://a":   "--name is missing",
		"mintmark client list --colour":            `unknown flag --colour for "mintmark client list"`,
		"mintmark client list --stat pending":      `unknown flag --stat for "mintmark client list"; did you mean --state?`,
		"mintmark client list -x":                  `unknown flag -x for "mintmark client list"`,
		"mintmark client list --state":             "--state needs a value",
		"mintmark audit --limit -1":                `--limit: expected a whole number from 0 on, got "-1"`,
		"mintmark grant list --user a --limit x":   `--limit: expected a whole number from 0 on, got "x"`,
		"mintmark client list --timeout soon":      `--timeout: expected a duration such as 60s, 12h or 30d, got "soon"`,
		"mintmark user add a --admin=perhaps":      `--admin: expected true or false, got "perhaps"`,
		"mintmark client list --=x":                `"--=x" is not a flag`,
		"mintmark serve now":                       `unexpected argument "now"`,
		"mintmark cluster backup restore":          "FILE is missing",
		"mintmark settings set a=b c=d":            "",
		"mintmark client delete cal-app":           "",
		"mintmark cluster generate --public-url x": "--node, --out are missing",
	} {
		err := checkLine(line)
		if want == "" {
			require.NoError(t, err, line)
			continue
		}
		require.ErrorContains(t, err, want, line)
		for _, foreign := range []string{"arg(s)", "required flag", "shorthand", "invalid argument", "strconv", "Did you mean this"} {
			require.NotContains(t, err.Error(), foreign, line)
		}
	}
}

// TestUsageErrorIsPrinted: a usage error is one line, with exit code 1.
func TestUsageErrorIsPrinted(t *testing.T) {
	r := runLine(t, "client", "shwo")
	require.Equal(t, ExitLocal, r.Code)
	require.Equal(t, "mintmark: unknown command \"shwo\" for \"mintmark client\"; did you mean show?\n", r.Err)
	r = runLine(t, "help", "client", "shwo")
	require.Equal(t, ExitLocal, r.Code)
	require.Equal(t, "mintmark: unknown command \"shwo\" for \"mintmark client\"; did you mean show?\n", r.Err)
	require.Empty(t, r.Out)
	r = runLine(t, "help", "client", "show")
	require.Equal(t, ExitOK, r.Code)
	require.Contains(t, r.Out, "mintmark client show CLIENT")
	r = runLine(t, "grant", "list")
	require.Contains(t, r.Err, "mintmark: --user or --client is missing; usage: mintmark grant list [flags]")
	r = runLine(t)
	require.Equal(t, ExitOK, r.Code)
	require.Contains(t, r.Out, "Available Commands")
}

// TestRequiredFlags: the help marks the flags that a command needs.
func TestRequiredFlags(t *testing.T) {
	marked := regexp.MustCompile(`(?m)^ +--([a-z-]+) .* \(required\)$`)
	var names []string
	for _, m := range marked.FindAllStringSubmatch(runLine(t, "client", "add", "--help").Out, -1) {
		names = append(names, m[1])
	}
	require.Equal(t, []string{"name", "owner", "redirect-uri", "scope"}, names)
}

// TestConfirmingFlags: every command that needs a confirmation uses the flag --yes.
func TestConfirmingFlags(t *testing.T) {
	var confirming []string
	eachCommand(testRoot(), func(path string, c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			require.NotContains(t, []string{"force", "confirm", "accept-gap", "really"}, f.Name, path)
			if f.Name == yesFlag {
				confirming = append(confirming, path)
			}
		})
	})
	slices.Sort(confirming)
	require.Equal(t, []string{
		"apply", "bench exchange", "bench introspect", "bench refresh", "client delete", "client set", "cluster backup restore", "cluster recover", "cluster remove", "keys rewrap", "publisher remove", "resource-server remove", "settings set", "user delete",
	}, confirming)
}

// TestOptionalArguments: an optional argument may be omitted, and may be given once.
func TestOptionalArguments(t *testing.T) {
	c := &cobra.Command{Use: "show NAME [FILE]"}
	for n, ok := range []bool{false, true, true, false} {
		err := checkUsage(c, []string{"a", "b", "c"}[:n])
		require.Equal(t, ok, err == nil, "%d: %v", n, err)
	}
}
