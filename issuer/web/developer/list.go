package developer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

const (
	clientsPerPage = 25
	offersPerPage  = 10
	areasShown     = 2  // of those that the scopes of an application are about
	searchFrom     = 11 // applications: a shorter list is read at a glance
)

var developerNotices = site.Notices{
	"deleted":  "The application was deleted. It gets no new tokens. Its access tokens end within 30 minutes.",
	"declined": "You declined the application. Its owner keeps it.",
}

var registerAction = ui.Action{Title: "Register an application", Path: pathNewClient, Icon: "plus", Primary: true}

type clientsBody struct {
	Clients []clientRow
	Table   ui.Table
	Offers  []offerRow
	More    string     // the page with the remaining offers; "" if there are none
	Search  *ui.Search // nil for a short list
	Empty   *ui.Empty  // instead of the list
}

// refusedPill marks an application with changes that were rejected.
var refusedPill = ui.Pill{Text: "Changes rejected", Tone: ui.Warn}

// A clientRow is one application of a list.
type clientRow struct {
	Name, Path string
	Picture    *ui.Picture
	State      string    // if that is no exception
	Pills      []ui.Pill // exceptions only
	Scopes     string    // what the first of them are about
	People     string
	Used       ui.Stamp
}

// ownClients lists the applications of the user, and those offered to the user.
func (w *Area) ownClients(c *site.Request, v site.Session) error {
	search := site.SearchOf(c, "Name or client ID")
	state := ledger.ClientState(c.R.URL.Query().Get("state"))
	if !slices.Contains(filterStates, state) {
		state = ""
	}
	sort := ledger.ClientSort(c.R.URL.Query().Get("sort"))
	search.Selects = []ui.Select{stateSelect(state), sortSelect(sort)}
	q := ledger.ClientQuery{
		Owner: v.User.ID, State: state, Search: search.Query, Sort: sort, Limit: clientsPerPage,
	}
	found, pages := site.PageBy(c, func(at string, back bool) ([]*ledger.Client, string) {
		q.After, q.Back = at, back
		return v.View.ListClients(q)
	}, parts.ClientKey)
	body := &clientsBody{}
	p := ui.Page{Title: "Applications", Notice: developerNotices.Text(c), Body: body, Rows: len(found), Actions: []ui.Action{registerAction}}
	if gone := v.View.Client(c.NoticeOf()); gone != nil && gone.Owner == v.User.ID {
		p.Notice = strings.Replace(p.Notice, "The application", gone.Name, 1)
	}
	var at ledger.Position
	switch {
	case len(found) > 0:
		at = v.View.ClientsPosition(q, found[0].ID)
	case search.Query != "" || state != "" || pages.First != "":
		body.Empty = &ui.Empty{Title: "No application was found", Text: "Try a part of the name or of the client ID, or another state."}
		if search.Query != "" && state == "" {
			body.Empty = &ui.Empty{Title: "No application matches “" + search.Query + "”", Text: "Try a part of the name or of the client ID."}
		}
	default:
		p.Actions = nil
		body.Empty = &ui.Empty{
			Title: "You have no applications yet", Actions: []ui.Action{registerAction},
			Text: "Register an application to get a client ID and connect users’ accounts. An administrator reviews it before people can allow it.",
		}
	}
	if search.Query != "" || state != "" || pages.First != "" || at.Total >= searchFrom || at.First > 0 && !at.Exact {
		if body.Search = &search; search.Query != "" || state != "" {
			search.Clear = parts.PathDeveloper
		}
	}
	pages.Count = site.CountOf(at, len(found), "application")
	body.Table = ui.Table{Caption: "Your applications", Brief: true, Pager: &pages, Columns: []ui.Column{
		{Title: "Application"},
		{Title: "State"},
		{Title: "Scopes"},
		{Title: "People", Class: "num"},
		{Title: "Last used"},
	}}
	people := w.peopleOfOwned(c.R.Context(), &v, len(found))
	for _, client := range found {
		body.Clients = append(body.Clients, clientRowOf(&v, client, people))
	}
	offered, more := v.View.OfferedTo(ledger.OfferQuery{User: v.User.ID, Limit: offersPerPage})
	for _, client := range offered {
		body.Offers = append(body.Offers, offerRowOf(&v, client))
	}
	if more != "" {
		body.More = pathOffers
	}
	p.Truncate = func(n int) {
		body.Clients, pages.Next, pages.Count = body.Clients[:n], c.PageAt("after", found[n-1].ID), site.CountOf(at, n, "application")
	}
	return w.Show(c, v, "list", p)
}

