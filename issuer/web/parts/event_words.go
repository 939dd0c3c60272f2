package parts

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// eventWords has the words of every kind of event. The part of a kind before the point is its
// group.
var eventWords = []struct {
	kind  ledger.EventKind
	title string // for a filter
	// says is the sentence. {client} and {user} are those of the event; {first} is the
	// first word of its detail, and {secret}, {server}, {publisher} and {former}, a user, are
	// what that word identifies; {second} is the name after it.
	says string
	// tell returns the sentence, and the rest of the detail, if the words depend on it.
	tell func(e *ledger.Event) (says, note string)
}{
	{kind: ledger.EventClientCreated, title: "Application registered", says: "Registered {client}"},
	{kind: ledger.EventClientEdited, title: "Application changed", tell: tellEdited},
	{kind: ledger.EventClientProposed, title: "Changes proposed", tell: tellProposed},
	{kind: ledger.EventClientReviewed, title: "Application approved, rejected, suspended, resumed", tell: tellReviewed},
	{kind: ledger.EventScopesSelected, title: "Application migrated to scopes", says: "Migrated {client} to scopes"},
	{kind: ledger.EventClientOffered, title: "Application offered", says: "Offered {client} to {user}"},
	{kind: ledger.EventOfferEnded, title: "Offer declined or withdrawn", tell: func(e *ledger.Event) (string, string) {
		if e.Actor == e.User {
			return "Declined the offer of {client}", ""
		}
		return "Withdrew the offer of {client} to {user}", ""
	}},
	{kind: ledger.EventClientTransferred, title: "Application transferred", tell: tellTransferred},
	{kind: ledger.EventClientDeleted, title: "Application deleted", says: "Deleted {client}"},
	{kind: ledger.EventClientImported, title: "Application imported", says: "Imported {client}"},
	{kind: ledger.EventClientApplied, title: "Application set by a file", tell: func(e *ledger.Event) (string, string) {
		if detail, added := strings.CutPrefix(e.Detail, "added"); added {
			return "Added {client} by a file", capital(strings.TrimPrefix(detail, "; "))
		}
		return "Changed {client} by a file", e.Detail
	}},
	{kind: ledger.EventSecretAdded, title: "Client secret generated", says: "Generated secret {secret}[ for {client}]"},
	{kind: ledger.EventSecretEdited, title: "Client secret changed", says: "Changed secret {secret}[ of {client}]"},
	{kind: ledger.EventSecretRevoked, title: "Client secret revoked", tell: func(e *ledger.Event) (string, string) {
		if atItsEnd(e) {
			return "Revoked secret {secret}[ of {client}] on the date that was set", ""
		}
		return "Revoked secret {secret}[ of {client}]", ""
	}},
	{kind: ledger.EventResourceAdded, title: "Resource server registered", says: "Registered resource server {server}"},
	{kind: ledger.EventResourceEdited, title: "Resource server changed", says: "Changed resource server {server}"},
	{kind: ledger.EventResourceApplied, title: "Resource server set by a file", says: "Set resource server {server} by a file"},
	{kind: ledger.EventResourceRemoved, title: "Resource server removed", says: "Removed resource server {server}"},
	{kind: ledger.EventResourceSecretAdded, title: "Secret of a resource server generated", says: "Generated a secret for resource server {server}"},
	{kind: ledger.EventResourceSecretRevoked, title: "Secret of a resource server revoked", says: "Revoked a secret of resource server {server}"},
	{kind: ledger.EventPublisherAdded, title: "Publisher approved", says: "Approved publisher {publisher}"},
	{kind: ledger.EventPublisherEdited, title: "Publisher changed", says: "Changed publisher {publisher}"},
	{kind: ledger.EventPublisherApplied, title: "Publisher set by a file", says: "Set publisher {publisher} by a file"},
	{kind: ledger.EventPublisherRequested, title: "Publisher requested", says: "Asked for {client} by {publisher}"},
	{kind: ledger.EventPublisherRevoked, title: "All access of a publisher ended", says: "Ended all access for publisher {publisher}"},
	{kind: ledger.EventPublisherRejected, title: "Publisher rejected", says: "Rejected publisher {publisher} and ended its access"},
	{kind: ledger.EventPublisherRemoved, title: "Publisher removed", says: "Removed publisher {publisher} and ended its access"},
	{kind: ledger.EventDocumentAdded, title: "Metadata document read", says: "Read the metadata document of {client}"},
	{kind: ledger.EventDocumentChanged, title: "Metadata document changed", says: "Read a changed metadata document of {client}"},
	{kind: ledger.EventAllowed, title: "Application allowed", says: "Allowed {client}"},
	{kind: ledger.EventExchanged, title: "Code exchanged", says: "Got its first tokens for {user}"},
	{kind: ledger.EventRetried, title: "Refresh repeated", says: "Repeated a refresh for {user}"},
	{kind: ledger.EventShared, title: "Sign-in shared by two copies", says: "Used one sign-in of {user} in two copies"},
	{kind: ledger.EventReuse, title: "Credential used twice", says: "Used a credential of {user} twice and lost its access"},
	{kind: ledger.EventFastForwarded, title: "Refresh token moved forward", says: "Used a later refresh token for {user} than the one due, after a restore"},
	{kind: ledger.EventGrantRevoked, title: "Access ended", tell: func(e *ledger.Event) (string, string) {
		switch e.Actor {
		case e.Client:
			return "Gave back its access to {user}", capital(e.Detail)
		case e.User:
			return "Ended access of {client}", capital(e.Detail)
		}
		return "Ended access of {client} to {user}", capital(e.Detail)
	}},
	{kind: ledger.EventDisconnected, title: "Application disconnected", tell: func(e *ledger.Event) (string, string) {
		says := "Disconnected {client}"
		if e.Client == "" {
			says = "Disconnected all applications"
		}
		if e.Actor != e.User {
			says += " from {user}"
		}
		return says, e.Detail
	}},
	{kind: ledger.EventUserAdded, title: "User added", tell: func(e *ledger.Event) (string, string) {
		provider, by := strings.CutPrefix(e.Detail, "by ")
		switch {
		case by:
			return "Signed in for the first time", "Through " + provider
		case e.Detail != "":
			return "Added {user}", capital(e.Detail)
		}
		return "Added {user}", ""
	}},
	{kind: ledger.EventUserPut, title: "User set by the operator", tell: func(e *ledger.Event) (string, string) {
		if e.Detail == "" {
			return "Added {user}", ""
		}
		return "Changed {user}", capital(e.Detail)
	}},
	{kind: ledger.EventUserEdited, title: "Profile edited", says: "Edited the profile of {user}"},
	{kind: ledger.EventProfileEdited, title: "Profile edited by an application", tell: func(e *ledger.Event) (string, string) {
		fields := strings.Join(strings.Fields(e.Detail), ", ")
		return "Edited the profile of {user}", capital(strings.NewReplacer("avatar_url", "picture", "_", " ").Replace(fields))
	}},
	{kind: ledger.EventUserState, title: "Role or state of a user changed", tell: tellUserState},
	{kind: ledger.EventPasswordSet, title: "Password set", tell: func(e *ledger.Event) (string, string) {
		if e.Actor == e.User {
			return "Changed the own password", ""
		}
		return "Set a new password for {user}", ""
	}},
	{kind: ledger.EventFeedSet, title: "Address of a feed changed", tell: func(e *ledger.Event) (string, string) {
		if e.Detail == "removed" {
			return "Removed the address of the feed", ""
		}
		return "Made an address for the feed", ""
	}},
	{kind: ledger.EventSignedIn, title: "Signed in", tell: func(e *ledger.Event) (string, string) {
		if provider, by := strings.CutPrefix(e.Detail, "by "); by {
			return "Signed in", "Through " + provider
		}
		return "Signed in", e.Detail
	}},
	{kind: ledger.EventSignedOut, title: "Signed out", tell: func(e *ledger.Event) (string, string) {
		if e.Actor == e.User {
			return "Signed out", e.Detail
		}
		return "Signed out {user} in one browser", e.Detail
	}},
	{kind: ledger.EventConfigured, title: "Settings changed", says: "Changed settings"},
	{kind: ledger.EventBranded, title: "Branding changed", tell: func(e *ledger.Event) (string, string) {
		step, note, _ := strings.Cut(e.Detail, " ")
		note = brandNote(note)
		switch ledger.BrandStep(step) {
		case ledger.BrandPublish:
			return "Published the branding", note
		case ledger.BrandDiscard:
			return "Discarded the draft of the branding", note
		}
		return "Saved a draft of the branding", note
	}},
	{kind: ledger.EventKeyAdded, title: "Key generated", says: "Generated key {first}"},
	{kind: ledger.EventKeyActivated, title: "Key activated", says: "Activated key {first}"},
	{kind: ledger.EventKeyDropped, title: "Key dropped", says: "Dropped key {first}"},
	{kind: ledger.EventKeyEmergency, title: "Key dropped in an emergency", says: "Dropped key {first} in an emergency"},
	{kind: ledger.EventRewrapped, title: "Keys wrapped anew", says: "Wrapped the keys by cluster key {first}"},
	{kind: ledger.EventNodeForgotten, title: "Node removed", says: "Removed node {first}"},
	{kind: ledger.EventRestored, title: "Backup restored", says: "Restored a backup"},
	{kind: ledger.EventReplayed, title: "Journal replayed", says: "Replayed the journal"},
	{kind: ledger.EventRecovered, title: "Recovered from one node", says: "Recovered the cluster from its only remaining node"},
	{kind: ledger.EventFailures, title: "Failures to authenticate", says: "Counted failures to authenticate within an hour"},
	{kind: ledger.EventOperatorTokenAdded, title: "Operator token generated", tell: func(e *ledger.Event) (string, string) {
		_, scopes, _ := strings.Cut(e.Detail, ": ")
		return "Generated operator token {second}", scopes
	}},
	{kind: ledger.EventOperatorTokenRevoked, title: "Operator token revoked", tell: func(*ledger.Event) (string, string) { return "Revoked operator token {second}", "" }},
	{kind: ledger.EventOperation, title: "Operation", says: "Ran an operation"},
}

