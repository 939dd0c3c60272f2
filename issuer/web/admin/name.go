package admin

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
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

// A namesake is another application whose name, or proposed name, folds to the same text.
type namesake struct {
	Name, Path string
	Owner      parts.Piece
}

// Any reports whether there is a warning to show.
func (d *nameWarnings) Any() bool { return d.Scripts != "" || d.Service || len(d.Others) > 0 }

// maxFolded is the number of names that a nameFolder remembers.
const maxFolded = 100_000

// A nameFolder folds names so that those which look alike are the same text: see newNameFolder.
// It remembers the results, since folding the names of 10,000 clients takes longer than a page.
type nameFolder struct {
	mu     sync.Mutex // guards the fields below
	fold   func(name string) string
	folded map[string]string
}

// of returns the folded name. mu must be held.
func (f *nameFolder) of(name string) string {
	folded, known := f.folded[name]
	if !known {
		if len(f.folded) >= maxFolded {
			clear(f.folded)
		}
		folded = f.fold(name)
		f.folded[strings.Clone(name)] = folded
	}
	return folded
}

// warningsOf returns, by client id, the warnings for the names of the given clients. It walks
// over all clients once, however many are given.
func (f *nameFolder) warningsOf(view ledger.View, clients ...*ledger.Client) map[string][]nameWarnings {
	f.mu.Lock()
	defer f.mu.Unlock()
	fold := f.of
	same := map[string][]*ledger.Client{}
	for _, c := range clients {
		for _, name := range namesOf(c) {
			same[fold(name)] = nil
		}
	}
	for c := range view.Clients() {
		for _, name := range namesOf(c) {
			folded := fold(name)
			if found, wanted := same[folded]; wanted && !slices.Contains(found, c) {
				same[folded] = append(found, c)
			}
		}
	}
	doubts := map[string][]nameWarnings{}
	for _, c := range clients {
		for _, name := range namesOf(c) {
			d := nameWarnings{Name: name, Scripts: mixedScripts(name), Service: view.LikeService(name)}
			for _, other := range same[fold(name)] {
				if other.ID == c.ID {
					continue
				}
				if d.More = len(d.Others) == maxNamesakes; d.More {
					break
				}
				d.Others = append(d.Others, namesake{other.Name, parts.AdminClientPath(other.ID), linkOwner(view, other)})
			}
			if d.Any() {
				doubts[c.ID] = append(doubts[c.ID], d)
			}
		}
	}
	return doubts
}

// namesOf returns the name of a client and, if it differs, the proposed one. A deleted
// client has none.
func namesOf(c *ledger.Client) []string {
	switch {
	case c.State == ledger.Deleted:
		return nil
	case c.Proposed != nil && c.Proposed.Name != c.Name:
		return []string{c.Name, c.Proposed.Name}
	}
	return []string{c.Name}
}

// newNameFolder returns a function that maps names which look alike to the same text: those with
// the same ledger.Skeleton, and those that differ only in letter case, in compatible forms of a
// character (NFKC), in spaces, or in characters that are not drawn. The function is not safe for concurrent
// use, since a cases.Caser has state.
func newNameFolder() func(name string) string {
	fold := cases.Fold()
	return func(name string) string {
		name = cmp.Or(ledger.Skeleton(name), name)
		if !strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
			return strings.Join(strings.Fields(strings.ToLower(name)), " ")
		}
		name = strings.Map(func(r rune) rune {
			if unicode.In(r, unicode.Variation_Selector, unicode.Join_Control) {
				return -1
			}
			return r
		}, name)
		return strings.Join(strings.Fields(norm.NFKC.String(fold.String(norm.NFKC.String(name)))), " ")
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
