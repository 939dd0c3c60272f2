package admin

import (
	"slices"
	"strings"
	"unicode"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// maxNamesakes is the maximum number of applications with the same name on a page.
const maxNamesakes = 5

// nameWarnings are properties of an application's name that could deceive users and that
// a reviewer can't see.
type nameWarnings struct {
	Name    string
	Scripts string // the scripts that Name mixes; "" if the mix is harmless
	Service bool   // Name is like the name or a host of this service
	Others  []namesake
	More    bool // Others is incomplete
}

// A namesake is another application whose name, or proposed name, looks the same.
type namesake struct {
	ID, Name, Path string
	Owner          parts.Piece
	State          ledger.ClientState
	People         int // number of connected users; -1 if they are not counted yet
}

// Any reports whether there is a warning to show.
func (d *nameWarnings) Any() bool { return d.Scripts != "" || d.Service || len(d.Others) > 0 }

// nameWarningsOf returns the warnings for the names of a client.
func nameWarningsOf(view ledger.View, c *ledger.Client) (warnings []nameWarnings) {
	for _, name := range c.Names() {
		n := nameWarnings{Name: name, Scripts: mixedScripts(name), Service: view.LikeService(name)}
		for other := range view.Namesakes(name) {
			if other.ID == c.ID {
				continue
			}
			if n.More = len(n.Others) == maxNamesakes; n.More {
				break
			}
			n.Others = append(n.Others, namesake{ID: other.ID, Name: other.Name, Path: parts.AdminClientPath(other.ID), Owner: linkOwner(view, other), State: other.State, People: -1})
		}
		if n.Any() {
			warnings = append(warnings, n)
		}
	}
	return warnings
}

// countPeople adds how many people are connected to the namesakes.
func (w *Area) countPeople(c *site.Request, v *site.Session, warnings []nameWarnings) {
	for _, n := range warnings {
		for i := range n.Others {
			if people, counted := parts.PeopleOf(c.R.Context(), w.people, v.View, n.Others[i].ID, w.Ledger.Now()); counted {
				n.Others[i].People = people.Users
			}
		}
	}
}

// combinableScripts has the sets of scripts that may be mixed in one name, since one
// language is written in them, each together with Latin (Unicode Technical Standard 39
// §5.2, "highly restrictive").
var combinableScripts = [][]string{
	{"Han", "Hiragana", "Katakana", "Latin"},
	{"Bopomofo", "Han", "Latin"},
	{"Han", "Hangul", "Latin"},
}

// mixedScripts returns the names of the scripts in a name if no language mixes them, and
// otherwise "".
func mixedScripts(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
		return "" // Latin alone
	}
	var scripts []string
	for _, r := range name {
		for script, table := range unicode.Scripts {
			if unicode.Is(table, r) && script != "Common" && script != "Inherited" && !slices.Contains(scripts, script) {
				scripts = append(scripts, script)
			}
		}
	}
	usual := slices.ContainsFunc(combinableScripts, func(set []string) bool {
		return !slices.ContainsFunc(scripts, func(s string) bool { return !slices.Contains(set, s) })
	})
	if len(scripts) < 2 || usual {
		return ""
	}
	slices.Sort(scripts)
	return strings.ReplaceAll(strings.Join(scripts, ", "), "_", " ")
}
