package docs_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/mintmark-auth/mintmark/cluster/status"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/telemetry"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

var update = flag.Bool("update", false, "write the generated sections anew")

// generated has the sections that are generated from the code, by the name of their mark.
var generated = map[string]func(*testing.T) string{
	"settings":         settingsOfANode,
	"cluster settings": settingsOfTheCluster,
	"exit codes":       exitCodes,
	"metrics":          metrics,
	"audit events":     auditEvents,
	"log records":      logRecords,
	"alerts":           alerts,
	"unit":             unit,
}

// unit returns the systemd unit, as the command prints it.
func unit(t *testing.T) string {
	root, out := cli.Root("dev"), new(strings.Builder)
	root.SetArgs([]string{"unit"})
	root.SetOut(out)
	require.Zero(t, cli.Execute(t.Context(), root))
	return "```ini\n" + out.String() + "```\n"
}

var section = regexp.MustCompile(`(?s)(<!-- generated: ([a-z ]+) -->\n).*?(<!-- end -->\n)`)

// TestGenerated fails if a generated section differs from the code. With -update it
// rewrites the sections.
func TestGenerated(t *testing.T) {
	written := map[string]bool{}
	for path := range limits {
		text := read(t, path)
		want := section.ReplaceAllStringFunc(text, func(old string) string {
			m := section.FindStringSubmatch(old)
			generate := generated[m[2]]
			require.NotNil(t, generate, m[2])
			written[m[2]] = true
			return m[1] + generate(t) + m[3]
		})
		if *update {
			require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(want), 0o644))
			continue
		}
		if text != want {
			t.Errorf("%s is out of date: go test ./cmd/mintmark/docs -run TestGenerated -update\nremoved: %q\nadded: %q",
				path, linesWithout(text, want), linesWithout(want, text))
		}
	}
	require.Len(t, written, len(generated))
}

// linesWithout returns the lines of a text that the other text does not have.
func linesWithout(text, other string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		return slices.Contains(strings.Split(other, "\n"), line)
	})
}

func table(heading []string, rows [][]string) string {
	var b strings.Builder
	for i, row := range append([][]string{heading}, rows...) {
		cells := make([]string, len(row))
		for j, cell := range row {
			cells[j] = strings.ReplaceAll(strings.Join(strings.Fields(cell), " "), "|", `\|`)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return b.String()
}

func code(s string) string { return "`" + s + "`" }

func settingsOfANode(*testing.T) string {
	var o config.Options
	f := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	o.Flags(f)
	var rows [][]string
	for _, s := range o.Settings() {
		one := f.Lookup(s.Key)
		shown := ""
		if one.DefValue != "" && one.DefValue != "[]" {
			shown = code(one.DefValue)
		}
		kind, usage := pflag.UnquoteUsage(one)
		if strings.ToUpper(kind) == kind && kind != "" && !strings.Contains(usage, kind) {
			usage = kind + ": " + usage
		}
		rows = append(rows, []string{code(s.Key), shown, usage})
	}
	return table([]string{"setting", "default", "what"}, rows)
}

func settingsOfTheCluster(*testing.T) string {
	var rows [][]string
	for _, s := range admin.DefaultSettings().Settings {
		shown := "by `cluster init`"
		if s.Value != "" {
			shown = code(s.Value)
		}
		if s.Fixed {
			s.About += "; can't be changed later"
		}
		rows = append(rows, []string{code(s.Key), shown, s.About})
	}
	return table([]string{"setting", "default", "what"}, rows)
}

// exitCodes returns the exit codes in the help of a command.
func exitCodes(t *testing.T) string {
	audit, _, err := cli.Root("dev").Find([]string{"user"})
	require.NoError(t, err)
	_, list, ok := strings.Cut(strings.Join(strings.Fields(audit.Long), " "), "Exit codes: ")
	require.True(t, ok, audit.Long)
	list, _, _ = strings.Cut(list, ". ")
	number := regexp.MustCompile(`(?:^|, )([0-9]) `)
	var rows [][]string
	at := number.FindAllStringSubmatchIndex(list, -1)
	for i, m := range at {
		end := len(list)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		rows = append(rows, []string{list[m[2]:m[3]], strings.TrimSuffix(list[m[1]:end], ".")})
	}
	require.Len(t, rows, cli.ExitChanges+1)
	return table([]string{"code", "meaning"}, rows)
}

type metric struct{ name, kind, labels, help string }

// aNode is a node with a value for every metric.
type aNode struct{}

func (aNode) Sample() telemetry.NodeSample {
	return telemetry.NodeSample{Open: true, Stats: status.Stats{CertificateExpires: time.Unix(1, 0)}, BackupAt: time.Unix(1, 0), BackupEvery: time.Hour, TLSExpires: map[string]time.Time{"listen": time.Unix(1, 0)}, Numbers: &ledger.Numbers{}}
}

// scrape returns the metrics that a node exports before its first request, without those
// of the Go runtime and the process.
func scrape(t *testing.T) (all []metric) {
	t.Helper()
	m := telemetry.NewMetrics(aNode{}, "dev")
	require.NoError(t, m.CollectRaft())
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	labels := map[string][]string{}
	for line := range strings.Lines(w.Body.String()) {
		if series := regexp.MustCompile(`^(\w+)\{(.*)\}`).FindStringSubmatch(line); series != nil {
			name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(series[1], "_bucket"), "_sum"), "_count")
			for _, l := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(series[2], -1) {
				if l[1] != "le" && !slices.Contains(labels[name], l[1]) {
					labels[name] = append(labels[name], l[1])
				}
			}
		}
	}
	described := regexp.MustCompile(`(?m)^# HELP ((?:mintmark|raft)_\w+) (.*)\n# TYPE \w+ (\w+)$`)
	for _, d := range described.FindAllStringSubmatch(w.Body.String(), -1) {
		all = append(all, metric{d[1], d[3], strings.Join(labels[d[1]], ", "), d[2]})
	}
	require.NotEmpty(t, all)
	return all
}

