package parts

import (
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/web/ui"
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
	Name, Allows         string
	Writes, Powerful, On bool
	Default              bool // an application gets it that does not say what it wants
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
		choice := ScopeChoice{Name: s.Name, Allows: s.Allows, Writes: s.Writes, Powerful: s.Controls, On: slices.Contains(on, s.Name)}
		if choice.On || !only {
			g := &groups[s.Level]
			g.List = append(g.List, choice)
		}
	}
	return slices.DeleteFunc(groups, func(g ScopeGroup) bool { return len(g.List) == 0 })
}

// ScopeMatrix returns the catalogue as a table, with the scopes in on selected. Areas are in
// the order of the catalogue.
func ScopeMatrix(on []string) ui.Matrix {
	return matrixOf(ui.Matrix{ID: "scopes", Caption: "Scopes", Name: "scopes"}, on)
}

// UserScopeMatrix is ScopeMatrix for administrators, who select for users.
func UserScopeMatrix(on []string) ui.Matrix {
	return matrixOf(ui.Matrix{ID: "scopes", Caption: "Scopes", Name: "scopes", Own: "User"}, on)
}

// DefaultsMatrix is UserScopeMatrix with the scopes that only read, for the field "defaults".
func DefaultsMatrix(on []string) ui.Matrix {
	return matrixOf(ui.Matrix{ID: "defaults", Caption: "Default scopes", Name: "defaults", Views: true, Own: "User"}, on)
}

func matrixOf(m ui.Matrix, on []string) ui.Matrix {
	for _, s := range scope.Catalogue() {
		if m.Views && s.Writes {
			continue
		}
		n := slices.IndexFunc(m.Rows, func(r ui.MatrixRow) bool { return r.Area == s.Area })
		switch stem := stemOf(s.Name); {
		case n < 0:
			n = len(m.Rows)
			m.Rows = append(m.Rows, ui.MatrixRow{Area: s.Area, Stem: stem})
		case m.Rows[n].Cells[0].Scope == "" && m.Rows[n].Cells[1].Scope == "" && !strings.HasSuffix(m.Rows[n].Stem, stem):
			m.Rows[n].Stem += ", " + stem
		}
		column, word := 2*int(s.Level), "view"
		if s.Writes {
			column, word = column+1, "change"
		}
		cell := ui.Cell{
			Scope: s.Name, Label: s.Area + ", " + strings.ToLower(m.Groups()[s.Level]) + ": " + word,
			On: slices.Contains(on, s.Name), Powerful: s.Controls,
		}
		if cell.Powerful {
			cell.Label += ", powerful"
		}
		m.Rows[n].Cells[column] = cell
	}
	return m
}

// stemOf returns the name of a scope without what it permits.
func stemOf(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, "_READ"), "_WRITE")
}

// A GrantedArea is what the scopes of an application are about, with their names by level.
type GrantedArea struct {
	Area   string
	Levels []GrantedLevel
}

// A GrantedLevel has the scopes of one level, such as "Team".
type GrantedLevel struct {
	Title  string
	Scopes []scope.Scope
}

// GrantedAreas returns the scopes of on, in the order of ScopeMatrix.
func GrantedAreas(on []string) (areas []GrantedArea) {
	titles := ui.Matrix{}.Groups()
	for _, s := range scope.Catalogue() {
		if !slices.Contains(on, s.Name) {
			continue
		}
		n := slices.IndexFunc(areas, func(a GrantedArea) bool { return a.Area == s.Area })
		if n < 0 {
			n, areas = len(areas), append(areas, GrantedArea{Area: s.Area})
		}
		levels, title := &areas[n].Levels, titles[s.Level]
		if len(*levels) == 0 || (*levels)[len(*levels)-1].Title != title {
			*levels = append(*levels, GrantedLevel{Title: title})
		}
		last := &(*levels)[len(*levels)-1]
		last.Scopes = append(last.Scopes, s)
	}
	return areas
}

// ScopeWords returns what scopes are about in a word or two each, those that control other
// people first, and whether there are such.
func ScopeWords(scopes []string) (words []string, powerful bool) {
	var first, others []string
	for _, s := range scope.Catalogue() {
		if !slices.Contains(scopes, s.Name) {
			continue
		}
		text := s.Area
		switch s.Level {
		case scope.Team:
			text = "Team: " + strings.ToLower(text)
		case scope.Organization:
			text = "Organization: " + strings.ToLower(text)
		}
		change := text + ", change"
		list := &others
		if s.Controls {
			list, powerful = &first, true
		}
		switch i := slices.Index(*list, text); {
		case !s.Writes:
			*list = append(*list, text)
		case i >= 0:
			(*list)[i] = change
		default:
			*list = append(*list, change)
		}
	}
	return append(first, others...), powerful
}

// powerfulOf returns those of a list of scopes that control other people.
func powerfulOf(names []string) (list []string) {
	for _, s := range scope.Catalogue() {
		if s.Controls && slices.Contains(names, s.Name) {
			list = append(list, s.Name)
		}
	}
	return list
}
