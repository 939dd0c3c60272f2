package cli

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/errcode"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/apply"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestHints: the error of a start names the flag to change.
func TestHints(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	for flag, fact := range map[string]string{
		"--listen": "listen for clients", "--ops-listen": "listen for monitors", "--cluster-listen": "listen for other nodes",
	} {
		args := []string{
			"serve", "--name", "n1", "--data-dir", t.TempDir(),
			"--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--cluster-listen", "127.0.0.1:0", flag, l.Addr().String(),
		}
		r := runLine(t, args...)
		require.Equal(t, ExitLocal, r.Code, flag)
		require.Contains(t, r.Err, "mintmark: "+fact+": listen tcp "+l.Addr().String())
		require.Contains(t, r.Err, " (see "+flag+")\n")
	}
	r := runLine(t, "serve", "--name", "n1", "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0",
		"--cluster-listen", "127.0.0.1:0", "--join", "127.0.0.1:1", "--token-file", "no-such-file")
	require.Contains(t, r.Err, "mintmark: read the join token: open no-such-file")
	require.Contains(t, r.Err, " (see --token-file)\n")
}

// TestHintOverTheSocket: the code of an error passes from the node to the command line,
// which finds the advice by it.
func TestHintOverTheSocket(t *testing.T) {
	c := newClusterCLI(t)
	for _, fact := range []error{member.ErrRemoved, store.ErrDataLost} {
		refused := admintestRule{fmt.Errorf("something else: %w", fact)}
		c.Cluster.Fail(refused)
		r := c.Run("", "cluster", "accept-clock")
		require.Equal(t, ExitRefused, r.Code)
		require.Equal(t, fmt.Sprintf("mintmark: refused (%s)\n", adviceFor(fact)), r.Err, "the advice is found by the code, not by the text")
	}
	c.Cluster.Fail(nil)

	var p error = &admin.Problem{Class: admin.Refused, Code: errcode.Of(member.ErrRemoved), Text: "x"}
	require.ErrorIs(t, p, member.ErrRemoved)
	require.NotErrorIs(t, p, store.ErrDataLost)
	require.NotErrorIs(t, &admin.Problem{Class: admin.Refused, Text: "x"}, member.ErrRemoved)
}

// An admintestRule is a refusal whose text has no information, only its code.
type admintestRule struct{ error }

func (admintestRule) Refusal() string { return "refused" }
func (r admintestRule) Unwrap() error { return r.error }

// TestHintOfAnUnreachableNode: the advice names --data-dir.
func TestHintOfAnUnreachableNode(t *testing.T) {
	c := newCLI(t)
	c.Dir = filepath.Join(c.Dir, "elsewhere")
	c.Fails(ExitUnreachable, "(start the node, or name its data folder with --data-dir)", "client", "list")
}

// TestHintsInTheLog: a log record with a known error gets its advice once.
func TestHintsInTheLog(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(hintHandler{slog.NewTextHandler(&out, nil)}).With("node", "n1")
	log.Error("node failed", "error", fmt.Errorf("open: %w", store.ErrDataLost))
	require.Contains(t, out.String(), "hint="+strconv.Quote(adviceFor(store.ErrDataLost)))
	out.Reset()
	log.Error("removal reported", "error", member.ErrRemoved)
	require.Equal(t, 1, strings.Count(out.String(), "hint="), out.String())
	out.Reset()
	log.WithGroup("g").Info("all is well", "error", errors.New("no fact"))
	require.NotContains(t, out.String(), "hint=")
}

// TestHintsOfAList: of errors that are reported together, each has its own advice.
func TestHintsOfAList(t *testing.T) {
	first, second := fmt.Errorf("a: %w", admin.ErrNoLeader), fmt.Errorf("b: %w", apply.ErrNoSecret)
	list := errors.Join(first, errors.New("no advice"), second)
	want := fmt.Sprintf("%v (%s)\nno advice\n%v (%s)", first, adviceFor(first), second, adviceFor(second))
	require.EqualError(t, withHint(list), want)
	require.EqualError(t, withHint(fmt.Errorf("%w", list)), want)
	require.ErrorIs(t, withHint(list), admin.ErrNoLeader)
	wrapped := fmt.Errorf("do: %w, %w", first, second)
	require.EqualError(t, withHint(wrapped), wrapped.Error()+" ("+adviceFor(second)+")")
}

// TestHintTable: each row has a different error, which the product uses. Its advice names
// only commands and flags that exist.
func TestHintTable(t *testing.T) {
	used := sentinelUses(t)
	codes := map[string]bool{}
	for i, h := range hints {
		require.NotEmpty(t, h.advice)
		if code := errcode.Of(h.err); code != "" {
			require.False(t, codes[code], "two errors have the code %s", code)
			codes[code] = true
		}
		for j, other := range hints {
			require.True(t, i == j || !strings.Contains(other.err.Error(), h.err.Error()), "%q is part of %q", h.err, other.err)
		}
		require.Equal(t, h.advice, adviceFor(fmt.Errorf("do a thing: %w", h.err)))
		require.Equal(t, h.advice, adviceIn("n1: "+h.err.Error()+" (as n2 reports)"), "as text in the report of another node")
	}
	for _, h := range causeHints {
		require.Equal(t, h.advice, adviceFor(fmt.Errorf("do a thing: %w", &admin.Problem{Cause: h.cause, Text: "refused"})))
		require.Equal(t, h.advice, adviceIn("the journal: "+h.cause.String()), "as text in the report of another node")
	}
	rows := hintRows(t)
	require.Len(t, rows, len(hints))
	for _, name := range rows {
		require.True(t, used[name], "no source uses %s", name)
	}
	checkAdvice(t)
}

