package policy

import (
	"errors"
	"fmt"

	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Config has what a table doesn't. New reads it once.
type Config struct {
	// Member reports whether a user belongs to the team or organization in a path.
	// Required if a row that is not PUBLIC has such a parameter.
	Member Member

	// SkipMember declines Member. Every handler of a path with the id of a team or an
	// organization must then check that the user belongs to it.
	SkipMember bool
}

// Policy decides about requests. It is safe for use by many goroutines.
type Policy struct {
	trees  map[string]*node // by method
	named  *node            // see Table.prefixes
	member Member           // nil if no row needs it, or with SkipMember
	fresh  bool             // a row is FRESH
}

// New makes a policy of a table.
func New(t *Table, c Config) (*Policy, error) {
	if t == nil {
		return nil, errors.New("new policy: the table is nil")
	}
	if c.Member != nil && c.SkipMember {
		return nil, errors.New("new policy: Config has both Member and SkipMember")
	}
	p := &Policy{trees: map[string]*node{}, named: t.prefixes(), member: c.Member}
	for i, row := range t.rows {
		r := &route{row: row, names: t.parsed[i], members: memberships(t.parsed[i])}
		p.fresh = p.fresh || row.Fresh
		if row.Access == Scoped {
			r.need = scope.MustOf(row.Scope)
		}
		if row.Access != Public && len(r.members) > 0 && c.Member == nil && !c.SkipMember {
			return nil, fmt.Errorf("new policy: %s has the %s's id, and Config has neither Member nor SkipMember",
				where(row), r.members[0].kind)
		}
		if p.trees[row.Method] == nil {
			p.trees[row.Method] = new(node)
		}
		p.trees[row.Method].add(t.parsed[i], r)
	}
	return p, nil
}

// WantsFresh reports whether a row is FRESH: the verifier then needs
// [verifier.Config.Revocations].
func (p *Policy) WantsFresh() bool { return p.fresh }
