package scope_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// The catalogue and the constants are the same list: a constant has the scope's name in
// Go's spelling, and its comment is the scope's text in the service document.
func TestConstantsAreTheCatalogue(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, parser.ParseComments)
	require.NoError(t, err)
	var got, want [][3]string
	for _, declaration := range file.Decls {
		for _, spec := range declaration.(*ast.GenDecl).Specs {
			constant := spec.(*ast.ValueSpec)
			value, err := strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			got = append(got, [3]string{constant.Names[0].Name, value, strings.TrimSpace(constant.Comment.Text())})
		}
	}
	for _, s := range scope.Catalogue() {
		var name strings.Builder
		for word := range strings.SplitSeq(s.Name, "_") {
			name.WriteString(word[:1] + strings.ToLower(word[1:]))
		}
		want = append(want, [3]string{name.String(), s.Name, s.Allows})
	}
	assert.Equal(t, want, got)
}
