package policy

import (
	"context"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/verifier"
)

// Kind is a kind of group that a user can be a member of.
type Kind string

// The kinds, with the parameters that have their ids. Letter case and underscores are
// ignored: :team_id is :teamId.
const (
	Team         Kind = "team"         // :teamId
	Organization Kind = "organization" // :orgId, :organizationId
)

// Member reports whether the token's user belongs to the team or organization with that
// id, and may act on it in the way of the route. id is a decoded segment of the path:
// unchecked input.
//
// It is called on every path that names a team or an organization: on the path of a row,
// and on every other path, with any method, that begins like a row up to such an id. So
// it is also called on routes that the table doesn't list, or that take more paths or
// methods than their row. There the longest such beginning determines the ids: the
// segment in the place of an id is treated as an id, even if the router reads it as
// something else. Member is called for legacy tokens too: they have no scopes, but they
// have a user. It is not called for PUBLIC rows.
//
// For a path with both, it is called for the organization first and then for the team. It
// does not check whether the team belongs to that organization: the handler does.
//
// An error means that membership can't be determined now; the request is refused.
type Member func(ctx context.Context, token *verifier.Claims, kind Kind, id string) (bool, error)

// kindOf returns the kind that a parameter names, or "".
func kindOf(name string) Kind {
	switch strings.ToLower(strings.ReplaceAll(name, "_", "")) {
	case "teamid":
		return Team
	case "orgid", "organizationid", "organisationid":
		return Organization
	}
	return ""
}

// kinds are all kinds, in the order in which Member is called.
var kinds = [...]Kind{Organization, Team}

// membership is a segment that names a team or an organization.
type membership struct {
	kind    Kind
	segment int
}

// memberships returns those of a pattern, organizations first.
func memberships(segments []segment) (list []membership) {
	for _, kind := range kinds {
		for i, s := range segments {
			if s.param && kindOf(s.text) == kind {
				list = append(list, membership{kind, i})
			}
		}
	}
	return list
}

// prefixes returns a tree of the beginnings of patterns, of any method, that end with
// the id of a team or an organization. The memberships of a beginning are those that any
// pattern with a beginning of the same shape names.
func (t *Table) prefixes() *node {
	named := map[string][]Kind{} // by the shape of a pattern up to the id
	for _, segments := range t.parsed {
		for _, in := range memberships(segments) {
			key := shape(segments[:in.segment+1])
			if !slices.Contains(named[key], in.kind) {
				named[key] = append(named[key], in.kind)
			}
		}
	}
	tree := new(node)
	for _, segments := range t.parsed {
		for _, in := range memberships(segments) {
			r := &route{names: segments[:in.segment+1]}
			for _, kind := range kinds {
				for i := range r.names {
					if slices.Contains(named[shape(r.names[:i+1])], kind) {
						r.members = append(r.members, membership{kind, i})
					}
				}
			}
			tree.add(r.names, r)
		}
	}
	return tree
}
