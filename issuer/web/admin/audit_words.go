package admin

import (
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// A kindGroup is a group of kinds of events. Value selects all of them.
type kindGroup struct {
	ui.Option
	Kinds []ui.Option
}

// Several reports whether the group has more than one kind.
func (g kindGroup) Several() bool { return len(g.Kinds) > 1 }

var kindGroups = []struct{ value, text string }{
	{"client", "Applications"},
	{"secret", "Client secrets"},
	{"resource_server", "Resource servers"},
	{"publisher", "Publishers of agents"},
	{"document", "Documents of agents"},
	{"grant", "Access to accounts"},
	{"user", "Users"},
	{"session", "Signing in and out"},
	{"settings", "Settings"},
	{"key", "Keys"},
	{"node", "Nodes"},
	{"restore", "Restores"},
	{"security", "Failures to authenticate"},
	{"operator", "Operators on other machines"},
}

// eventWords has the text of every kind of event. The part of a kind before the point is its
// group.
var eventWords = []struct {
	kind ledger.EventKind
	text string
}{
	{ledger.EventClientCreated, "Application registered"},
	{ledger.EventClientEdited, "Application changed"},
	{ledger.EventClientProposed, "Changes proposed"},
	{ledger.EventClientReviewed, "Application reviewed, suspended or resumed"},
	{ledger.EventScopesSelected, "Scopes of a legacy application chosen"},
	{ledger.EventClientOffered, "Application offered"},
	{ledger.EventOfferEnded, "Offer ended"},
	{ledger.EventClientTransferred, "Application handed over"},
	{ledger.EventClientDeleted, "Application deleted"},
	{ledger.EventClientImported, "Application imported"},
	{ledger.EventClientApplied, "Application set from a file"},
	{ledger.EventSecretAdded, "Client secret made"},
	{ledger.EventSecretEdited, "Client secret changed"},
	{ledger.EventSecretRevoked, "Client secret revoked"},
	{ledger.EventResourceAdded, "Resource server registered"},
	{ledger.EventResourceEdited, "Resource server changed"},
	{ledger.EventResourceApplied, "Resource server set from a file"},
	{ledger.EventResourceRemoved, "Resource server removed"},
	{ledger.EventResourceSecretAdded, "Secret of a resource server made"},
	{ledger.EventResourceSecretRevoked, "Secret of a resource server revoked"},
	{ledger.EventPublisherAdded, "Publisher approved"},
	{ledger.EventPublisherEdited, "Publisher changed"},
	{ledger.EventPublisherApplied, "Publisher set from a file"},
	{ledger.EventPublisherRequested, "Publisher asked for"},
	{ledger.EventPublisherRevoked, "Access for a publisher ended"},
	{ledger.EventPublisherRejected, "Publisher rejected, its access ended"},
	{ledger.EventPublisherRemoved, "Publisher removed, its access ended"},
	{ledger.EventDocumentAdded, "Document of an agent read"},
	{ledger.EventDocumentChanged, "Document of an agent changed"},
	{ledger.EventAllowed, "Application allowed"},
	{ledger.EventExchanged, "Code exchanged"},
	{ledger.EventRetried, "Refresh answered again"},
	{ledger.EventShared, "Sign-in shared by two copies"},
	{ledger.EventReuse, "Credential used twice, access ended"},
	{ledger.EventFastForwarded, "Access moved forward after a restore"},
	{ledger.EventGrantRevoked, "Access given back"},
	{ledger.EventDisconnected, "Application disconnected"},
	{ledger.EventUserAdded, "User added"},
	{ledger.EventUserPut, "User set by the operator"},
	{ledger.EventUserEdited, "User changed"},
	{ledger.EventProfileEdited, "Profile changed by an application"},
	{ledger.EventUserState, "Role or state of a user changed"},
	{ledger.EventPasswordSet, "Password set"},
	{ledger.EventSignedIn, "Signed in"},
	{ledger.EventSignedOut, "Signed out"},
	{ledger.EventConfigured, "Settings changed"},
	{ledger.EventBranded, "Branding changed"},
	{ledger.EventKeyAdded, "Key made"},
	{ledger.EventKeyActivated, "Key taken into use"},
	{ledger.EventKeyDropped, "Key dropped"},
	{ledger.EventKeyEmergency, "Key dropped in an emergency"},
	{ledger.EventRewrapped, "Keys sealed anew"},
	{ledger.EventNodeForgotten, "Node forgotten"},
	{ledger.EventRestored, "Restored from a backup"},
	{ledger.EventReplayed, "Journal replayed"},
	{ledger.EventRecovered, "Recovered from the only node left"},
	{ledger.EventFailures, "Failed sign-ins and client authentications in an hour"},
	{ledger.EventOperatorTokenAdded, "Operator token made"},
	{ledger.EventOperatorTokenRevoked, "Operator token revoked"},
	{ledger.EventOperation, "Operation by an operator on another machine"},
}

// userStateWords are the texts for the detail of an EventUserState.
var userStateWords = map[ledger.UserState]string{
	ledger.Enable: "enabled", ledger.Disable: "disabled", ledger.DeleteUser: "deleted",
	ledger.Promote: "made an administrator", ledger.Demote: "no longer an administrator",
}

// eventText returns the text of an event and its details. It also handles kinds of later
// versions.
func eventText(e *ledger.Event) (what, detail string) {
	if e.Kind == ledger.EventClientReviewed {
		switch verdict, reason := e.Review(); verdict {
		case ledger.Suspend:
			return "Application suspended", reason
		case ledger.Resume:
			return "Application resumed", reason
		}
		return "Application reviewed", e.Detail
	}
	for _, known := range eventWords {
		if known.kind == e.Kind {
			if words := userStateWords[ledger.UserState(e.Detail)]; e.Kind == ledger.EventUserState && words != "" {
				return known.text, words
			}
			return known.text, e.Detail
		}
	}
	return string(e.Kind), e.Detail
}

// kindsWith returns all kinds for the filter.
func kindsWith(chosen string) (groups []kindGroup) {
	for _, g := range kindGroups {
		group := kindGroup{Option: ui.Option{Value: g.value, Text: g.text, Chosen: g.value == chosen}}
		for _, e := range eventWords {
			if before, _, _ := strings.Cut(string(e.kind), "."); before == g.value {
				group.Kinds = append(group.Kinds, ui.Option{Value: string(e.kind), Text: e.text, Chosen: string(e.kind) == chosen})
			}
		}
		groups = append(groups, group)
	}
	return groups
}
