package developer

import (
	"fmt"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var clientNotices = site.Notices{
	"created":                           "The application was registered. You can prepare it while an administrator reviews it.",
	"saved":                             "Saved.",
	"proposed":                          "Saved, and sent for review. Until it’s approved, the application works as before.",
	"again":                             "Saved, and sent for review again.",
	"unchanged":                         "There was nothing to change.",
	"accepted":                          "The application is yours now.",
	"accepted-" + string(ledger.Public): "The application is yours now.",
	"accepted-revoked":                  "The application is yours now, and all its secrets were revoked. Generate a new one: until it has one, the application gets no tokens.",
	"withdrawn":                         "The offer was withdrawn.",
	"offered":                           "The offer was made. The application stays yours until the other person accepts.",
	"discarded":                         "The changes were discarded. The application works as before.",
	"refused-discarded":                 "The rejected changes were dismissed. The application works as before.",
	"migrated":                          "The application is limited to these scopes. From now on every authorization request must ask for scopes among them.",
	"draft-kept":                        "Your selection is saved. It limits nothing before step 2. Put the new URL into your program.",
	"secret-known":                      parts.SecretKnown,
	"secret-revoked":                    parts.SecretRevoked,
	"secret-renamed":                    "The secret was renamed.",
	"secret-kept":                       "The secret works until you revoke it.",
	"revoked":                           "The secret was revoked. It is refused everywhere from now on.",
}

type overviewBody struct {
	Callouts    []ui.Callout
	Steps       []ui.Step // to the first token; none once there was one
	StepsCard   ui.Card
	Stats       []ui.Stat
	History     []parts.Told
	HistoryCard ui.Card
}

// historyShown is the number of events on the overview.
const historyShown = 10

// overviewPage shows what an application needs from its owner, how much it is used, and what
// happened to it.
func (w *Area) overviewPage(c *site.Request, v site.Session, client *ledger.Client) error {
	now, path := w.Ledger.Now(), parts.ClientPath(client.ID)
	body := overviewBody{HistoryCard: ui.Card{ID: "history", Title: "History"}}
	usage := v.View.Usage(client.ID)
	people, counted := w.people(c, &v, client, now)
	if people.Users > 0 || len(usage.Days) > 0 {
		body.Stats = parts.Figures(usage, people, counted, now)
		body.Stats[len(body.Stats)-1].Path = path + "/errors"
	}
	started := wasUsed(client, usage, people)
	if !started && client.State != ledger.Suspended {
		body.Steps = w.firstToken(&v, client)
		body.StepsCard = ui.Card{ID: "first-token", Title: "Get to your first token", Side: stepsSide(body.Steps)}
	}
	events := v.View.HistoryOf(client.ID, historyShown+1)
	if len(events) > historyShown {
		events = events[:historyShown]
		body.HistoryCard.Action = &ui.Action{Title: "All events", Path: path + "/history", Small: true}
	}
	body.Callouts = w.callouts(&v, client, events, started)
	if c.Notice() == "accepted" && client.ActiveSecrets() > 0 {
		body.Callouts = append(body.Callouts, ui.Callout{
			Tone: ui.Warn, Title: "Its former owner may know its secrets.", Text: "Generate new ones, and revoke the old.",
			Action: &ui.Action{Title: "Open credentials", Path: path + "/secrets", Small: true},
		})
	}
	body.History = told(&v, client, events)
	p := w.pageOfClient(&v, client, "Overview", "")
	if client.State == ledger.Rejected {
		p.Actions = nil // the callout has it
	}
	p.Notice, p.Body = parts.NoticeAbout(clientNotices, c.Notice(), client), body
	return w.Show(c, v, "overview", p)
}

// callouts returns what an application needs, and what is unusual about it.
func (w *Area) callouts(v *site.Session, client *ledger.Client, events []*ledger.Event, started bool) (list []ui.Callout) {
	path := parts.ClientPath(client.ID)
	to := func(title, below string) *ui.Action {
		return &ui.Action{Title: title, Path: path + below, Small: true}
	}
	if one := w.stateCallout(v, client, events); one != nil {
		list = append(list, *one)
	}
	if r := client.Refused; r != nil {
		again := to("Edit and resubmit", "/edit?from="+parts.FromRefused)
		list = append(list, ui.Callout{
			Tone: ui.Warn, Title: "Your changes were rejected:", Quote: r.Reason, Text: "The application works without them.", Action: again,
		})
	}
	if offer := v.View.OfferOf(client); offer != nil {
		list = append(list, ui.Callout{
			Tone: ui.Info, Title: "Offered to", Quote: recipientOf(v.View, offer), Text: "They haven’t answered.", Action: to("See the offer", "/transfer"),
		})
	}
	if started && client.Reviewed() && !client.Public() && client.ActiveSecrets() == 0 {
		list = append(list, ui.Callout{
			Tone: ui.Warn, Title: "It has no secret.", Text: "Without one it gets no tokens.",
			Action: to("Generate a secret", "/secrets"),
		})
	}
	if client.Proposed != nil {
		list = append(list, ui.Callout{
			Tone: ui.Info, Title: "Changes wait for review.", Text: w.waiting(v, client) + ". Until then the application works as before.",
			Action: to("See the changes", "/scopes#proposed"),
		})
	}
	if client.Legacy {
		list = append(list, ui.Callout{
			Tone: ui.Info, Title: "Legacy.", Text: legacyAccess,
			Action: to("Move to scopes", "/migration"),
		})
	}
	return list
}

// stateCallout returns what the last review means for the application, or nil for nothing. events
// are its latest.
func (w *Area) stateCallout(v *site.Session, client *ledger.Client, events []*ledger.Event) *ui.Callout {
	since := func(word string, verdict ledger.Verdict) string {
		for _, e := range events {
			if is, _ := e.Review(); e.Kind != ledger.EventClientReviewed || is != verdict || e.ReviewedChanges() {
				continue
			}
			at := v.At(e.At)
			if !at.Ago {
				word += " on"
			}
			return word + " " + at.Text
		}
		return word
	}
	switch client.State {
	case ledger.Rejected:
		return &ui.Callout{
			Tone: ui.Warn, Title: since("Rejected", ledger.Reject) + ending(client.Reason), Quote: client.Reason, Text: "Nobody can use the application.",
			Action: &ui.Action{Title: "Edit and resubmit", Path: parts.ClientPath(client.ID, "edit"), Primary: true, Small: true},
		}
	case ledger.Suspended:
		one := &ui.Callout{
			Tone: ui.Bad, Title: since("Suspended", ledger.Suspend) + ending(client.Reason), Quote: client.Reason,
			Text: "People can’t allow the application, and it gets no tokens. Those who are connected stay so: their access works again once it’s resumed. To have it resumed, write to the administrators of " + w.Brand().Name + ".",
		}
		if help := w.Brand().Help; help != "" {
			one.Action = &ui.Action{Title: "Get help", Path: help, Small: true}
		}
		return one
	}
	if client.Reason == "" || client.Refused != nil && client.Refused.Reason == client.Reason {
		return nil
	}
	return &ui.Callout{Tone: ui.Info, Title: "The last reviewer wrote:", Quote: client.Reason}
}

// ending returns what follows a title before a quotation, or before nothing.
func ending(quote string) string {
	if quote == "" {
		return "."
	}
	return ":"
}

// waiting returns how long a review has been waited for, and the position in the queue.
func (w *Area) waiting(v *site.Session, client *ledger.Client) string {
	since := v.At(client.WaitingSince())
	text := "Waiting since " + since.Text
	if ago, is := strings.CutSuffix(since.Text, " ago"); is {
		text = "Waiting for " + ago
	} else if since.Ago {
		text = "Submitted just now"
	}
	if at := v.View.QueuePosition(ledger.QueueQuery{}, client.ID); at.First > 0 && at.Exact {
		text += fmt.Sprintf(", %s of %s in the queue", ordinal(at.First), ui.Comma(at.Total))
	}
	return text
}

// ordinal formats a number such as "3rd".
func ordinal(n int) string {
	end := "th"
	if tens := n % 100; tens < 11 || tens > 13 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return ui.Comma(n) + end
}

// wasUsed reports whether an application is known to have had a token, or a person who
// allowed it.
func wasUsed(client *ledger.Client, usage *ledger.Usage, people ledger.Connected) bool {
	for i := range client.Secrets {
		if client.Secrets[i].Used != 0 {
			return true
		}
	}
	return people.Users > 0 || len(usage.Days) > 0
}

// firstToken returns the steps to the first token of an application that had none.
func (w *Area) firstToken(v *site.Session, client *ledger.Client) []ui.Step {
	path := parts.ClientPath(client.ID)
	secret := ui.Step{Title: "Generate a secret", State: ui.StepDone}
	switch {
	case client.Public():
		secret.Title, secret.Text = "No secret needed", "The application proves itself with PKCE, a code verifier for each authorization."
	case client.ActiveSecrets() == 0:
		secret.State, secret.Text = ui.StepNow, "The application proves itself with it. It is shown once."
		secret.Form, secret.Do = w.newSecretForm(v, client), "Generate secret"
	default:
		s := client.SecretOf(client.NewestSecret())
		secret.Text = "••••" + s.Tail + ", " + v.At(s.Created).Text
	}
	review := ui.Step{Title: "Review", State: ui.StepDone, Text: "An administrator approved the application."}
	switch client.State {
	case ledger.Pending:
		review.State, review.Text = ui.StepLater, w.waiting(v, client)+". Nobody can use the application until it’s approved."
	case ledger.Rejected:
		review.State, review.Text = ui.StepNow, "Rejected. Edit and resubmit the application to have it reviewed again."
	}
	try := ui.Step{Title: "Try the flow", State: ui.StepLater, Text: "Allow the application for your own account. You return to the redirect URI with a code; Connect shows how to exchange it."}
	if !review.Done() {
		try.Text = "Possible once the application is approved."
		try.Action = &ui.Action{Title: "Prepare your code", Path: path + "/connect", Small: true}
	}
	if secret.Done() && review.Done() {
		try.State = ui.StepNow
		try.Action = &ui.Action{Title: "Try it", Path: path + "/connect", Primary: true, Small: true}
		if !client.Public() { // whose code verifier stands beside the URL
			try.Action.Path, try.Action.NewTab = w.connecting(v, client).authorizationURL(), true
		}
	}
	return []ui.Step{secret, review, try}
}

// stepsSide returns how many steps are done.
func stepsSide(steps []ui.Step) string {
	done := 0
	for _, s := range steps {
		if s.Done() {
			done++
		}
	}
	return fmt.Sprintf("%d of %d", done, len(steps))
}

// legacyAccess is what a client that was made before scopes may do.
const legacyAccess = "It was made before scopes existed, so it has full access to every account that allows it."
