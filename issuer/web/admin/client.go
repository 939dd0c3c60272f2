package admin

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// historyRows is the number of events on the page of an application; the audit page has
// the others.
const historyRows = 10

// historyCard returns the card of the newest events. Its link leads to the audit page, filtered by a
// field of its form.
func historyCard(field, value string) ui.Card {
	return ui.Card{ID: "history", Title: "History", Action: &ui.Action{
		Title: "All events", Path: parts.PathAdminAudit + "?" + url.Values{field: {value}}.Encode(), Small: true,
	}}
}

type adminClientBody struct {
	Client       *ledger.Client
	Created      ui.Stamp
	Changed      ui.Stamp
	Owner        parts.Piece
	OwnerProblem string // why the owner can't manage it; "" if they can
	Secrets      int
	Website      string // host of the website
	Privacy      string // host of the privacy policy
	Terms        string // host of the terms of service
	Scopes       []parts.ScopeGroup

	Waits        bool
	Chips        []ui.Pill   // what it asks for, if it waits
	Unchanged    int         // scopes that the proposed revision keeps: those in Scopes
	Place        string      // in the queue, such as "3 of 41"
	Decision     ui.Card     // the head of the form of a review
	Tier         ui.Tier     // what it asks for that controls other people; of a change, what is new
	Held         []string    // what it already may do that controls other people
	Use          string      // how much it is used, if changes of it wait
	About        string      // the owner's name and email address, and since when the owner has an account
	Verdict      *verdict    // why it can't be used; nil if it can, or if that was just decided
	OthersCard   ui.Card     // leads to the page with all of them if Others has only some
	Others       []otherLine // further applications of the owner
	Stats        []ui.Stat
	Since        ui.Stamp        // when it began to wait for a review
	Changes      []ui.Difference // by the proposed revision
	NameWarnings []nameWarnings
	Refused      *parts.RefusedChanges

	Review *site.Form // nil if there is nothing to review
	Resume *site.Form // nil if it isn't suspended, or if that was just done
	Danger *ui.Danger // nil if it can't be suspended or transferred

	Transfer string // the page that transfers it; "" if it has a document, which nobody can transfer

	HistoryCard ui.Card // leads to the page with these events and those of its access
	History     []parts.Told
}

// A verdict is the last decision about an application.
type verdict struct {
	By parts.Piece
	At ui.Stamp
}

// verdictOf returns the decision of a suspended or rejected application; its time is zero if the audit
// log no longer has it.
func verdictOf(list []*ledger.Event, told []parts.Told) *verdict {
	for n, e := range list {
		if e.Kind == ledger.EventClientReviewed {
			return &verdict{told[n].By, told[n].At}
		}
	}
	return &verdict{At: ui.Stamp{Zero: true}}
}

var adminClientNotices = site.Notices{
	"approve":                           "Approved. The application can be used now.",
	"reject":                            "Rejected.",
	"suspend":                           "Suspended. It gets no new access. Access that it got just before may keep working for up to 30 minutes.",
	"transfer":                          "The application has a new owner. The former one may know its secrets: ask the new owner to generate others and to revoke those.",
	"transfer-" + string(ledger.Public): "The application has a new owner.",
	"resume":                            "Resumed. The application can be used again, with what people had allowed.",
}

// adminClient shows the page of one application.
func (w *Area) adminClient(c *site.Request, v site.Session) error {
	return w.showAdminClient(c, v, nil)
}

// clientParam returns the client that the path names.
func (w *Area) clientParam(c *site.Request, v *site.Session) (client *ledger.Client, err error) {
	there, err := w.ConfirmFresh(c, v, func() bool {
		client = v.View.Client(c.Param("id"))
		return client != nil
	})
	switch {
	case err != nil:
		return nil, err
	case !there:
		return nil, site.ErrNotFound
	}
	c.Client = client.ID
	return client, nil
}

