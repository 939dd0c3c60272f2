package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExamplesOfTheProgram: each command has an example, and the example is a valid call
// of that command.
func TestExamplesOfTheProgram(t *testing.T) {
	word := regexp.MustCompile(`(?:[^\s"]|"[^"]*")+`)
	for _, path := range leaves(rootCommand().Commands()) {
		c, _, err := rootCommand().Find(strings.Fields(path))
		require.NoError(t, err)
		require.NotEmpty(t, c.Example, path)
		for line := range strings.Lines(c.Example) {
			_, line, ok := strings.Cut(line, "mintmark ")
			require.True(t, ok, path)
			line, _, _ = strings.Cut(strings.TrimRight(strings.TrimSpace(line), ")"), " > ")
			c, rest, err := rootCommand().Find(word.FindAllString(line, -1))
			require.NoError(t, err, line)
			require.Equal(t, "mintmark "+path, c.CommandPath(), line)
			c.InheritedFlags() // required before ParseFlags knows inherited flags
			require.NoError(t, c.ParseFlags(rest), line)
			require.NoError(t, c.Args(c, c.Flags().Args()), line)
		}
	}
}
