package admin

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestEveryOperationHasAScope verifies that each operation is in the table of routes
// once, with the scope that another machine needs or as local only.
func TestEveryOperationHasAScope(t *testing.T) {
	var declared []string
	file, err := parser.ParseFile(token.NewFileSet(), "operation.go", nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if _, generic := spec.Type.(*ast.IndexListExpr); !generic {
			if _, generic := spec.Type.(*ast.IndexExpr); !generic {
				return true
			}
		}
		name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		require.NoError(t, err)
		declared = append(declared, name)
		return true
	})
	require.NotEmpty(t, declared)
	var routed []string
	for _, r := range routes {
		routed = append(routed, r.name)
		require.True(t, r.scope == localOnly || slices.Contains(ledger.OperatorScopes, r.scope), "operation %s has the scope %q", r.name, r.scope)
		require.NotNil(t, r.request, r.name)
	}
	require.ElementsMatch(t, declared, routed)
}

// TestLocalOnlyOperations verifies that operations that could give access to everything
// are allowed on the local socket only.
func TestLocalOnlyOperations(t *testing.T) {
	var local []string
	for _, r := range routes {
		if r.scope == localOnly {
			local = append(local, r.name)
		}
	}
	require.ElementsMatch(t, []string{
		string(RewrapKeys), string(InitCluster), string(InviteNode), string(ReplaceNode), string(restoreBackup), string(AddOperatorToken),
	}, local)
}