func metrics(t *testing.T) string {
	var rows [][]string
	for _, m := range scrape(t) {
		if m.labels != "" {
			m.labels = " (" + m.labels + ")"
		}
		rows = append(rows, []string{code(m.name) + m.labels, m.kind, m.help})
	}
	return table([]string{"metric (labels)", "type", "what"}, rows)
}

// alerts returns the alerts of the rules that the binary prints.
func alerts(t *testing.T) string {
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, For          string
				Labels, Annotations map[string]string
			}
		}
	}
	require.NoError(t, yamlv3.Unmarshal([]byte(telemetry.Rules), &file))
	var rows [][]string
	for _, r := range file.Groups[0].Rules {
		name, _, _ := strings.Cut(r.Annotations["document"], ".md")
		see := fmt.Sprintf(" [%s](%s)", strings.ToUpper(name[:1])+name[1:], r.Annotations["document"])
		rows = append(rows, []string{code(r.Alert), r.Labels["severity"], cmp.Or(r.For, "at once"), r.Annotations["action"] + see})
	}
	return table([]string{"alert", "severity", "after", "what to do"}, rows)
}

// auditEvents reads the kinds of events and their comments from the source.
func auditEvents(t *testing.T) string {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "issuer/ledger/audit.go"), nil, parser.ParseComments)
	require.NoError(t, err)
	var families []string
	kinds := map[string][]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) != 1 {
			return true
		}
		kind, ok := v.Type.(*ast.Ident)
		if !ok || kind.Name != "EventKind" {
			return true
		}
		name, ok := literal(v.Values[0])
		require.True(t, ok)
		family, rest, ok := strings.Cut(name, ".")
		require.True(t, ok, name)
		if !slices.Contains(families, family) {
			families = append(families, family)
		}
		entry := code(rest)
		if v.Comment != nil {
			entry += " (" + strings.TrimSpace(v.Comment.Text()) + ")"
		}
		kinds[family] = append(kinds[family], entry)
		return true
	})
	var rows [][]string
	for _, family := range families {
		rows = append(rows, []string{code(family + "."), strings.Join(kinds[family], ", ")})
	}
	require.NotEmpty(t, rows)
	return table([]string{"kind", "events"}, rows)
}

// logRecords reads the messages of warnings and errors from the source.
func logRecords(t *testing.T) string {
	levels := map[string]string{"Error": "error", "ErrorContext": "error", "Warn": "warning", "WarnContext": "warning"}
	found := map[string]map[string]bool{} // level and message to folders
	for _, folder := range []string{"cluster", "issuer", "cmd/mintmark/internal/server", "cmd/mintmark/internal/cli", "cmd/mintmark/internal/config", "cmd/mintmark/internal/proxy", "cmd/mintmark/internal/telemetry"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				f, ok := call.Fun.(*ast.SelectorExpr)
				if !ok || levels[f.Sel.Name] == "" || !isLogger(f.X) {
					return true
				}
				argument := 0
				if strings.HasSuffix(f.Sel.Name, "Context") {
					argument = 1
				}
				if len(call.Args) <= argument {
					return true
				}
				if message, ok := literal(call.Args[argument]); ok && message != "" {
					key := levels[f.Sel.Name] + "|" + message
					if found[key] == nil {
						found[key] = map[string]bool{}
					}
					inside, _ := filepath.Rel(root, filepath.Dir(path))
					found[key][filepath.ToSlash(inside)] = true
				}
				return true
			})
			return nil
		}))
	}
	var rows [][]string
	for _, key := range slices.Sorted(maps.Keys(found)) {
		level, message, _ := strings.Cut(key, "|")
		rows = append(rows, []string{level, message, strings.Join(slices.Sorted(maps.Keys(found[key])), ", ")})
	}
	require.Greater(t, len(rows), 30)
	return table([]string{"level", "message", "package"}, rows)
}

// isLogger reports whether an expression has a name that loggers have.
func isLogger(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return strings.EqualFold(x.Name, "log")
	case *ast.SelectorExpr:
		return strings.EqualFold(x.Sel.Name, "log") || x.Sel.Name == "Logger"
	}
	return false
}

// literal returns the value of an expression of string literals.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		v := constant.MakeFromLiteral(e.Value, e.Kind, 0)
		return constant.StringVal(v), v.Kind() == constant.String
	case *ast.BinaryExpr:
		a, ok := literal(e.X)
		b, also := literal(e.Y)
		return a + b, ok && also
	case *ast.ParenExpr:
		return literal(e.X)
	}
	return "", false
}
