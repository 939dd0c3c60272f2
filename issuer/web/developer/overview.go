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
	"created":                           "The application was registered. An administrator of this service reviews it before anybody can use it.",
	"saved":                             "Saved.",
	"proposed":                          "Saved. What needs a review waits for an administrator; until then the application works as before.",
	"again":                             "Saved. An administrator reviews the application again.",
	"unchanged":                         "There was nothing to change.",
	"accepted":                          "The application is yours now.",
	"accepted-" + string(ledger.Public): "The application is yours now.",
	"accepted-revoked":                  "The application is yours now, and all its secrets were revoked. Generate a new one: until it has one, the application gets no tokens.",
	"withdrawn":                         "The offer was withdrawn.",
	"offered":                           "The offer was made. The application stays yours until the other person accepts.",
	"discarded":                         "The changes were discarded. The application works as before.",
	"refused-discarded":                 "The refused changes were dismissed. The application works as before.",
	"migrated":                          "The scopes were selected. From now on every authorization request must ask for scopes among them.",
	"draft-kept":                        "Your selection is kept here. It limits nothing before step 2.",
	"secret-known":                      parts.SecretKnown,
	"secret-revoked":                    parts.SecretRevoked,
	"secret-renamed":                    "The secret was renamed.",
	"secret-kept":                       "The secret works until you revoke it.",
	"revoked":                           "The secret was revoked. No part of this service accepts it any more.",
}

type overviewBody struct {
	Path              string
	Reason            string
	ReasonTitle, Tone string
	Meaning           string // what the state means for the application
	Edit              string // where to answer a rejection; "" otherwise
	Refused           string // why changes were refused; "" if none were
	OfferedTo         string // name of a user; "" if there is no offer
	Callouts          []ui.Callout
	Steps             []ui.Step // to the first token; none once there was one
	StepsCard         ui.Card
	Stats             []ui.Stat
	History           []parts.Told
	HistoryCard       ui.Card
}

// historyShown is the number of events on the overview.
const historyShown = 10

// overviewPage shows what an application needs from its owner, how much it is used, and what
// happened to it.
func (w *Area) overviewPage(c *site.Request, v site.Session, client *ledger.Client) error {
	now, path := w.Ledger.Now(), parts.ClientPath(client.ID)
	body := overviewBody{Path: path, HistoryCard: ui.Card{ID: "history", Title: "History", Action: &ui.Action{Title: "All events", Path: path + "/history", Small: true}}}
	if client.Refused != nil {
		body.Refused = client.Refused.Reason
	}
	if offer := v.View.OfferOf(client); offer != nil {
		body.OfferedTo = recipientOf(v.View, offer)
	}
	if client.State != ledger.Approved || client.Reason != body.Refused {
		body.Reason, body.ReasonTitle, body.Tone = client.Reason, parts.ReasonTitle(client), reasonTone(client)
	}
	switch client.State {
	case ledger.Rejected:
		body.Meaning, body.Edit = "Nobody can use it. Change what the reviewer asks for: it is then reviewed again.", path+"/edit"
		if client.Reason == "" {
			body.Meaning = "Nobody can use it. The reviewer left no note. A change of it is reviewed again."
		}
	case ledger.Suspended:
		body.Meaning = "An administrator has stopped it for now. People can’t allow it, and it gets no tokens. When it is resumed, what people allowed works again."
	}
	usage := v.View.Usage(client.ID)
	people, counted := w.people(c, &v, client, now)
	if people.Users > 0 || len(usage.Days) > 0 {
		body.Stats = parts.Figures(usage, people, counted, now)
	}
	started := wasUsed(client, usage, people)
	if !started && client.State != ledger.Suspended {
		body.Steps = w.firstToken(&v, client)
		body.StepsCard = ui.Card{ID: "first-token", Title: "Get to your first token", Side: stepsSide(body.Steps)}
	}
	body.Callouts = w.callouts(&v, client, started)
	if c.Notice() == "accepted" && client.ActiveSecrets() > 0 {
		body.Callouts = append(body.Callouts, ui.Callout{
			Tone: ui.Warn, Title: "Its former owner may know its secrets.", Text: "Generate new ones, and revoke the old.",
			Link: &ui.Link{Title: "Open credentials", Path: path + "/secrets"},
		})
	}
	body.History = told(&v, client, v.View.HistoryOf(client.ID, historyShown))
	p := w.pageOfClient(&v, client, "Overview", "")
	p.Notice, p.Body = parts.NoticeAbout(clientNotices, c.Notice(), client), body
	return w.Show(c, v, "overview", p)
}

// callouts returns what an application needs, and what is unusual about it.
func (w *Area) callouts(v *site.Session, client *ledger.Client, started bool) (list []ui.Callout) {
	path := parts.ClientPath(client.ID)
	if started && client.Reviewed() && !client.Public() && client.ActiveSecrets() == 0 {
		list = append(list, ui.Callout{
			Tone: ui.Warn, Title: "It has no secret.", Text: "Without one it gets no tokens.",
			Link: &ui.Link{Title: "Generate a secret", Path: path + "/secrets"},
		})
	}
	if client.Proposed != nil {
		list = append(list, ui.Callout{
			Tone: ui.Info, Title: "Changes wait for review.", Text: w.waiting(v, client) + ". Until then the application works as before.",
			Link: &ui.Link{Title: "See the changes", Path: path + "/scopes#proposed"},
		})
	}
	if client.Legacy {
		list = append(list, ui.Callout{
			Tone: ui.Info, Title: "Legacy.", Text: "It was made before scopes, so what people allow it has no limits.",
			Link: &ui.Link{Title: "Move to scopes", Path: path + "/migration"},
		})
	}
	return list
}

// waiting returns how long a review has been waited for, and the position in the queue.
func (w *Area) waiting(v *site.Session, client *ledger.Client) string {
	since := v.At(client.WaitingSince())
	text := "Waiting since " + since.Text
	if ago, is := strings.CutSuffix(since.Text, " ago"); is {
		text = "Waiting for " + ago
	} else if since.Ago {
		text = "Waiting since a moment ago"
	}
	if at := v.View.QueuePosition(ledger.QueueQuery{}, client.ID); at.First > 0 && at.Exact {
		text += fmt.Sprintf(", %s of %s", ordinal(at.First), ui.Comma(at.Total))
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
		secret.Title, secret.Text = "No secret needed", "It proves itself with PKCE, a code verifier for each authorization."
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
		review.State, review.Text = ui.StepNow, w.waiting(v, client)+". Nobody can use it before."
	case ledger.Rejected:
		review.State, review.Text = ui.StepNow, "It was not approved."
	}
	try := ui.Step{Title: "Try the flow", State: ui.StepLater, Text: "Allow it for your own account: you return to the redirect URI with a code, which Connect exchanges for a token."}
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

func reasonTone(client *ledger.Client) string {
	switch client.State {
	case ledger.Rejected:
		return ui.Warn
	case ledger.Suspended:
		return ui.Bad
	}
	return ui.Info
}
