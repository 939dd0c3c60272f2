package admin

import (
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// A kindGroup is a group of kinds of events. Value selects all of them.
type kindGroup struct {
	ui.Option
	Kinds []ui.Option
}

// Several reports whether the group has more than one kind.
func (g kindGroup) Several() bool { return len(g.Kinds) > 1 }

// kindGroups has the titles of the groups. The part of a kind before the point is its group.
var kindGroups = []struct{ value, text string }{
	{"client", "Applications"},
	{"secret", "Client secrets"},
	{"grant", "Access to accounts"},
	{"user", "Users"},
	{"session", "Signing in and out"},
	{"resource_server", "Resource servers"},
	{"publisher", "Publishers"},
	{"document", "Metadata documents of agents"},
	{"settings", "Settings"},
	{"security", "Failures to authenticate"},
	{"operator", "Remote operators"},
	{"key", "Keys"},
	{"node", "Nodes"},
	{"restore", "Restores"},
}

// kindsWith returns all kinds for the filter.
func kindsWith(chosen string) (groups []kindGroup) {
	for _, g := range kindGroups {
		group := kindGroup{Option: ui.Option{Value: g.value, Text: g.text, Chosen: g.value == chosen}}
		for _, kind := range parts.EventTitles() {
			if before, _, _ := strings.Cut(kind.Value, "."); before == g.value {
				kind.Chosen = kind.Value == chosen
				group.Kinds = append(group.Kinds, kind)
			}
		}
		groups = append(groups, group)
	}
	return groups
}
