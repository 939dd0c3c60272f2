package web

import "github.com/mintmark-auth/mintmark/verifier/scope"

// permissions are the scopes of one level, in words.
type permissions struct {
	Title string
	Note  string
	List  []permission
}

type permission struct {
	Text   string
	Writes bool
}

var levels = []permissions{
	scope.User:         {Title: "Your own account"},
	scope.Team:         {Title: "Your teams"},
	scope.Organization: {Title: "Your organization", Note: "This includes all teams of the organization."},
}

// permissionsOf describes the scopes of a grant, in catalogue order.
func permissionsOf(granted string) []permissions {
	set := scope.FromClaim(granted)
	groups := make([]permissions, len(levels))
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
