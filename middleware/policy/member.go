package policy

import (
	"context"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/verifier"
)

// Kind is what a user can be a member of.
type Kind string

// The kinds, with the parameters that name one. Letter case and underscores
// don't matter: :team_id is :teamId.
const (
	Team         Kind = "team"         // :teamId
	Organization Kind = "organization" // :orgId, :organizationId
)

// Member says whether the token's user belongs to the team or organization of
// that id, and may act on it in the way of the route. id is what stands in the
// path, decoded, and nobody has vouched for it.
//
// It is asked on every path that names a team or an organization: on that of a row,
// and on every other path, of any method, that begins as a row does up to such an
// id. A route that the table doesn't list, or that takes more paths or methods than
// its row, is so covered too. There the ids are those of the longest such
// beginning, and what stands in an id's place is an id, whatever the router makes
// of it. It is asked for legacy tokens too: they are not limited by scopes, but
// they are of a user. It is not asked for PUBLIC rows.
//
// For a path with both, it is asked about the organization first and then about
// the team; that the team is one of that organization is for the handler, which
// knows both.
//
// An error says that it can't be known now, and refuses.
type Member func(ctx context.Context, token *verifier.Claims, kind Kind, id string) (bool, error)

// kindOf is the kind that a parameter names, or none.
func kindOf(name string) (Kind, bool) {
	switch strings.ToLower(strings.ReplaceAll(name, "_", "")) {
	case "teamid":
		return Team, true
	case "orgid", "organizationid", "organisationid":
		return Organization, true
	}
	return "", false
}

// kinds are those that there are, in the order in which Member is asked.
var kinds = [...]Kind{Organization, Team}

// membership is a segment that names a team or an organization.
type membership struct {
	kind    Kind
	segment int
}

// memberships are those of a pattern, organizations first.
func memberships(segments []segment) (list []membership) {
	for _, kind := range kinds {
		for i, s := range segments {
			if k, ok := kindOf(s.text); s.param && ok && k == kind {
				list = append(list, membership{kind, i})
			}
		}
	}
	return list
}

// prefixes is a tree of the beginnings of patterns, of any method, that end with
// the id of a team or an organization. Each has the memberships of the segments
// up to there that any pattern of its shape names.
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