var (
	commandIn = regexp.MustCompile(`mintmark ((?:[a-z-]+ ?)+)`)
	flagIn    = regexp.MustCompile(`--([a-z][a-z-]+)`)
)

func checkAdvice(t *testing.T) {
	t.Helper()
	flags := map[string]bool{"help": true}
	eachCommand(testRoot(), func(_ string, c *cobra.Command) {
		for _, set := range []*pflag.FlagSet{c.Flags(), c.InheritedFlags()} {
			set.VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		}
	})
	var all []string
	for _, h := range hints {
		all = append(all, h.advice)
	}
	for _, h := range causeHints {
		all = append(all, h.advice)
	}
	refusals := 0
	for cause := range ledger.Cause(1 << 10) {
		if advice := adviceOn(admin.Explained{Cause: cause}); advice != "" {
			all = append(all, advice)
			refusals++
		}
	}
	require.Equal(t, 6, refusals)
	for _, advice := range all {
		for _, m := range flagIn.FindAllStringSubmatch(advice, -1) {
			require.True(t, flags[m[1]], "no command has --%s: %s", m[1], advice)
		}
		for _, m := range commandIn.FindAllStringSubmatch(advice, -1) {
			c, _, err := testRoot().Find(strings.Fields(m[1]))
			require.NoError(t, err, advice)
			require.True(t, c.HasParent() && !c.HasSubCommands(), "%q is no command: %s", m[1], advice)
		}
	}
}

// repository is the folder of the module.
const repository = "../../../.."

// eachSource parses the sources of the module, except tests.
func eachSource(t *testing.T, f func(path string, file *ast.File)) {
	t.Helper()
	for _, top := range []string{"issuer", "cluster", "keys", "cmd/mintmark"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(repository, top), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(repository, path)
			f(filepath.ToSlash(rel), file)
			return err
		}))
	}
}

// hintRows returns the errors in the table, by package and name, as in hints.go.
func hintRows(t *testing.T) (names []string) {
	t.Helper()
	text, err := os.ReadFile("hints.go")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^\t\{((?:\w+\.E|e)rr\w+),`).FindAllStringSubmatch(string(text), -1) {
		if !strings.Contains(m[1], ".") {
			m[1] = "cli." + m[1]
		}
		names = append(names, m[1])
	}
	return names
}

// sentinelUses returns the errors that sources use, apart from their declaration and
// hints.go.
func sentinelUses(t *testing.T) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	eachSource(t, func(path string, file *ast.File) {
		if strings.HasSuffix(path, "internal/cli/hints.go") {
			return
		}
		declared := map[*ast.Ident]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for _, name := range n.Names {
					declared[name] = true
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok {
					used[x.Name+"."+n.Sel.Name] = true
				}
			case *ast.Ident:
				if !declared[n] {
					used[file.Name.Name+"."+n.Name] = true
				}
			}
			return true
		})
	})
	return used
}

// mayNameCommands are the sources whose strings may name commands or flags, with the
// reason.
var mayNameCommands = map[string]string{
	"cmd/mintmark/internal/config/options.go":  "declares the flags of serve",
	"cmd/mintmark/internal/config/upstream.go": "declares the flags of serve",
	"cmd/mintmark/internal/doctor/node.go":     "advice of the checks, which only the command prints",
	"cmd/mintmark/internal/doctor/settings.go": "advice of the checks, which only the command prints",
	"issuer/keyring/ring.go":                   "labels of derived keys, which are no commands",
}

// TestLibrariesNameNoCommandAndNoFlag: only the hints of the command line name commands
// and flags. A property of a style sheet has a colon.
func TestLibrariesNameNoCommandAndNoFlag(t *testing.T) {
	var commands []string
	for _, c := range testRoot().Commands() {
		commands = append(commands, c.Name())
	}
	names := regexp.MustCompile(`\bmintmark (` + strings.Join(append(commands, "dev", "demo", "docs"), "|") + `)\b|(^|[^-])--[a-z][a-z-]+($|[^a-z:-])`)
	excused := map[string]bool{}
	eachSource(t, func(path string, file *ast.File) {
		for _, own := range []string{"cmd/mintmark/internal/cli/", "cmd/mintmark/internal/dev/", "cmd/mintmark/internal/mutate/", "cmd/mintmark/internal/testkit/"} {
			if strings.HasPrefix(path, own) {
				return
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if !ok || text.Kind != token.STRING || !names.MatchString(text.Value) {
				return true
			}
			if mayNameCommands[path] != "" {
				excused[path] = true
				return true
			}
			t.Errorf("%s: %s", path, text.Value)
			return true
		})
	})
	for path := range mayNameCommands {
		require.True(t, excused[path], "%s needs no exception", path)
	}
	require.True(t, slices.Contains(commands, "serve"))
}
