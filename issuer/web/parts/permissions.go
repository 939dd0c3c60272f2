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
	New    bool // it was not allowed before
}

var levels = []Permissions{
	scope.User:         {Title: "Your own account"},
	scope.Team:         {Title: "Your teams"},
	scope.Organization: {Title: "Your organization", Note: "This includes all teams of the organization."},
}

// ScopeText describes one scope in words, or returns "" for none of the catalogue.
func ScopeText(name string) string {
	for _, s := range scope.Catalogue() {
		if s.Name == name {
			return curly(s.Plain)
		}
	}
	return ""
}

// PermissionsOf describes scopes one by one, in catalogue order. What is not in before is
// marked as new, unless before is empty.
func PermissionsOf(granted string, before scope.Set) []Permissions {
	set := scope.FromClaim(granted)
	groups := make([]Permissions, len(levels))
	copy(groups, levels)
	for _, s := range scope.Catalogue() {
		if set.Has(s.Name) {
			g := &groups[s.Level]
			g.List = append(g.List, permission{Text: curly(s.Plain), Writes: s.Writes, New: isNew(s.Name, before)})
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
