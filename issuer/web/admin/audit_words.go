package admin

import (
	"net/url"
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

// Values of the filter that are no kinds: a minus is before what is left out.
const (
	everyKind   = "all"
	butSessions = "-session"
)

// defaultKind returns the kind of a request without one. Sign-ins would bury all other events,
// but whoever looks at a user wants to see them.
func defaultKind(filters url.Values) string {
	if filters.Has("user") {
		return everyKind
	}
	return butSessions
}

// kindChoices returns the choices that are no kinds.
func kindChoices(chosen string) []ui.Option {
	return []ui.Option{
		{Value: butSessions, Text: "All but signing in and out", Chosen: chosen == butSessions},
		{Value: everyKind, Text: "All events", Chosen: chosen == everyKind},
	}
}

// kindText returns the words of a kind or a group.
func kindText(kind string) string {
	for _, g := range kindsWith(kind) {
		if g.Chosen {
			return g.Text
		}
		for _, k := range g.Kinds {
			if k.Chosen {
				return k.Text
			}
		}
	}
	return kind
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
