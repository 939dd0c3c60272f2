package admin

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
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

// verdictKinds replace reviewedKind among the choices: the kind, limited to some verdicts. Approvals
// are daily work; a suspension is an incident.
var verdictKinds = []ui.Option{
	{Value: reviewedKind + ":approve,reject", Text: "Application approved or rejected"},
	{Value: reviewedKind + ":suspend,resume", Text: "Application suspended or resumed"},
}

const reviewedKind = string(ledger.EventClientReviewed)

// parseKind parses the value of a kind or a group, or one of verdictKinds. Any other value is a
// kind that no event has.
func parseKind(value string) (kind string, verdicts []ledger.Verdict) {
	if !slices.ContainsFunc(verdictKinds, func(o ui.Option) bool { return o.Value == value }) {
		return value, nil
	}
	kind, list, _ := strings.Cut(value, ":")
	for verdict := range strings.SplitSeq(list, ",") {
		verdicts = append(verdicts, ledger.Verdict(verdict))
	}
	return kind, verdicts
}

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
			before, _, _ := strings.Cut(kind.Value, ".")
			switch {
			case before != g.value:
			case kind.Value == reviewedKind && chosen != reviewedKind:
				group.Kinds = append(group.Kinds, verdictKinds...)
			default:
				group.Kinds = append(group.Kinds, kind)
			}
		}
		choose(chosen, group.Kinds...)
		groups = append(groups, group)
	}
	return groups
}
