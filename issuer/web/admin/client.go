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
	Tier         ui.Tier     // what it asks for that controls other people
	Others       []otherLine // further applications of the owner
	AllOthers    string      // the page with all of them
	Stats        []ui.Stat
	Since        ui.Stamp        // when it began to wait for a review
	Changes      []ui.Difference // by the proposed revision
	NameWarnings []nameWarnings
	Refused      *parts.RefusedChanges

	Review *site.Form // nil if there is nothing to review
	Resume *site.Form
	Danger *ui.Danger // nil if it can't be suspended or transferred

	Settings string // its page in the developer settings
	Transfer string // the page that transfers it; "" if it has a document, which nobody can transfer

	History []parts.Told
	Older   string // the page with the rest of the history
}

var adminClientNotices = site.Notices{
	"approve":                           "Approved. The application can be used now.",
	"reject":                            "Rejected. The owner sees the reason.",
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
		Website: parts.HostOf(client.Website), Privacy: parts.HostOf(client.PrivacyURL), Terms: parts.HostOf(client.TermsURL), Scopes: parts.ScopeGroups(client.Scopes, true),
		Waits: client.AwaitsReview(), Since: v.At(client.WaitingSince()), NameWarnings: nameWarningsOf(v.View, client),
	}
	if client.State != ledger.Deleted {
		body.Settings = parts.ClientPath(client.ID)
		asked, before := client.Scopes, scope.Set{}
		if client.Proposed != nil {
			asked, before = client.Proposed.Scopes, scope.FromClaim(strings.Join(client.Scopes, " "))
		}
		body.Tier = parts.AsksOf(strings.Join(asked, " "), before).Tier
		body.Others, body.AllOthers = othersOf(v.View, client)
	}
	if client.State == ledger.Approved || client.State == ledger.Suspended {
		now := w.Ledger.Now()
		people, counted := parts.PeopleOf(c.R.Context(), w.people, v.View, client.ID, now)
		body.Stats = parts.Figures(v.View.Usage(client.ID), people, counted, now)
	}
	if client.State != ledger.Deleted && client.Document == nil {
		body.Transfer = parts.AdminClientPath(client.ID) + "/transfer"
		body.OwnerProblem = ownerProblem(v.View.User(client.Owner))
	}
	if client.Proposed != nil {
		body.Changes = withScopeTexts(parts.Differences(&client.Profile, client.Proposed))
		kept := slices.DeleteFunc(slices.Clone(client.Scopes), func(s string) bool { return !slices.Contains(client.Proposed.Scopes, s) })
		body.Scopes, body.Unchanged = parts.ScopeGroups(kept, true), len(kept)
	}
	if body.Refused = parts.RefusedOf(&v, client); body.Refused != nil {
		body.Refused.Changes = withScopeTexts(body.Refused.Changes)
	}
	if body.Waits {
		body.Review = parts.ClientAt(&v, &reviewForm, client, sent)
		body.Chips = chipsOf(client)
		body.Place = placeOf(v.View.QueuePosition(ledger.QueueQuery{}, client.ID))
	}
	var danger ui.Danger
	switch client.State {
	case ledger.Approved:
		danger.Lines = append(danger.Lines, ui.DangerLine{
			Title: "Suspend the application", Text: "Nobody can use it until an administrator resumes it.", Confirm: suspendConfirm(&v, client, sent),
		})
	case ledger.Suspended:
		body.Resume = parts.ClientAt(&v, &resumeForm, client, sent)
	}
	if body.Transfer != "" {
		danger.Lines = append(danger.Lines, ui.DangerLine{
			Title: "Transfer the application", Text: "Another user becomes the owner without having to accept.", Action: &ui.Action{Title: "Transfer", Path: body.Transfer},
		})
	}
	if len(danger.Lines) > 0 {
		body.Danger = &danger
	}
	events := v.View.HistoryOf(client.ID, historyRows+1)
	tell := func(n int) {
		body.History = parts.Sentences(v.View, events[:n], v.Clock(), parts.Reader{Admin: true, Links: true, On: client.ID})
		if len(events) > n {
			body.Older = parts.PathAdminAudit + "?" + url.Values{"client": {client.ID}}.Encode()
		}
	}
	tell(min(len(events), historyRows))
	owners := parts.PathAdminClients + "?" + url.Values{"owner": {client.Owner}}.Encode()
	up := site.Up("Applications", parts.PathAdminClients)
	if body.Waits {
		up = site.Up("Reviews", site.PathAdmin)
	}
	var actions []ui.Action
	if word := c.Notice(); word == string(ledger.Approve) || word == string(ledger.Reject) {
		if next := followingReview(v.View, client.ID); next != "" && !body.Waits {
			actions = []ui.Action{{Title: "Next review", Path: parts.AdminClientPath(next), Primary: true}}
		}
	}
	return w.showAdmin(c, v, "client", ui.Page{
		Title: client.Name, Up: up, Actions: actions, Picture: parts.PictureOf(&client.Profile), Pills: parts.ClientPills(client),
		Copy:   &ui.Copy{ID: "client-id", Label: "client ID", Value: client.ClientID()},
		Notice: clientNotice(c, v.View, client), Form: sent, Body: body, Rows: len(body.History), Truncate: func(n int) {
			// The page is too large: what decides about the application remains.
			tell(n)
			for _, group := range body.Scopes {
				for i := range group.List {
					group.List[i].Allows = "" // the names remain
				}
			}
			if body.Stats = nil; len(body.Others) > 0 {
				body.Others, body.AllOthers = nil, owners
			}
		},
	})
}

// An otherLine is another application of an owner.
type otherLine struct {
	parts.Piece
	State ledger.ClientState
}

// maxOthers is the maximum number of an owner's other applications on the page of one.
const maxOthers = 5

// othersOf returns other applications of the owner, and the page with all if there are more.
func othersOf(v ledger.View, client *ledger.Client) (list []otherLine, all string) {
	if client.Document != nil {
		return nil, ""
	}
	found, next := v.ListClients(ledger.ClientQuery{Owner: client.Owner, Limit: maxOthers + 1})
	for _, other := range found {
		if other.ID != client.ID && len(list) < maxOthers {
			list = append(list, otherLine{parts.ClientPiece(v, other.ID), other.State})
		}
	}
	if next != "" {
		all = parts.PathAdminClients + "?" + url.Values{"owner": {client.Owner}}.Encode()
	}
	return list, all
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
func clientNotice(c *site.Request, v ledger.View, client *ledger.Client) string {
	word := c.Notice()
	if other := v.Client(c.NoticeOf()); other != nil {
		return "Approved " + other.Name + "."
	}
	if word != "transfer" && (word == "suspend") != (client.State == ledger.Suspended) {
		return ""
	}
	if word == string(ledger.Reject) && client.Document != nil {
		return "Rejected."
	}
	return parts.NoticeAbout(adminClientNotices, word, client)
}

// withScopeTexts adds the texts of scopes to differences, since a reviewer decides whether the
// application needs them. It omits those that are kept.
func withScopeTexts(list []ui.Difference) []ui.Difference {
	for i := range list {
		if list[i].Title == parts.FieldTitles["scopes"] {
			list[i].Removed, list[i].Added, list[i].Kept = scopeTexts(list[i].Removed), scopeTexts(list[i].Added), nil
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
