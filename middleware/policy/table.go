package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Table is an immutable list of rows, each about a different route. It is made by [Load],
// [NewTable] and [Join].
type Table struct {
	rows   []Row
	parsed [][]segment // of rows, by position
	shapes map[string]int
}

// NewTable checks rows and makes a table of them.
func NewTable(rows ...Row) (*Table, error) {
	t := &Table{shapes: map[string]int{}}
	var all []error
	for _, row := range rows {
		if err := t.add(row); err != nil {
			all = append(all, fmt.Errorf("%s: %w", where(row), err))
		}
	}
	if len(all) > 0 {
		return nil, errors.Join(all...)
	}
	return t, nil
}

// Join makes one table of several, such as [Scheduling] and the rows of a service's own
// routes. Two rows for the same route are an error.
func Join(tables ...*Table) (*Table, error) {
	var rows []Row
	for _, t := range tables {
		rows = append(rows, t.rows...)
	}
	return NewTable(rows...)
}

// Rows returns a copy of the rows, in their order.
func (t *Table) Rows() []Row { return slices.Clone(t.rows) }

func (t *Table) add(row Row) error {
	if !isMethod(row.Method) {
		return fmt.Errorf("%q is not a method in upper case", row.Method)
	}
	if err := row.check(); err != nil {
		return err
	}
	segments, err := parsePattern(row.Pattern)
	if err != nil {
		return err
	}
	key := row.Method + " " + shape(segments)
	if first, ok := t.shapes[key]; ok {
		return fmt.Errorf("decides the same route as %s", where(t.rows[first]))
	}
	t.shapes[key] = len(t.rows)
	t.rows, t.parsed = append(t.rows, row), append(t.parsed, segments)
	return nil
}

// where names a row in an error.
func where(r Row) string {
	text := fmt.Sprintf("%.16s %.200s", r.Method, r.Pattern)
	if r.Line > 0 {
		return fmt.Sprintf("line %d, %s", r.Line, text)
	}
	return text
}

// Scopes returns the scopes that rows require, each once, in the order of the catalogue,
// for a resource server's metadata.
func (t *Table) Scopes() []string {
	var all scope.Set
	for _, row := range t.rows {
		if row.Access == Scoped {
			all = all.Union(scope.MustOf(row.Scope))
		}
	}
	return all.Names()
}
