package docs_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/docs"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/dev"
)

// root is the checkout.
var root = filepath.Join("..", "..", "..")

// limits are the maximum numbers of lines of the documents.
var limits = map[string]int{
	"README.md":                             250,
	"middleware/README.md":                  350,
	"issuer/README.md":                      150,
	"cmd/mintmark/docs/api.md":              150,
	"cmd/mintmark/docs/install.md":          300,
	"cmd/mintmark/docs/tls.md":              150,
	"cmd/mintmark/docs/sign-in.md":          50,
	"cmd/mintmark/docs/operate.md":          300,
	"cmd/mintmark/docs/monitor.md":          230,
	"cmd/mintmark/docs/packages.md":         150,
	"cmd/mintmark/docs/support.md":          150,
	"cmd/mintmark/docs/unit.md":             110,
	"cmd/mintmark/docs/sizing.md":           150,
	"cmd/mintmark/docs/remote.md":           160,
	"cmd/mintmark/docs/resource-servers.md": 150,
	"cmd/mintmark/docs/agents.md":           210,
	"cmd/mintmark/docs/backup.md":           150,
	"cmd/mintmark/docs/disaster.md":         200,
	"cmd/mintmark/docs/apply.md":            150,
	"cmd/mintmark/docs/hydra.md":            150,
	"cmd/mintmark/docs/reference.md":        250,
	"cmd/mintmark/docs/design.md":           150,
	"cmd/mintmark/docs/security.md":         80,
	"cmd/mintmark/docs/contributing.md":     200,
	"cmd/mintmark/docs/changelog.md":        80,
	"verifier/bench/README.md":              250,
	"cmd/mintmark/e2e/testdata/README.md":   150, // a sample
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	return string(text)
}

// TestLimits checks the length of each document and of its lines, apart from tables and
// code. A new document needs a limit.
func TestLimits(t *testing.T) {
	out, err := exec.Command("git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md").Output()
	require.NoError(t, err)
	for _, path := range strings.Fields(string(out)) {
		limit, ok := limits[path]
		require.True(t, ok, "%s has no limit", path)
		text := read(t, path)
		require.LessOrEqual(t, strings.Count(text, "\n"), limit, "%s has more lines than limits allows it", path)
		for line := range strings.Lines(prose(text)) {
			if !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "![") && !strings.HasPrefix(strings.TrimSpace(line), "<!--") {
				require.LessOrEqual(t, len([]rune(line)), 122, "%s: %s", path, line)
			}
		}
	}
}

var fences = regexp.MustCompile("(?ms)^[ ]*```.*?^[ ]*```$")

// prose returns a document without its blocks of code.
func prose(text string) string { return fences.ReplaceAllString(text, "") }

var (
	links    = regexp.MustCompile(`(!?)\[[^\]]*\]\(([^)\s]+)\)`)
	headings = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noAnchor = regexp.MustCompile(`[^\pL\pN _-]`)
)

// anchors returns the anchors that GitHub makes for the headings of a document.
func anchors(text string) (all []string) {
	for _, h := range headings.FindAllStringSubmatch(prose(text), -1) {
		all = append(all, strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
	}
	return all
}

// TestLinks: each relative link names an existing file, and each anchor an existing
// heading. Pictures are small.
func TestLinks(t *testing.T) {
	for path := range limits {
		for _, l := range links.FindAllStringSubmatch(prose(read(t, path)), -1) {
			file, anchor, _ := strings.Cut(l[2], "#")
			if strings.Contains(file, "://") {
				continue
			}
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
			}
			s, err := os.Stat(filepath.Join(root, target))
			require.NoError(t, err, "%s: %s", path, l[0])
			if l[1] == "!" {
				require.Less(t, s.Size(), int64(40<<10), target)
			}
			if anchor != "" {
				require.Contains(t, anchors(read(t, target)), anchor, "%s: %s", path, l[0])
			}
		}
	}
	require.Equal(t, []string{"a-first-token", "see-mintmark-docs"}, anchors("# A first token\n```sh\n# no heading\n```\n## See `mintmark docs`\n"))
}

// TestNames: the map in README.md has each document, and the binary has the documents of
// its folder.
func TestNames(t *testing.T) {
	readme, all := read(t, "README.md"), map[string]string{}
	for _, d := range docs.All {
		text, ok := docs.Read(d.Name)
		require.True(t, ok, d.Name)
		require.True(t, strings.HasPrefix(text, "# "), d.Name)
		require.NotRegexp(t, `(?m)^\s*<!--`, text, d.Name)
		require.NotContains(t, text, "\n\n\n", d.Name)
		all[d.Name] = text
	}
	files, err := filepath.Glob("*.md")
	require.NoError(t, err)
	for _, file := range files {
		require.Contains(t, all, strings.TrimSuffix(file, ".md"))
		require.Contains(t, readme, "](cmd/mintmark/docs/"+file+")")
	}
	require.Len(t, docs.All, len(files)+1, "the binary also has the guide of package issuer")
	require.Contains(t, all["applications"], "# Applications")
	_, ok := docs.Read("none")
	require.False(t, ok)
}

