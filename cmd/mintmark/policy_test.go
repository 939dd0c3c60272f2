package main

import (
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/mintmark-auth/mintmark/"

// library lists the packages that resource servers import. They are separate modules,
// which "./..." does not include.
var library = []string{module + "middleware/...", module + "verifier/..."}

// everything lists all packages.
var everything = append([]string{"./..."}, library...)

// listed is the output of "go list" for a package.
type listed struct {
	ImportPath, Dir, Doc string
	Standard             bool
	Imports, Deps        []string
	GoFiles, EmbedFiles  []string
}

func goList(t *testing.T, arguments ...string) []listed {
	t.Helper()
	command := exec.Command("go", append([]string{"list", "-json"}, arguments...)...)
	command.Dir = filepath.Join("..", "..")
	out, err := command.Output()
	require.NoError(t, err)
	var list []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p listed
		require.NoError(t, d.Decode(&p))
		list = append(list, p)
	}
	return list
}

// TestImportPolicy verifies testdata/imports.txt.
func TestImportPolicy(t *testing.T) {
	type line struct{ own, foreign []string }
	policy := map[string]line{}
	text, err := os.ReadFile("testdata/imports.txt")
	require.NoError(t, err)
	for row := range strings.Lines(string(text)) {
		row, _, _ = strings.Cut(row, "#")
		name, rest, ok := strings.Cut(strings.TrimSpace(row), ":")
		if !ok {
			continue
		}
		own, foreign, _ := strings.Cut(rest, "|")
		policy[name] = line{strings.Fields(own), strings.Fields(foreign)}
	}
	for _, p := range goList(t, everything...) {
		name := strings.TrimPrefix(p.ImportPath, module)
		allowed, ok := policy[name]
		if !ok {
			// Packages that only serve the tests of their parent package.
			require.True(t, strings.HasSuffix(name, "test"), "%s is not in the policy", name)
			continue
		}
		for _, i := range p.Imports {
			own, mine := strings.CutPrefix(i, module)
			if mine {
				require.True(t, matches(allowed.own, own), "%s imports %s", name, own)
				continue
			}
			standard := !strings.Contains(strings.Split(i, "/")[0], ".")
			if len(allowed.foreign) > 0 && !standard {
				require.Contains(t, allowed.foreign, i, "%s imports %s", name, i)
			}
		}
		for _, entry := range slices.Concat(allowed.own, allowed.foreign) {
			used := entry == "std" || slices.ContainsFunc(p.Imports, func(i string) bool {
				return matches([]string{entry}, strings.TrimPrefix(i, module))
			})
			require.True(t, used, "%s does not import %s, which its line allows", name, entry)
		}
		delete(policy, name)
	}
	require.Empty(t, policy, "lines of packages that do not exist")
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		prefix, wild := strings.CutSuffix(p, "*")
		return p == name || wild && strings.HasPrefix(name, prefix)
	})
}

// TestResourceServersLinkTheStandardLibraryOnly: a program that imports middleware links
// no third-party package.
func TestResourceServersLinkTheStandardLibraryOnly(t *testing.T) {
	for _, p := range goList(t, append([]string{"-deps"}, library...)...) {
		require.True(t, p.Standard || strings.HasPrefix(p.ImportPath, module), p.ImportPath)
	}
}

// TestLedgerIsPure: the packages that every node must run with the same result use no
// clock, randomness, network or goroutine.
func TestLedgerIsPure(t *testing.T) {
	forbidden := []string{"net", "net/http", "os", "math/rand", "math/rand/v2", "crypto/rand", "log", "log/slog", "sync", "runtime"}
	clock := []string{"Now", "Since", "Until", "After", "Sleep", "NewTimer", "NewTicker", "Tick"}
	for _, p := range goList(t, "./issuer/ledger", "./issuer/oauth", module+"verifier/scope") {
		for _, i := range p.Imports {
			require.NotContains(t, forbidden, i, p.ImportPath)
		}
		set, files := parse(t, p)
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt:
					require.Fail(t, "a goroutine", set.Position(n.Pos()))
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" {
						require.NotContains(t, clock, n.Sel.Name, set.Position(n.Pos()))
					}
				}
				return true
			})
		}
	}
}

