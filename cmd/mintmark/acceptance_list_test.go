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

// A statement is one line of the service document, with the tests that cover it.
type statement struct {
	section, text string
	tests         []string
}

var (
	numbered     = regexp.MustCompile(`^#+ (\d+(?:\.\d+)?)`)
	documentTest = regexp.MustCompile(`^\d+(?:\.\d+)?_\w+$`)
	quotation    = regexp.MustCompile(`^// "(.*)"$`)
)

// readStatements reads testdata/document.txt: the headings and lines of the document,
// each line followed by a tab and the names of its tests.
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

// writtenTests returns the names of the document's subtests in the source, each with the
// sentences quoted above it or, in a table, beside it.
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
				require.NotContains(t, names, s, "two tests have the same name")
				require.NotContains(t, found, s, "two tests have the same name")
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

// statementID matches the statement ids at the beginning of a subtest's name; there may
// be several.
var statementID = regexp.MustCompile(`^(?:[A-Z]{2}\d{2}_)+`)

// idsOf returns the statements that a subtest covers, by its name.
func idsOf(name string) []string {
	return strings.Split(strings.TrimSuffix(statementID.FindString(name), "_"), "_")
}

// conformanceTests returns the names of the subtests about RFCs in the source.
func conformanceTests(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("conformance_*_test.go")
	require.NoError(t, err)
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(tree, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if s, err := strconv.Unquote(l.Value); err == nil && statementID.MatchString(s) && !slices.Contains(names, s) {
					names = append(names, s)
				}
			}
			return true
		})
	}
	return names
}

// sourceOf returns all test code of another module.
func sourceOf(t *testing.T, module string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", module, "*_test.go"))
	require.NoError(t, err)
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all.Write(text)
	}
	return all.String()
}

// readConformance reads testdata/conformance.txt: one line for each statement, with its
// id first and the names of its tests after a tab.
func readConformance(t *testing.T) (list []statement) {
	t.Helper()
	text, err := os.ReadFile("testdata/conformance.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if name, isTest := strings.CutPrefix(line, "\t"); isTest {
			require.NotEmpty(t, list, line)
			last := &list[len(list)-1]
			require.NotContains(t, last.tests, name)
			last.tests = append(last.tests, name)
		} else if line != "" && !strings.HasPrefix(line, "#") {
			id, text, _ := strings.Cut(line, " ")
			list = append(list, statement{section: id, text: text})
		}
	}
	return list
}

// notOffered replaces the tests of a statement about a feature that this server does not
// have. It is followed by the metadata member that would announce the feature.
const notOffered = "not offered: "

// TestConformanceIsListed: every statement has a test unless the metadata does not
// announce its feature, every test lists its statements, and no statement is missing.
func TestConformanceIsListed(t *testing.T) {
	list, written := readConformance(t), conformanceTests(t)
	require.Greater(t, len(written), 200)
	others := map[string]string{"verifier": sourceOf(t, "verifier"), "middleware": sourceOf(t, "middleware")}
	listed := map[string][]string{} // the statements of each test
	for _, s := range list {
		require.NotEmpty(t, s.tests, "no test for %s %s", s.section, s.text)
		for _, name := range s.tests {
			if strings.HasPrefix(name, notOffered) {
				require.Len(t, s.tests, 1, s.section)
				continue
			}
			if module, name, ok := strings.Cut(name, ": "); ok {
				require.Contains(t, idsOf(strings.TrimPrefix(name, "TestConformance_")), s.section)
				require.True(t, strings.Contains(others[module], `"`+name+`"`) || strings.Contains(others[module], "func "+name+"("), "there is no test %s in %s", name, module)
				continue
			}
			require.Contains(t, written, name)
			listed[name] = append(listed[name], s.section)
		}
	}
	for _, name := range written {
		require.ElementsMatch(t, idsOf(name), listed[name], "%s in testdata/conformance.txt", name)
	}

	// The list of statements is beside the checkout, not in it.
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "conformance.md"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Log("statements not found, list not compared")
		return
	}
	require.NoError(t, err)
	var want, got []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([A-Z]{2}\d{2}) \| .*? \| (.*?) \| .* \|$`).FindAllStringSubmatch(string(text), -1) {
		want = append(want, row[1]+" "+row[2])
	}
	for _, s := range list {
		got = append(got, s.section+" "+s.text)
	}
	require.Equal(t, want, got)
}

// TestDocumentIsListed: every statement has a test, every test quotes its statement,
// every listed name is a test, and no line of the document is missing.
func TestDocumentIsListed(t *testing.T) {
	list, written, conformance := readStatements(t), writtenTests(t), conformanceTests(t)
	require.Greater(t, len(written), 100)
	listed := map[string]bool{}
	for _, s := range list {
		require.True(t, slices.ContainsFunc(s.tests, func(name string) bool {
			return strings.HasPrefix(name, s.section+"_") || slices.Contains(conformance, name)
		}), "no test of section %s for %q", s.section, s.text)
		for _, name := range s.tests {
			listed[name] = true
			if slices.Contains(conformance, name) {
				continue // it says of which statement it is
			}
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

	// The document is beside the checkout, not in it.
	document, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "service-document.md"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Log("service document not found, list not compared")
		return
	}
	require.NoError(t, err)
	var lines []string
	for _, s := range list {
		lines = append(lines, s.text)
	}
	require.Equal(t, statementsIn(string(document)), lines)
}

// statementsIn returns the lines of the document, without headings, table heads and empty
// lines.
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