// showAdminClient shows the page with a refused form, or nil.
func (w *Area) showAdminClient(c *site.Request, v site.Session, sent *site.Form) error {
	client, err := w.clientParam(c, &v)
	if err != nil {
		return err
	}
	body := &adminClientBody{
		Client: client, Created: v.At(client.Created), Changed: v.At(client.Changed), Owner: linkOwner(v.View, client), Secrets: client.ActiveSecrets(),
		Website: parts.HostOf(client.Website), Privacy: parts.HostOf(client.PrivacyURL), Terms: parts.HostOf(client.TermsURL),
		Waits: client.AwaitsReview(), Since: v.At(client.WaitingSince()), NameWarnings: nameWarningsOf(v.View, client),
		OthersCard: ui.Card{ID: "others", Title: "Owner’s other applications"},
	}
	w.countPeople(c, &v, body.NameWarnings)
	if client.State != ledger.Deleted {
		body.Tier, body.Held = tierOf(client)
		body.Others, body.OthersCard.Action = othersOf(v.View, client)
	}
	if client.State == ledger.Approved || client.State == ledger.Suspended {
		now := w.Ledger.Now()
		people, counted := parts.PeopleOf(c.R.Context(), w.people, v.View, client.ID, now)
		body.Stats = parts.Figures(v.View.Usage(client.ID), people, counted, now)
		body.Stats[0].Path, body.Stats[3].Path = parts.ClientPath(client.ID, "users"), parts.ClientPath(client.ID, "errors")
	}
	if client.State != ledger.Deleted && client.Document == nil {
		body.Transfer = parts.AdminClientPath(client.ID) + "/transfer"
		body.OwnerProblem = ownerProblem(v.View.User(client.Owner))
	}
	scopes := client.Scopes
	if client.Proposed != nil {
		body.Changes = withScopeTexts(parts.Differences(&client.Profile, client.Proposed))
		scopes = slices.DeleteFunc(slices.Clone(scopes), func(s string) bool { return !slices.Contains(client.Proposed.Scopes, s) })
		body.Unchanged = len(scopes)
	}
	if p := v.View.PublisherOf(client); p != nil {
		scopes = p.Scopes
	}
	body.Scopes = parts.ScopeGroups(scopes, true)
	if body.Refused = parts.RefusedOf(&v, client); body.Refused != nil {
		body.Refused.Changes = withScopeTexts(body.Refused.Changes)
	}
	if body.Waits {
		body.addReview(&v, sent)
	}
	if client.State == ledger.Suspended {
		body.Resume = parts.ClientAt(&v, &resumeForm, client, sent)
	}
	body.Danger = clientDanger(client, body.Transfer)
	events := v.View.HistoryOf(client.ID, historyRows)
	told := parts.Sentences(v.View, events, v.Clock(), parts.Reader{Admin: true, Links: true, On: client.ID})
	body.History, body.HistoryCard = told, historyCard("client", client.ID)
	up, actions := upFromClient(c, v.View, client)
	notice, approved := approvedNotice(c, v.View)
	if approved == nil {
		notice = clientNotice(c, client)
	}
	var (
		button *ui.NoticeButton
		more   string
	)
	if client.State == ledger.Suspended || client.State == ledger.Rejected {
		if notice == "" {
			body.Verdict = verdictOf(events, told)
		} else if more = toldOf(v.View, client); body.Resume != nil {
			button, body.Resume = &ui.NoticeButton{Form: body.Resume, Do: "Resume"}, nil
		}
	}
	return w.showAdmin(c, v, "client", ui.Page{
		Title: client.Name, Up: up, Actions: actions, Picture: parts.PictureOf(&client.Profile), Pills: parts.ClientPills(client),
		Copy:   &ui.Copy{ID: "client-id", Label: "client ID", Value: client.ClientID()},
		Notice: notice, More: more, See: approved, Button: button, Form: sent, Body: body, Rows: len(body.History), Truncate: func(n int) {
			// The page is too large: what decides about the application remains.
			body.History = told[:n]
			for _, group := range body.Scopes {
				for i := range group.List {
					group.List[i].Allows = "" // the names remain
				}
			}
			if body.Stats = nil; len(body.Others) > 0 {
				body.Others, body.OthersCard.Action = nil, allOf(client.Owner)
			}
		},
	})
}

