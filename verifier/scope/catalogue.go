package scope

import (
	"slices"
	"strings"
)

// Level is the owner of the resources that a scope covers.
type Level uint8

// The three levels, in the order in which they are shown.
const (
	User         Level = iota // the authorized user's own resources
	Team                      // endpoints that name a team
	Organization              // endpoints that name an organization and no team
)

func (l Level) String() string {
	switch l {
	case User:
		return "User"
	case Team:
		return "Team"
	case Organization:
		return "Organization"
	}
	return "Level(?)"
}

// Scope describes one scope.
type Scope struct {
	Name   string // as in requests and tokens
	Level  Level
	Area   string // heading under which a page groups it: "Bookings"
	Allows string // what the scope allows, in the words of the service document
	Plain  string // one short sentence for the consent page
	Writes bool   // the scope allows changes, not only reading

	// Controls marks a scope that reaches other people: it changes who belongs to a team or an
	// organization, or what a whole organization has.
	Controls bool
}

// Catalogue returns a copy of the catalogue, in its order.
func Catalogue() []Scope { return slices.Clone(catalogue[:]) }

// Known reports whether name is in the catalogue.
func Known(name string) bool {
	_, ok := position[name]
	return ok
}

// position is the bit of each scope in a Set.
var position = func() map[string]uint8 {
	m := make(map[string]uint8, len(catalogue))
	for i, s := range catalogue {
		m[s.Name] = uint8(i)
	}
	return m
}()

// coveredBy has, for each scope, the scopes that grant it: the scope itself and, for
// TEAM_X, ORG_X. Nothing else is implied; in particular a WRITE scope does not grant the
// READ scope of its area.
var coveredBy = func() (masks [len(catalogue)]uint64) {
	for i, s := range catalogue {
		masks[i] = 1 << i
		if rest, ok := strings.CutPrefix(s.Name, "TEAM_"); ok {
			if org, ok := position["ORG_"+rest]; ok {
				masks[i] |= 1 << org
			}
		}
	}
	return masks
}()

const known = uint64(1)<<len(catalogue) - 1
