package web_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPurposesDiffer verifies that no two forms have the same purpose: the token of one would be
// valid for the other.
func TestPurposesDiffer(t *testing.T) {
	files, err := filepath.Glob("*/*.go")
	require.NoError(t, err)
	seen := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "webtest/") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			for _, value := range purposesIn(n) {
				assert.Empty(t, seen[value], "%s in %s", value, file)
				seen[value] = file
			}
			return true
		})
	}
	assert.Greater(t, len(seen), 30)
}

// purposesIn returns the texts that a constant of type Purpose or a key Purpose has.
func purposesIn(n ast.Node) (list []string) {
	var values []ast.Expr
	switch n := n.(type) {
	case *ast.ValueSpec:
		if name, ok := n.Type.(*ast.SelectorExpr); ok && name.Sel.Name == "Purpose" {
			values = n.Values
		}
		if name, ok := n.Type.(*ast.Ident); ok && name.Name == "Purpose" {
			values = n.Values
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Purpose" {
			values = []ast.Expr{n.Value}
		}
	}
	for _, v := range values {
		if text, ok := v.(*ast.BasicLit); ok && text.Kind == token.STRING {
			list = append(list, text.Value)
		}
	}
	return list
}