// tierOf returns what a client asks for that controls other people, and of a proposed revision what
// is new, and what the client already may do.
func tierOf(client *ledger.Client) (tier ui.Tier, held []string) {
	asked, before := client.Scopes, scope.Set{}
	if client.Proposed != nil {
		asked, before = client.Proposed.Scopes, scope.FromClaim(strings.Join(client.Scopes, " "))
	}
	tier = parts.AsksOf(strings.Join(asked, " "), before).Tier
	if client.Legacy {
		tier.Title, tier.Texts = "Full access", []ui.TierText{{Text: "It can do everything that its users can. It was registered before there were scopes."}}
	}
	if client.Proposed != nil && !before.Empty() {
		tier.Texts, held = newPowers(client)
	}
	for i := range tier.Texts {
		tier.Texts[i].Text = forAdmins.Replace(tier.Texts[i].Text)
	}
	return tier, held
}

// addReview adds what a decision needs. The figures of an application that is in use become one
// line of it.
func (b *adminClientBody) addReview(v *site.Session, sent *site.Form) {
	b.Review = parts.ClientAt(v, &reviewForm, b.Client, sent)
	b.Chips = chipsOf(b.Client, 4)
	b.Place = placeOf(v.View.QueuePosition(ledger.QueueQuery{}, b.Client.ID))
	b.Decision = ui.Card{ID: "review", Title: "Decision"}
	if next := followingReview(v.View, b.Client.ID); next != "" {
		b.Decision.Action = &ui.Action{Title: "Skip", About: "to the next review", Path: parts.AdminClientPath(next), Small: true}
	}
	if len(b.Stats) > 0 {
		b.Use = b.Stats[0].Value + " people connected · " + b.Stats[1].Value + " authorizations in 30 days"
		b.Stats = nil
	}
	b.About = aboutOwner(v, b.Client, len(b.Others) > 0)
}

// clientDanger has what can be done to a client, or is nil. transfer is the path of the page for
// another owner; "" if there can be none.
func clientDanger(client *ledger.Client, transfer string) *ui.Danger {
	var danger ui.Danger
	if client.State == ledger.Approved {
		danger.Lines = append(danger.Lines, ui.DangerLine{
			Title: "Suspend the application", Text: "Nobody can use it until an administrator resumes it.",
			Action: &ui.Action{Title: "Suspend", Path: parts.AdminClientPath(client.ID) + "/suspend", Tone: ui.Bad},
		})
	}
	if transfer != "" {
		danger.Lines = append(danger.Lines, ui.DangerLine{
			Title: "Transfer the application", Text: "Another user becomes the owner without having to accept.", Action: &ui.Action{Title: "Transfer", Path: transfer},
		})
	}
	if len(danger.Lines) == 0 || client.State == ledger.Pending {
		return nil
	}
	return &danger
}

// upFromClient returns the link above the title of a client's page and the buttons beside it: an
// administrator who reviews goes back to the queue, and after a decision to the next review.
func upFromClient(c *site.Request, v ledger.View, client *ledger.Client) (*ui.Link, []ui.Action) {
	if client.AwaitsReview() {
		return site.Up("Reviews", site.PathAdmin), []ui.Action{{Title: "Decide", Path: "#review"}}
	}
	if word := c.Notice(); word == string(ledger.Approve) || word == string(ledger.Reject) {
		if next := followingReview(v, client.ID); next != "" {
			return site.Up("Reviews", site.PathAdmin), []ui.Action{{Title: "Next review", Path: parts.AdminClientPath(next), Primary: true}}
		}
	}
	return site.Up("All applications", parts.PathAdminClients), nil
}

