package account

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/attention"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// words are an item of the list for a person.
type words struct {
	Title string
	Path  string
	Icon  string // of an item that is about no application
	Pill  *ui.Pill
	Quote string // what a reviewer wrote
	Text  string
	Did   string // what happened at the item's time, such as "Rejected"
	// Action leads to what the person can do. Its title is "" for nothing.
	Action ui.Action
}

// maxQuote is how much of a reviewer's reason is shown, in characters.
const maxQuote = 120

// wordsOf returns the words for an item. date tells a time.
func wordsOf(v ledger.View, date func(ledger.Time) string, one *attention.Item) words {
	switch one.Kind {
	case attention.Review:
		return words{
			Title: one.Client.Name, Path: parts.AdminClientPath(one.Client.ID), Pill: pill("Waiting for review", ui.Warn),
			Text: parts.NameOf(v.User(one.Client.Owner)) + " submitted it.",
		}
	case attention.Publisher:
		return words{
			Title: one.Publisher.Host, Path: parts.PublisherPath(one.Publisher.Host), Pill: pill("Waiting for review", ui.Warn),
			Text: "A publisher of agents.",
		}
	case attention.Reviews:
		return words{
			Title: waits(one.Count, "application"), Path: site.PathAdmin, Icon: "check", Did: "The oldest was submitted",
			Action: ui.Action{Title: "Review", Path: site.PathAdmin, About: "applications"},
		}
	case attention.Publishers:
		return words{
			Title: waits(one.Count, "publisher"), Path: site.PathWaitingPublishers, Icon: "external", Did: "The oldest was requested",
			Action: ui.Action{Title: "Review", Path: site.PathWaitingPublishers, About: "publishers"},
		}
	case attention.BrandDraft:
		return words{
			Title: "The branding has a draft", Path: parts.PathAdminBranding, Icon: "palette", Text: "People see it after it is published.",
			Action: ui.Action{Title: "Preview", Path: parts.PathAdminBranding, About: "the branding"},
		}
	case attention.AppShared, attention.AppSuspended:
		return wordsOfApp(one)
	}
	return wordsOfClient(v, date, one)
}

func waits(n int, thing string) string {
	text := ui.Plural(n, thing)
	if n > attention.MaxCount {
		text = "More than " + ui.Plural(attention.MaxCount, thing)
	}
	if n == 1 {
		return text + " is waiting for review"
	}
	return text + " are waiting for review"
}

// wordsOfApp are about an application that may use the user's account.
func wordsOfApp(one *attention.Item) words {
	is := words{Title: parts.NameOfApp(one.Client), Path: appPath(one.Client.ID)}
	is.Action = ui.Action{Title: "Details", Path: is.Path, About: "of " + is.Title}
	if one.Kind == attention.AppSuspended {
		is.Pill, is.Did = pill("Suspended", ""), "Suspended"
		is.Text = "An administrator stopped this app. It can’t use your account for now."
		return is
	}
	is.Pill, is.Did = pill("Shared sign-in", ui.Warn), "Last used"
	is.Text = "Two copies of this app share one sign-in. If you use it in one place only, disconnect it."
	return is
}

// wordsOfClient are about an application that the user owns, or could own.
func wordsOfClient(v ledger.View, date func(ledger.Time) string, one *attention.Item) words {
	c := one.Client
	is := words{Title: c.Name, Path: parts.ClientPath(c.ID)}
	do := func(title string, below ...string) {
		is.Action = ui.Action{Title: title, Path: parts.ClientPath(c.ID, below...), About: c.Name}
	}
	state := parts.OwnerStatePill(c.State)
	switch one.Kind {
	case attention.Offered:
		is.Path = parts.PathDeveloper + "/offers/" + url.PathEscape(c.ID)
		is.Pill, is.Did = pill("Offered to you", ui.Warn), "Offered"
		is.Text = parts.NameOf(v.User(c.Owner)) + " asks you to take over this application."
		is.Action = ui.Action{Title: "See the offer", Path: is.Path, About: "of " + c.Name}
	case attention.Rejected:
		is.Pill, is.Quote, is.Did = &state, beginning(c.Reason), "Rejected"
		do("Edit and resubmit", "edit")
	case attention.Refused:
		is.Pill, is.Quote, is.Did = pill("Changes rejected", ui.Warn), beginning(c.Refused.Reason), "Rejected"
		is.Text = "The application works without the changes."
		do("Edit and resubmit", "edit")
		is.Action.Path += "?from=" + parts.FromRefused
	case attention.Suspended:
		is.Pill, is.Quote, is.Did = &state, beginning(c.Reason), "Suspended"
		is.Text = "Nobody can use it until an administrator resumes it."
		do("Details")
	case attention.NoSecret:
		is.Pill = pill("No secret", ui.Warn)
		is.Text = "The application is approved. It needs a secret to get access."
		do("Generate a secret", "secrets")
	case attention.SecretEnds:
		is.Pill = pill("Secret ends", ui.Warn)
		is.Text = "The secret ••••" + one.Secret.Tail + " ends " + date(one.Secret.Ends) + ". Whatever still uses it is refused from then on."
		do("Credentials", "secrets")
	case attention.Waiting:
		is.Pill, is.Did = pill("Waiting for review", ui.Info), "Submitted"
		is.Text = place(one.Place) + "Nobody can use it before it is approved."
		if c.Proposed != nil {
			is.Text = place(one.Place) + "It works as before until your changes are approved."
		}
	case attention.Legacy:
		is.Pill = pill("Legacy", ui.Info)
		is.Text = "It may do everything that its users may do. Select the scopes that it needs."
		do("Move to scopes", "migration")
	}
	return is
}

func pill(text, tone string) *ui.Pill { return &ui.Pill{Text: text, Tone: tone} }

// place describes a position in the review queue in a sentence.
func place(p ledger.Position) string {
	if p.First == 0 {
		return ""
	}
	return parts.QueuePlace(p) + ". "
}

// beginning returns the beginning of a reviewer's reason, whole words if it has any.
func beginning(text string) string {
	if utf8.RuneCountInString(text) <= maxQuote {
		return text
	}
	cut := string([]rune(text)[:maxQuote])
	if space := strings.LastIndexByte(cut, ' '); space > 0 {
		cut = cut[:space]
	}
	return strings.TrimRight(cut, " .,;:") + "…"
}

func appPath(id string) string { return parts.PathApps + "/" + url.PathEscape(id) }
