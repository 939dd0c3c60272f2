package parts

import (
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// Permissions are the scopes of one level, in words.
type Permissions struct {
	Title string
	Note  string
	List  []permission
}

type permission struct {
	Text   string
	Writes bool
}

var levels = []Permissions{
	scope.User:         {Title: "Your own account"},
	scope.Team:         {Title: "Your teams"},
	scope.Organization: {Title: "Your organization", Note: "This includes all teams of the organization."},
}

// PermissionsOf describes the scopes of a grant, in catalogue order.
func PermissionsOf(granted string) []Permissions {
	set := scope.FromClaim(granted)
	groups := make([]Permissions, len(levels))
	copy(groups, levels)
	for _, s := range scope.Catalogue() {
		if set.Has(s.Name) {
			g := &groups[s.Level]
			g.List = append(g.List, permission{Text: s.Plain, Writes: s.Writes})
		}
	}
	shown := groups[:0]
	for _, g := range groups {
		if len(g.List) > 0 {
			shown = append(shown, g)
		}
	}
	return shown
}
