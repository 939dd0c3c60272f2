package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// vetPrograms vets Go blocks in a module of their own that imports this one.
func vetPrograms(t *testing.T, checkout string, programs []step) {
	t.Helper()
	if len(programs) == 0 {
		return
	}
	out, err := vet(t, checkout, programs)
	require.NoError(t, err, "%s", out)
}

func vet(t *testing.T, checkout string, programs []step) (string, error) {
	t.Helper()
	dir := t.TempDir()
	text := "module example.com/readme\n\ngo 1.25.0\n"
	for _, folder := range []string{"middleware", "verifier"} {
		module := "github.com/mintmark-auth/mintmark/" + folder
		text += fmt.Sprintf("\nrequire %s v0.1.0\n\nreplace %s => %s\n", module, module, filepath.Join(checkout, folder))
	}
	files := map[string]string{"go.mod": text}
	for _, p := range programs {
		files[fmt.Sprintf("line%d/readme.go", p.line)] = complete(p.text)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	c := exec.Command("go", "vet", "./...")
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := c.CombinedOutput()
	return string(out), err
}

// packages are those that declarations in a document may use without an import.
var packages = map[string]string{
	"context": "context", "log": "log", "http": "net/http", "os": "os",
	"middleware": "github.com/mintmark-auth/mintmark/middleware",
	"policy":     "github.com/mintmark-auth/mintmark/middleware/policy",
	"verifier":   "github.com/mintmark-auth/mintmark/verifier",
	"scope":      "github.com/mintmark-auth/mintmark/verifier/scope",
}

// complete puts the package and the imports in front of declarations.
func complete(text string) string {
	if strings.HasPrefix(text, "package ") {
		return text
	}
	file := "package readme\n\n"
	for name, path := range packages {
		if regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(text) {
			file += fmt.Sprintf("import %q\n", path)
		}
	}
	return file + "\n" + text
}

// TestVetFinds: a block that does not compile fails.
func TestVetFinds(t *testing.T) {
	out, err := vet(t, root, []step{{line: 7, kind: program, text: "package main\n\nfunc main() { middleware.New() }\n"}})
	require.Error(t, err)
	require.Contains(t, out, "line7")
	_, err = vet(t, root, []step{{line: 8, kind: program, text: "func f(v *verifier.Verifier) { v.None() }\n"}})
	require.Error(t, err)
}

// TestTenLines: a resource server has ten lines in main, including the keys, in the guide
// for resource servers and in the documentation of package middleware; both compile.
func TestTenLines(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "middleware/README.md"))
	require.NoError(t, err)
	mainOf(t, string(readme))

	doc, err := os.ReadFile(filepath.Join(root, "middleware/doc.go"))
	require.NoError(t, err)
	text := strings.ReplaceAll("\n"+string(doc), "\n//\t", "\n")
	out, err := vet(t, root, []step{{line: 1, kind: program, text: `package main

import (
	"fmt"
	"log"
	"net/http"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

` + mainOf(t, text)}})
	require.NoError(t, err, "%s", out)
}

// mainOf returns the first function main of a text, which has at most ten lines.
func mainOf(t *testing.T, text string) string {
	t.Helper()
	const begin, end = "\nfunc main() {\n", "\n}\n"
	_, behind, found := strings.Cut(text, begin)
	require.True(t, found, "there is no func main")
	body, _, found := strings.Cut(behind, end)
	require.True(t, found, "func main has no end")
	for _, part := range []string{"verifier.New(", "middleware.New(", ".Require(", "ListenAndServe("} {
		require.Contains(t, body, part)
	}
	require.LessOrEqual(t, strings.Count(body, "\n")+1, 10, "%s", body)
	return begin + body + end
}