// EventTitles returns the kinds of events in order, with their titles for a filter.
func EventTitles() []ui.Option {
	list := make([]ui.Option, 0, len(eventWords))
	for _, w := range eventWords {
		list = append(list, ui.Option{Value: string(w.kind), Text: w.title})
	}
	return list
}

// maxToldScopes is how many scopes of an edit are named. The download of the audit log has all.
const maxToldScopes = 4

// fieldsIn splits the detail of an edit: the fields that it names, in words, and its scopes.
func fieldsIn(e *ledger.Event) (fields, scopes string) {
	fields, scopes, found := strings.Cut(e.Detail, "; scopes ")
	if !found || !strings.Contains(fields, "scopes") {
		scopes = ""
	}
	if i := strings.LastIndex(fields, ", "); i >= 0 {
		fields = fields[:i] + " and " + fields[i+2:]
	}
	fields = strings.Map(func(r rune) rune {
		if strings.ContainsRune("{}[]", r) {
			return -1 // no detail has names to replace
		}
		return r
	}, fields)
	switch n := len(strings.Fields(scopes)); {
	case n > maxToldScopes:
		scopes = fmt.Sprintf("%d scopes in all", n)
	case n > 0:
		scopes = "Scopes: " + scopes
	}
	return fields, scopes
}