// TestLedgerWalksNoMap: map iteration order differs between nodes.
func TestLedgerWalksNoMap(t *testing.T) {
	p := goList(t, "./issuer/ledger")[0]
	set, files := parse(t, p)
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: importer.ForCompiler(set, "source", nil)}
	_, err := config.Check(p.ImportPath, set, files, info)
	require.NoError(t, err)
	walks := 0
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if r, ok := n.(*ast.RangeStmt); ok {
				walks++
				_, isMap := info.TypeOf(r.X).Underlying().(*types.Map)
				require.False(t, isMap, "a walk over a map at %s", set.Position(r.Pos()))
			}
			return true
		})
	}
	require.NotZero(t, walks)
}

func parse(t *testing.T, p listed) (*token.FileSet, []*ast.File) {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
	}
	return set, files
}

// TestLogKeys: no log line has a key twice, or a key that slog writes itself. JSON
// readers keep one of two equal keys, and not all keep the same one.
func TestLogKeys(t *testing.T) {
	methods := regexp.MustCompile(`^((Debug|Info|Warn|Error)(Context)?|Log|With)$`)
	logs := regexp.MustCompile(`(?i)log(ger)?(\(\))?$`) // the receiver of a log call, such as n.log or c.Log
	found := 0
	for _, p := range goList(t, everything...) {
		set, files := parse(t, p)
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				f, ok := call.Fun.(*ast.SelectorExpr)
				if !ok || !methods.MatchString(f.Sel.Name) || !logs.MatchString(types.ExprString(f.X)) {
					return true
				}
				keys := logKeys(call.Args)
				found += len(keys)
				seen := []string{slog.TimeKey, slog.LevelKey, slog.MessageKey, slog.SourceKey}
				for _, key := range keys {
					require.NotContains(t, seen, key, set.Position(call.Pos()))
					seen = append(seen, key)
				}
				return true
			})
		}
	}
	require.Greater(t, found, 100)
}

// logKeys returns the keys of a call to a logger. Keys stand before their values. The
// message, the context and the level can't be distinguished from keys by position, but a
// message contains a space.
func logKeys(args []ast.Expr) (keys []string) {
	for i := 0; i < len(args); i++ {
		of := args[i]
		call, isCall := of.(*ast.CallExpr)
		if isCall && strings.HasPrefix(types.ExprString(call.Fun), "slog.") && len(call.Args) > 0 {
			of = call.Args[0] // slog.String(key, value)
		}
		text, ok := of.(*ast.BasicLit)
		if !ok || text.Kind != token.STRING || strings.Contains(text.Value, " ") {
			continue
		}
		keys = append(keys, strings.Trim(text.Value, "`\""))
		if !isCall {
			i++ // skip the value
		}
	}
	return keys
}

// TestPackageDocs: the documentation of each package says what it owns and what it does
// not.
func TestPackageDocs(t *testing.T) {
	for _, p := range goList(t, everything...) {
		require.NotEmpty(t, p.Doc, p.ImportPath)
		require.True(t, strings.HasPrefix(p.Doc, "Package ") || strings.HasPrefix(p.Doc, "Command "), p.Doc)
	}
}

// TestTopLevel: the entries at the top of the repository are fixed.
func TestTopLevel(t *testing.T) {
	out, err := exec.Command("git", "-C", filepath.Join("..", ".."), "ls-files").Output()
	require.NoError(t, err)
	fixed := []string{"cmd", "issuer", "verifier", "keys", "cluster", "middleware", "go.mod", "go.sum", "Makefile", "README.md"}
	for name := range strings.Lines(string(out)) {
		top, _, _ := strings.Cut(strings.TrimSpace(name), "/")
		require.True(t, strings.HasPrefix(top, ".") || slices.Contains(fixed, top), top)
	}
}

// TestBuildSetsTheVersion: Go records the version of the commit. Without git the program
// keeps its default version.
func TestBuildSetsTheVersion(t *testing.T) {
	out, err := exec.Command("make", "-n", "-C", filepath.Join("..", ".."), "build").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), " -buildvcs=auto ")
}
