package web

import (
	"slices"

	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// A scopeGroup has the scopes of one level, for developers.
type scopeGroup struct {
	ID    string
	Title string
	Note  string
	List  []scopeChoice
}

type scopeChoice struct {
	Name, Allows string
	Writes, On   bool
}

var scopeLevels = []scopeGroup{
	scope.User:         {ID: "user", Title: "The user’s own account"},
	scope.Team:         {ID: "team", Title: "Teams"},
	scope.Organization: {ID: "organization", Title: "Organizations", Note: "Each of these also grants the team scope of the same name."},
}

// scopeGroups returns the scopes of the catalogue in three groups, with those in on
// selected; if only is set, it omits the others.
func scopeGroups(on []string, only bool) []scopeGroup {
	groups := slices.Clone(scopeLevels)
	for _, s := range scope.Catalogue() {
		choice := scopeChoice{Name: s.Name, Allows: s.Allows, Writes: s.Writes, On: slices.Contains(on, s.Name)}
		if choice.On || !only {
			g := &groups[s.Level]
			g.List = append(g.List, choice)
		}
	}
	return slices.DeleteFunc(groups, func(g scopeGroup) bool { return len(g.List) == 0 })
}
