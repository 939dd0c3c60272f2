package parts

import (
	"slices"

	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// A ScopeGroup has the scopes of one level, for developers.
type ScopeGroup struct {
	ID    string
	Title string
	Note  string
	List  []ScopeChoice
}

// A ScopeChoice is a scope to select, or one that was selected.
type ScopeChoice struct {
	Name, Allows string
	Writes, On   bool
}

var scopeLevels = []ScopeGroup{
	scope.User:         {ID: "user", Title: "The user’s own account"},
	scope.Team:         {ID: "team", Title: "Teams"},
	scope.Organization: {ID: "organization", Title: "Organizations", Note: "Each of these also grants the team scope of the same name."},
}

// ScopeGroups returns the scopes of the catalogue in three groups, with those in on
// selected; if only is set, it omits the others.
func ScopeGroups(on []string, only bool) []ScopeGroup {
	groups := slices.Clone(scopeLevels)
	for _, s := range scope.Catalogue() {
		choice := ScopeChoice{Name: s.Name, Allows: s.Allows, Writes: s.Writes, On: slices.Contains(on, s.Name)}
		if choice.On || !only {
			g := &groups[s.Level]
			g.List = append(g.List, choice)
		}
	}
	return slices.DeleteFunc(groups, func(g ScopeGroup) bool { return len(g.List) == 0 })
}
