package main

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A statement is one line of the service document with the tests that hold
// it.
type statement struct {
	section, text string
	tests         []string
}

var (
	numbered     = regexp.MustCompile(`^#+ (\d+(?:\.\d+)?)`)
	documentTest = regexp.MustCompile(`^\d+(?:\.\d+)?_\w+$`)
	quotation    = regexp.MustCompile(`^// "(.*)"$`)
)

// readStatements reads testdata/document.txt: headings as in the document,
// lines as in the document, and behind a tab the names of tests.
func readStatements(t *testing.T) (list []statement) {
	t.Helper()
	text, err := os.ReadFile("testdata/document.txt")
	require.NoError(t, err)
	section := "0"
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		name, isTest := strings.CutPrefix(line, "\t")
		switch {
		case isTest:
			require.NotEmpty(t, list, line)
			last := &list[len(list)-1]
			require.NotContains(t, last.tests, name)
			last.tests = append(last.tests, name)
		case strings.HasPrefix(line, "#"):
			if m := numbered.FindStringSubmatch(line); m != nil {
				section = m[1]
			}
		case line != "":
			list = append(list, statement{section: section, text: line})
		}
	}
	return list
}

// writtenTests are the names of TestDocument's subtests in the source, each
// with what is quoted above it or, in a table, beside it.
func writtenTests(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("document_*_test.go")
	require.NoError(t, err)
	found := map[string][]string{}
	for _, file := range files {
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, nil, parser.ParseComments)
		require.NoError(t, err)
		above, beside := map[int]string{}, map[int][]string{}
		for _, group := range tree.Comments {
			last := group.List[len(group.List)-1]
			if m := quotation.FindStringSubmatch(last.Text); m != nil {
				above[set.Position(last.Pos()).Line+1] = m[1]
			}
		}
		names := map[string]int{}
		ast.Inspect(tree, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				s, err := strconv.Unquote(l.Value)
				require.NoError(t, err)
				line := set.Position(l.Pos()).Line
				if !documentTest.MatchString(s) {
					beside[line] = append(beside[line], s)
					return true
				}
				require.NotContains(t, names, s, "two tests of one name")
				require.NotContains(t, found, s, "two tests of one name")
				names[s] = line
			}
			return true
		})
		for name, line := range names {
			if quote, ok := above[line]; ok {
				found[name] = []string{quote}
			} else {
				found[name] = beside[line]
			}
		}
	}
	return found
}

// TestDocumentIsListed: no statement without a test, no test without a
// statement that it quotes, no name without a test behind it, and none of the
// document's lines left out.
func TestDocumentIsListed(t *testing.T) {
	list, written := readStatements(t), writtenTests(t)
	require.Greater(t, len(written), 100)
	listed := map[string]bool{}
	for _, s := range list {
		require.True(t, slices.ContainsFunc(s.tests, func(name string) bool {
			return strings.HasPrefix(name, s.section+"_")
		}), "no test of section %s for %q", s.section, s.text)
		for _, name := range s.tests {
			listed[name] = true
			quotes, ok := written[name]
			require.True(t, ok, "there is no test %s", name)
			require.True(t, slices.ContainsFunc(quotes, func(q string) bool {
				return len(q) >= 10 && strings.Contains(s.text, q)
			}), "%s quotes nothing of %q", name, s.text)
		}
	}
	for name := range written {
		require.True(t, listed[name], "%s is not in testdata/document.txt", name)
	}

	// The document itself lies beside a checkout, not in it.
	document, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "service-document.md"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Log("the service document is not here: the list was not compared with it")
		return
	}
	require.NoError(t, err)
	var lines []string
	for _, s := range list {
		lines = append(lines, s.text)
	}
	require.Equal(t, statementsIn(string(document)), lines)
}

// statementsIn are the lines of a document but for headings, the heads of
// tables and what is empty.
func statementsIn(document string) (list []string) {
	lines := strings.Split(document, "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		head := i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|---")
		if line != "" && !head && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "|---") {
			list = append(list, line)
		}
	}
	return list
}
