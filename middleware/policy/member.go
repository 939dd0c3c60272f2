package policy

import (
	"context"
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
// For a path with both, it is asked about the organization first and then about
// the team; that the team is one of that organization is for the handler, which
// knows both. It is asked for legacy tokens too: they are not limited by scopes,
// but they are of a user. It is not asked for PUBLIC rows.
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

// membership is a segment that names a team or an organization.
type membership struct {
	kind    Kind
	segment int
}

// memberships are those of a pattern, organizations first.
func memberships(segments []segment) (list []membership) {
	for _, kind := range []Kind{Organization, Team} {
		for i, s := range segments {
			if k, ok := kindOf(s.text); s.param && ok && k == kind {
				list = append(list, membership{kind, i})
			}
		}
	}
	return list
}
