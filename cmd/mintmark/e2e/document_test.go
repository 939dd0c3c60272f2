package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// browsed are the sections of the service document that can be tested with a browser
// alone.
var browsed = []string{"2.1", "3", "4.1", "4.5", "5.2", "5.4", "9"}

var (
	documentHeading = regexp.MustCompile(`^#+ (\d+(?:\.\d+)?)`)
	quotation       = regexp.MustCompile(`(?m)^\t+// "(.{10,})"$`)
)

// statements returns the lines of those sections, from the list that cmd/mintmark
// compares with the document. Statements that are marked as not shown are left out.
func statements(t *testing.T) (list []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "testdata", "document.txt"))
	require.NoError(t, err)
	section := ""
	for line := range strings.Lines(string(text)) {
		_, test := strings.CutPrefix(line, "\t")
		line = strings.TrimSpace(line)
		if m := documentHeading.FindStringSubmatch(line); m != nil {
			section = m[1]
		}
		if line != "" && !test && !strings.HasPrefix(line, "#") && !strings.HasSuffix(line, ": not shown.") && slices.Contains(browsed, section) {
			list = append(list, line)
		}
	}
	require.Greater(t, len(list), 25)
	return list
}

// TestDocumentInTheBrowser: each of these statements is quoted in a browser test that
// covers it.
func TestDocumentInTheBrowser(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	var quotes []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range quotation.FindAllStringSubmatch(string(text), -1) {
			quotes = append(quotes, m[1])
		}
	}
	list := statements(t)
	for _, statement := range list {
		require.True(t, slices.ContainsFunc(quotes, func(q string) bool { return strings.Contains(statement, q) }), "no browser test quotes %q", statement)
	}
	for _, q := range quotes {
		require.True(t, slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, q) }), "the document does not contain %q", q)
	}
}