// filterStates are the states that the list can be limited to.
var filterStates = []ledger.ClientState{ledger.Approved, ledger.Pending, ledger.Rejected, ledger.Suspended}

func stateSelect(chosen ledger.ClientState) ui.Select {
	s := ui.Select{Name: "state", Label: "State", Options: []ui.Option{{Text: "Any state"}}}
	for _, state := range filterStates {
		s.Options = append(s.Options, ui.Option{Value: string(state), Text: parts.StateName(state), Chosen: state == chosen})
	}
	return s
}

func sortSelect(chosen ledger.ClientSort) ui.Select {
	return ui.Select{Name: "sort", Label: "Sort by", Options: []ui.Option{
		{Text: "Name"}, {Value: string(ledger.ClientsByCreated), Text: "Newest first", Chosen: chosen == ledger.ClientsByCreated},
	}}
}

// peopleOfOwned returns who is connected to each of the user's applications, as counted last; nil
// if nobody has counted yet, or a page has no rows.
func (w *Area) peopleOfOwned(ctx context.Context, v *site.Session, rows int) map[string]ledger.Connected {
	if rows == 0 {
		return nil
	}
	now := w.Ledger.Now()
	people, _ := w.ofOwners.Last(ctx, v.User.ID, now, func() map[string]ledger.Connected { return v.View.ConnectedTo(v.User.ID, now) })
	return people
}

func clientRowOf(v *site.Session, client *ledger.Client, people map[string]ledger.Connected) clientRow {
	connected := people[client.ID]
	row := clientRow{
		Name: client.Name, Path: parts.ClientPath(client.ID), Picture: parts.SmallPicture(&client.Profile),
		Scopes: areasOf(client.Scopes), People: "…", Used: v.At(lastUsed(client, connected)),
	}
	if people != nil {
		row.People = ui.Comma(connected.Users)
	}
	state := parts.OwnerStatePill(client.State)
	switch client.State {
	case ledger.Approved:
		row.State = state.Text
		if client.LacksSecret() {
			row.Pills = append(row.Pills, ui.Pill{Text: "No secret", Tone: ui.Warn})
		}
	default:
		row.Pills = append(row.Pills, state)
	}
	if client.Proposed != nil {
		row.Pills = append(row.Pills, parts.ChangesWaitPill)
	}
	if client.Refused != nil {
		row.Pills = append(row.Pills, refusedPill)
	}
	if client.Legacy {
		row.Pills, row.Scopes = append(row.Pills, parts.LegacyPill), "No limits"
	}
	return row
}

// areasOf returns what the first scopes of a list are about, and how many more areas there are.
func areasOf(scopes []string) string {
	var titles []string
	for _, area := range parts.GrantedAreas(scopes) {
		titles = append(titles, area.Area)
	}
	text := strings.Join(firstOf(titles, areasShown), ", ")
	if more := len(titles) - areasShown; more > 0 {
		text += fmt.Sprintf(" +%d", more)
	}
	return text
}

// lastUsed returns when an application last proved itself with a secret, exchanged a code or
// refreshed; 0 if that is not known.
func lastUsed(client *ledger.Client, connected ledger.Connected) ledger.Time {
	used := connected.Refreshed
	for i := range client.Secrets {
		used = max(used, client.Secrets[i].Used)
	}
	return used
}