// toldOf returns the reason of the last decision, and who was told; "" if none was given.
func toldOf(v ledger.View, client *ledger.Client) string {
	switch {
	case client.Reason == "":
		return ""
	case client.Document != nil:
		return "The reason: “" + client.Reason + "”"
	}
	return parts.UsernameOf(v.User(client.Owner)) + " was told: “" + client.Reason + "”"
}

// An otherLine is another application of an owner.
type otherLine struct {
	parts.Piece
	State ledger.ClientState
}

// maxOthers is the maximum number of an owner's other applications on the page of one.
const maxOthers = 5

// othersOf returns other applications of the owner, and a link to all if there are more.
func othersOf(v ledger.View, client *ledger.Client) (list []otherLine, all *ui.Action) {
	if client.Document != nil {
		return nil, nil
	}
	found, next := v.ListClients(ledger.ClientQuery{Owner: client.Owner, Limit: maxOthers + 1})
	for _, other := range found {
		if other.ID != client.ID && len(list) < maxOthers {
			list = append(list, otherLine{parts.ClientPiece(v, other.ID), other.State})
		}
	}
	if next != "" {
		all = allOf(client.Owner)
	}
	return list, all
}

func allOf(owner string) *ui.Action {
	return &ui.Action{Title: "View all", About: "applications of the owner", Path: applicationsOf(owner), Small: true}
}

// placeOf returns a place in the queue in words, or "" if it is unknown.
func placeOf(at ledger.Position) string {
	if at.First == 0 {
		return ""
	}
	of := " of " + ui.Comma(at.Total)
	if !at.Exact {
		of = " of more than " + ui.Comma(at.Total)
	}
	return ui.Comma(at.First) + of
}

// clientNotice returns the notice of what was done if it is still true: the user may have
// gone back to the address.
func clientNotice(c *site.Request, client *ledger.Client) string {
	word := c.Notice()
	if word != "transfer" && (word == "suspend") != (client.State == ledger.Suspended) {
		return ""
	}
	return parts.NoticeAbout(adminClientNotices, word, client)
}

// withScopeTexts adds the texts of scopes to differences, since a reviewer decides whether the
// application needs them. It omits those that are kept.
func withScopeTexts(list []ui.Difference) []ui.Difference {
	for i := range list {
		if list[i].Title == parts.FieldTitles["scopes"] {
			list[i].Removed, list[i].Added, list[i].Kept = scopeTexts(list[i].Removed), scopeTexts(list[i].Added), nil
			list[i].Powerful = scopeTexts(list[i].Powerful)
		}
	}
	return list
}

func scopeTexts(names []string) (words []string) {
	for _, s := range scope.Catalogue() {
		if slices.Contains(names, s.Name) {
			words = append(words, s.Name+": "+s.Allows)
		}
	}
	return words
}

// forAdmins rewords the text of a scope for administrators: it is written for the user, as in "your
// teams".
var forAdmins = strings.NewReplacer("your ", "the ", "'", "’")

// newPowers splits what controls other people into what a change adds and what is allowed already. A
// scope that a wider one covers is new too, since it is to be granted.
func newPowers(client *ledger.Client) (added []ui.TierText, held []string) {
	for _, s := range scope.Catalogue() {
		switch {
		case !s.Controls || !slices.Contains(client.Proposed.Scopes, s.Name):
		case slices.Contains(client.Scopes, s.Name):
			held = append(held, forAdmins.Replace(s.Plain))
		default:
			added = append(added, ui.TierText{Text: s.Plain})
		}
	}
	return added, held
}

// aboutOwner tells a reviewer who the owner of an application is; "" if it has none.
func aboutOwner(v *site.Session, client *ledger.Client, others bool) string {
	u := v.View.User(client.Owner)
	if u == nil || u.Deleted || client.Document != nil {
		return ""
	}
	list := []string{}
	for _, text := range []string{u.Name, u.Email} {
		if text != "" {
			list = append(list, text)
		}
	}
	list = append(list, "added "+v.Clock().Day(int64(u.Created)).Text)
	if !others {
		list = append(list, "no other applications")
	}
	return strings.Join(list, " · ")
}
