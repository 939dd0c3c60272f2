package ledger_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the results in testdata")

// TestScenarios runs the files of testdata: each command is followed by "----" and its
// result. "go test -run TestScenarios -update" rewrites the results; review the diff.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			got := play(t, string(text))
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(text), got)
		})
	}
}

// play runs a scenario in a new env and returns its text with the actual results.
func play(t *testing.T, text string) string {
	w := newEnv(t)
	var out strings.Builder
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		require.True(t, lines.Scan(), "%q has no result", line)
		require.Equal(t, "----", lines.Text(), "after %q", line)
		for lines.Scan() && lines.Text() != "" {
		}
		fmt.Fprintf(&out, "----\n%s\n\n", strings.TrimRight(w.run(line), "\n"))
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// words splits a line at spaces, except within quotes.
func words(line string) []string {
	var list []string
	var word strings.Builder
	quoted := false
	for _, c := range line + " " {
		switch {
		case c == '"':
			quoted = !quoted
		case c == ' ' && !quoted:
			if word.Len() > 0 {
				list = append(list, word.String())
				word.Reset()
			}
		default:
			word.WriteRune(c)
		}
	}
	return list
}
