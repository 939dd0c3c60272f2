package e2e

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A step is one action of a user who follows a document: a fenced block, or a visit with the
// browser. The marks in a document:
//
//	```sh                        run, in order, in one bash session
//	<!-- background: NAME -->    before a block: it keeps running. It is ready when it
//	                             prints a line that is a JSON object. The next two
//	                             marks refer to the name, also in later documents of
//	                             the same story
//	<!-- ready: TEXT -->         in addition: it is also ready when it prints TEXT
//	<!-- ctrl-c: NAME -->        after a block: the background blocks with this name, or
//	                             these names, are interrupted
//	<!-- again: NAME -->         after a block: an interrupted block starts again
//	<!-- no-run: reason -->      before a block of at most three lines: not run
//	<!-- expect: TEXT -->        on the line before or after a block: its output
//	                             contains TEXT, or each of TEXT | TEXT
//	<!-- browser -->             after a block: the authorization URL in it or in its
//	                             output is opened, demo signs in and allows. CODE is
//	                             then the authorization code, and replaces the value
//	                             in lines such as CODE=... of later blocks
//	<!-- file: PATH -->          before a block that is not sh: these lines are adjacent
//	                             in that file of the checkout
//	```go                        a whole file, or declarations without package and
//	                             imports, that passes go vet, unless it is an excerpt
//	                             of a file
//
// Blocks in other languages are ignored, except that a browser may find its URL in one.
type step struct {
	document   string
	line       int
	kind       kind
	text       string
	background bool
	name       string   // of a block in the background
	ready      string   // text that is printed when it is ready, "" for a JSON object
	names      []string // of the blocks for ctrl-c and again
	noRun      string   // the reason
	expect     []string
	file       string // the source of an excerpt
}

type kind int

const (
	shell kind = iota
	program
	other
	visit
	interrupt
	again
	excerpt
)

const marks = `background|ready|ctrl-c|again|browser|expect|no-run|file`

var mark = regexp.MustCompile(`^<!--\s*(` + marks + `)\s*(?::\s*(.*?))?\s*-->$`)

// parseDocument reads the steps. A misplaced mark is an error, so that no block stays
// untested by mistake. runs has the named blocks of the story, and whether each runs; it
// is changed.
func parseDocument(document, text string, runs map[string]bool) ([]step, error) {
	var steps []step
	var next step // collects the marks before a block
	pending := false
	var fence string // that ends the current block
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		number := i + 1
		bad := func(format string, a ...any) error {
			return fmt.Errorf("%s:%d: %s", document, number, fmt.Sprintf(format, a...))
		}
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "" && trimmed == fence:
			fence = ""
			switch s := &steps[len(steps)-1]; {
			case s.noRun != "" && strings.Count(s.text, "\n") > 3:
				return nil, bad("a block of more than three lines must be run")
			case s.noRun != "" && len(s.expect) > 0:
				return nil, bad("nothing can be expected of a block that is not run")
			case s.ready != "" && !s.background:
				return nil, bad("ready is for a block in the background")
			}
		case fence != "":
			s := &steps[len(steps)-1]
			s.text += line + "\n"
		case strings.HasPrefix(trimmed, "```"):
			name := strings.TrimLeft(trimmed, "`")
			fence = strings.TrimSuffix(trimmed, name)
			s := next
			s.document, s.line = document, number
			switch name {
			case "sh":
				s.kind = shell
			case "go":
				s.kind = program
			case "bash", "shell", "console", "zsh":
				return nil, bad("name blocks that are run sh, not %s", name)
			default:
				s.kind = other
			}
			switch {
			case s.file != "" && (s.kind == shell || s.background || s.ready != "" || s.noRun != "" || len(s.expect) > 0):
				return nil, bad("an excerpt of a file is not run")
			case s.file != "":
				s.kind = excerpt
			case pending && s.kind != shell:
				return nil, bad("the mark before this block is for sh blocks")
			}
			steps, next, pending = append(steps, s), step{}, false
		case trimmed == "":
		case pending && !mark.MatchString(trimmed):
			return nil, bad("a block must follow the mark")
		case mark.MatchString(trimmed):
			m := mark.FindStringSubmatch(trimmed)
			last := len(steps) - 1
			switch m[1] {
			case "background":
				if _, taken := runs[m[2]]; taken {
					return nil, bad("another block has this name")
				}
				if m[2] != "" {
					runs[m[2]] = true
				}
				next.background, next.name, pending = true, m[2], true
			case "ready":
				if m[2] == "" {
					return nil, bad("ready needs a text")
				}
				next.ready, pending = m[2], true
			case "file":
				if m[2] == "" {
					return nil, bad("file needs a path")
				}
				next.file, pending = m[2], true
			case "ctrl-c", "again":
				s := step{document: document, line: number, kind: interrupt, names: strings.Fields(m[2])}
				if m[1] == "again" {
					s.kind = again
				}
				if len(s.names) == 0 {
					return nil, bad("%s needs a name", m[1])
				}
				for _, name := range s.names {
					running, known := runs[name]
					if !known || running != (s.kind == interrupt) {
						return nil, bad("%s does not fit what %q does at this point", m[1], name)
					}
					runs[name] = !running
				}
				steps = append(steps, s)
			case "no-run":
				if m[2] == "" {
					return nil, bad("no-run needs a reason")
				}
				next.noRun, pending = m[2], true
			case "expect":
				before, after := touches(lines, i, -1), touches(lines, i, 1)
				switch {
				case m[2] == "" || before == after:
					return nil, bad("expect needs a text, and stands on the line before a block or after it")
				case after:
					next.expect, pending = append(next.expect, strings.Split(m[2], " | ")...), true
				case steps[last].kind != shell || steps[last].noRun != "":
					return nil, bad("the block before this is not run")
				default:
					steps[last].expect = append(steps[last].expect, strings.Split(m[2], " | ")...)
				}
			case "browser":
				if last < 0 || steps[last].kind != shell && steps[last].kind != other {
					return nil, bad("browser needs a block with the authorization URL before it")
				}
				steps = append(steps, step{document: document, line: number, kind: visit})
			}
		case strings.HasPrefix(trimmed, "<!--") && regexp.MustCompile(marks).MatchString(trimmed):
			return nil, bad("this is not a valid mark")
		}
	}
	switch {
	case fence != "":
		return nil, fmt.Errorf("%s: the last block has no end", document)
	case pending:
		return nil, fmt.Errorf("%s: the last mark has no block", document)
	}
	return steps, nil
}

