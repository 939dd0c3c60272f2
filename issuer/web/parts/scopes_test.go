package parts_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// TestScopeMatrix verifies that each scope is in the table once, in the column of its level and
// of what it permits.
func TestScopeMatrix(t *testing.T) {
	on := []string{"BOOKING_READ", "ORG_MEMBERSHIP_WRITE"}
	cells, powerful := map[string]int{}, map[string]bool{}
	var selected []string
	labels := map[string]bool{}
	for _, row := range parts.ScopeMatrix(on).Rows {
		for column, cell := range row.Cells {
			if cell.Scope == "" {
				continue
			}
			assert.NotContains(t, cells, cell.Scope)
			cells[cell.Scope], powerful[cell.Scope] = column, cell.Powerful
			assert.False(t, labels[cell.Label], cell.Label)
			labels[cell.Label] = true
			if cell.On {
				selected = append(selected, cell.Scope)
			}
		}
	}
	assert.Len(t, cells, len(scope.Catalogue()))
	for _, s := range scope.Catalogue() {
		column := 2 * int(s.Level)
		if s.Writes {
			column++
		}
		assert.Equal(t, column, cells[s.Name], s.Name)
		assert.Equal(t, s.Controls, powerful[s.Name], s.Name)
	}
	assert.Equal(t, on, selected)
}