func tellEdited(e *ledger.Event) (says, note string) {
	switch fields, scopes := fieldsIn(e); fields {
	case ledger.EditDiscarded:
		return "Dismissed the rejected changes[ of {client}]", ""
	case ledger.EditResubmitted:
		return "Submitted {client} again without changes", ""
	case ledger.EditWithdrawn:
		return "Withdrew the changes proposed for {client}", ""
	default:
		return "Changed " + fields + "[ of {client}]", scopes
	}
}

func tellProposed(e *ledger.Event) (says, note string) {
	fields, scopes := fieldsIn(e)
	return "Proposed to change " + fields + "[ of {client}]", scopes
}

func tellReviewed(e *ledger.Event) (says, note string) {
	verdict, reason := e.Review()
	of := "{client}"
	if e.ReviewedChanges() {
		of = "the changes[ of {client}]"
	}
	switch verdict {
	case ledger.Approve:
		return "Approved " + of, reason
	case ledger.Reject:
		return "Rejected " + of, reason
	case ledger.Suspend:
		return "Suspended {client}", reason
	case ledger.Resume:
		return "Resumed {client}", reason
	}
	return "Decided about {client}", e.Detail
}

func tellTransferred(e *ledger.Event) (says, note string) {
	_, rest, _ := strings.Cut(e.Detail, ", ")
	if e.Actor == e.User {
		return "Took over {client} from {former}", capital(rest)
	}
	return "Transferred {client} from {former} to {user}", capital(rest)
}

func tellUserState(e *ledger.Event) (says, note string) {
	state, rest, _ := strings.Cut(e.Detail, ", ")
	if provider, by := strings.CutPrefix(rest, "by "); by {
		rest = "As " + provider + " says"
	}
	switch ledger.UserState(state) {
	case ledger.Enable:
		return "Enabled the account of {user}", rest
	case ledger.Disable:
		return "Disabled the account of {user}", rest
	case ledger.DeleteUser:
		return "Deleted the account of {user}", rest
	case ledger.Promote:
		return "Made {user} an administrator", rest
	case ledger.Demote:
		return "Withdrew the role of administrator from {user}", rest
	case ledger.SignOutUser:
		return "Signed {user} out everywhere", rest
	}
	return "Changed the state of {user}", e.Detail
}

// capital returns s with a capital letter.
func capital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// BrandTitles are the titles of the settings of the brand, by their keys.
var BrandTitles = map[string]string{
	"service_name": "Name", "accent": "Accent color", "logo": "Logo", "privacy_url": "Privacy policy", "terms_url": "Terms", "help_url": "Help",
	"forgot_password": "Reset instructions", "forgot_password_url": "Reset link",
}

// brandSetting finds a value, which is quoted, or the name of a setting before its value.
var brandSetting = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[a-z_]+: `)

// brandNote names the settings of a brand in the detail of an event, but not in their values.
func brandNote(detail string) string {
	return brandSetting.ReplaceAllStringFunc(detail, func(found string) string {
		if title, ok := BrandTitles[strings.TrimSuffix(found, ": ")]; ok {
			return title + ": "
		}
		return found
	})
}