var (
	codeSpans = regexp.MustCompile("`[^`\n]+`")
	command   = regexp.MustCompile(`(?m)(?:^|[\x60( ;|])(?:bin/)?mintmark ((?:[a-z][a-z-]*)(?: [^\n\x60)|>]*)?)`)
	flagName  = regexp.MustCompile(`(?:^| )--([a-z-]+)`)
)

// TestCommands: each command in a document exists, and has the flags that follow it
// there.
func TestCommands(t *testing.T) {
	program := cli.Root("dev", dev.Command(dev.Options{Version: "dev"}), dev.DemoCommand())
	program.InitDefaultCompletionCmd()
	found := 0
	for path := range limits {
		text := strings.NewReplacer("\\\n", "", "sudo -u mintmark ", "").Replace(read(t, path))
		var code []string
		for _, block := range regexp.MustCompile("(?ms)^[ ]*```sh$(.*?)^[ ]*```$").FindAllStringSubmatch(text, -1) {
			code = append(code, block[1])
		}
		code = append(code, codeSpans.FindAllString(prose(text), -1)...)
		for _, c := range code {
			for _, m := range command.FindAllStringSubmatch(c, -1) {
				words := strings.Fields(m[1])
				got, rest, err := program.Find(words)
				require.NoError(t, err, "%s: %s", path, m[0])
				require.NotSame(t, program, got, "%s: %s", path, m[0])
				if got.HasSubCommands() && len(rest) > 0 {
					require.Regexp(t, `^[-A-Z…]`, rest[0], "%s: %s", path, m[0])
				}
				for _, f := range flagName.FindAllStringSubmatch(" "+strings.Join(rest, " "), -1) {
					require.True(t, hasFlag(got, f[1]), "%s: %s: --%s", path, m[0], f[1])
				}
				found++
			}
		}
	}
	require.Greater(t, found, 100)
}

func hasFlag(c *cobra.Command, name string) bool {
	return name == "help" || c.Flags().Lookup(name) != nil || c.InheritedFlags().Lookup(name) != nil
}

// TestReference: each path and each error code of the protocol is documented.
func TestReference(t *testing.T) {
	reference := read(t, "cmd/mintmark/docs/reference.md") + read(t, "issuer/README.md")
	found := 0
	for _, name := range []string{"metadata.go", "errors.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "issuer/oauth", name), nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok || len(v.Values) != 1 {
				return true
			}
			value, ok := literal(v.Values[0])
			if ok && (strings.HasPrefix(v.Names[0].Name, "Path") || v.Type != nil) {
				require.Contains(t, reference, "`"+value+"`")
				found++
			}
			return true
		})
	}
	require.Greater(t, found, 15)
}

var metricName = regexp.MustCompile(`\b(?:mintmark|raft)_[a-z_]+[a-z]`)

// TestMetricsThatAreNamed: each metric in a document exists.
func TestMetricsThatAreNamed(t *testing.T) {
	exported := scrape(t)
	for path := range limits {
		for _, name := range metricName.FindAllString(read(t, path), -1) {
			require.True(t, slices.ContainsFunc(exported, func(m metric) bool {
				return name == m.name || name == m.name+"_count"
			}), "%s: %s", path, name)
		}
	}
}

// TestClientsOfAgents: the guide for agents has each client that the end-to-end tests install,
// with its version.
func TestClientsOfAgents(t *testing.T) {
	var npm struct{ Dependencies map[string]string }
	require.NoError(t, json.Unmarshal([]byte(read(t, "cmd/mintmark/e2e/clients/package.json")), &npm))
	installed := map[string]string{}
	for name, version := range npm.Dependencies {
		if strings.Contains(name, "mcp") || strings.HasPrefix(name, "@modelcontextprotocol/") {
			installed[name] = version
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^\t(github.com/modelcontextprotocol/\S+) v(\S+)$`).FindAllStringSubmatch(read(t, "cmd/mintmark/e2e/clients/mcp-go/go.mod"), -1) {
		installed[m[1]] = m[2]
	}
	require.Len(t, installed, 7)
	_, section, _ := strings.Cut(read(t, "cmd/mintmark/docs/agents.md"), "\n## Clients\n")
	documented := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\S+)` \\| (\\S+) \\|").FindAllStringSubmatch(section, -1) {
		documented[m[1]] = m[2]
	}
	require.Equal(t, installed, documented)
}