// touches reports whether a fence is the next line in a direction from a mark, except for
// other marks.
func touches(lines []string, i, direction int) bool {
	for i += direction; i >= 0 && i < len(lines); i += direction {
		line := strings.TrimSpace(lines[i])
		if !mark.MatchString(line) {
			return strings.HasPrefix(line, "```")
		}
	}
	return false
}

func TestParseDocument(t *testing.T) {
	text, err := os.ReadFile("testdata/README.md")
	require.NoError(t, err)
	steps, err := parseDocument("sample", string(text), map[string]bool{})
	require.NoError(t, err)
	var got []string
	for _, s := range steps {
		got = append(got, fmt.Sprint(s.kind, s.background, s.noRun != "", len(s.expect)))
	}
	require.Equal(t, []string{
		"0 false true 0", "0 true false 1", "0 false false 1", "3 false false 0",
		"0 false false 1", "0 false false 2", "0 true false 0", "4 false false 0", "0 false false 1", "5 false false 0", "0 false false 1", "4 false false 0", "5 false false 0", "2 false false 0", "0 false false 0", "3 false false 0", "0 false false 1", "1 false false 0", "6 false false 0",
	}, got)

	for name, bad := range map[string]string{
		"an unnamed shell":         "```bash\nls\n```\n",
		"no end":                   "```sh\nls\n",
		"a long block not run":     "<!-- no-run: long -->\n```sh\na\nb\nc\nd\n```\n",
		"no reason":                "<!-- no-run -->\n```sh\na\n```\n",
		"a mark for nothing":       "<!-- background -->\ntext\n",
		"a mark at the end":        "<!-- background -->\n",
		"a mark before Go":         "<!-- background -->\n```go\npackage a\n```\n",
		"an expectation first":     "<!-- expect: a -->\n",
		"an expectation of no-run": "<!-- no-run: b -->\n```sh\na\n```\n<!-- expect: a -->\n",
		"one before no-run":        "<!-- expect: a -->\n<!-- no-run: b -->\n```sh\na\n```\n",
		"one between two blocks":   "```sh\na\n```\n<!-- expect: a -->\n```sh\na\n```\n",
		"one that stands alone":    "```sh\na\n```\n\n<!-- expect: a -->\n\ntext\n",
		"a browser first":          "<!-- browser -->\n",
		"a misspelt mark":          "<!-- expects: a -->\n",
		"ready in the foreground":  "<!-- ready: a -->\n```sh\na\n```\n",
		"ready without a text":     "<!-- background -->\n<!-- ready -->\n```sh\na\n```\n",
		"a name twice":             "<!-- background: a -->\n```sh\na\n```\n<!-- background: a -->\n```sh\na\n```\n",
		"ctrl-c of nobody":         "<!-- background: a -->\n```sh\na\n```\n<!-- ctrl-c -->\n",
		"ctrl-c of a stranger":     "<!-- background: a -->\n```sh\na\n```\n<!-- ctrl-c: b -->\n",
		"ctrl-c twice":             "<!-- background: a -->\n```sh\na\n```\n<!-- ctrl-c: a a -->\n",
		"a file without a path":    "<!-- file -->\n```text\na\n```\n",
		"a file that is run":       "<!-- file: a -->\n```sh\na\n```\n",
		"a file, and expectations": "<!-- file: a -->\n<!-- expect: a -->\n```text\na\n```\n",
		"again while it runs":      "<!-- background: a -->\n```sh\na\n```\n<!-- again: a -->\n",
	} {
		_, err := parseDocument("sample", bad, map[string]bool{})
		require.Error(t, err, name)
	}
}
