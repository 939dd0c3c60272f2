package packaging_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// A sourcePackage is what "go list" knows of a package for one platform.
type sourcePackage struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ GoVersion string }
}

// checkPlatform checks the types of the program and of everything that it imports, with the
// files that the compiler would take for a platform. It returns the number of packages.
func checkPlatform(t *testing.T, platform string) (checked int, err error) {
	t.Helper()
	system, processor, _ := strings.Cut(platform, "/")
	list := json.NewDecoder(strings.NewReader(testkit.Output(t, root, []string{"CGO_ENABLED=0", "GOOS=" + system, "GOARCH=" + processor},
		"go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", "./cmd/mintmark")))
	files, done := token.NewFileSet(), map[string]*types.Package{"unsafe": types.Unsafe}
	for {
		var p sourcePackage // after all that it imports
		if err := list.Decode(&p); errors.Is(err, io.EOF) {
			return checked, nil
		} else if err != nil {
			return checked, err
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		var syntax []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return checked, err
			}
			syntax = append(syntax, file)
		}
		c := types.Config{
			Sizes: types.SizesFor("gc", processor),
			Importer: importerFunc(func(path string) (*types.Package, error) {
				if vendored, ok := p.ImportMap[path]; ok {
					path = vendored
				}
				if done[path] == nil {
					return nil, fmt.Errorf("go list does not have %s before %s", path, p.ImportPath)
				}
				return done[path], nil
			}),
		}
		if p.Module != nil && p.Module.GoVersion != "" {
			c.GoVersion = "go" + p.Module.GoVersion
		}
		if done[p.ImportPath], err = c.Check(p.ImportPath, files, syntax, nil); err != nil {
			return checked, err
		}
		checked++
	}
}

type importerFunc func(path string) (*types.Package, error)

// Import implements [types.Importer].
func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

// TestPlatforms: the source of the program is complete for each platform of a release. The
// tests run on one of them. To build the others takes two to three minutes of a processor for
// each with an empty cache, and the types tell nearly all that a compiler would; "make release"
// builds them.
func TestPlatforms(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(root, "cmd", "mintmark", "packaging", "release"))
	require.NoError(t, err)
	line := regexp.MustCompile(`(?m)\|\| set -- (.*)$`).FindSubmatch(script)
	require.NotNil(t, line)
	platforms := strings.Fields(string(line[1]))
	require.Contains(t, platforms, "linux/amd64")
	require.Contains(t, platforms, "linux/arm64")
	require.Contains(t, platforms, "darwin/amd64")
	require.Contains(t, platforms, "darwin/arm64")
	for _, platform := range platforms {
		if platform == runtime.GOOS+"/"+runtime.GOARCH {
			continue
		}
		t.Run(platform, func(t *testing.T) {
			checked, err := checkPlatform(t, platform)
			require.NoError(t, err)
			require.Greater(t, checked, 300)
		})
	}
}
