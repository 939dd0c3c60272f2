package developer

import (
	"context"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

const (
	clientsPerPage = 25
	offersPerPage  = 10
	chipsShown     = 2  // of the scopes of an application in the list
	searchFrom     = 11 // applications: a shorter list is read at a glance
)

var developerNotices = site.Notices{
	"deleted":  "The application was deleted. It can get no new access; access tokens that it has may keep working for up to 30 minutes.",
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

// A clientRow is one application of a list.
type clientRow struct {
	Name, Path    string
	Picture       *ui.Picture
	Pills, Scopes []ui.Pill // pills are exceptions only
	People        string
	Used, Created ui.Stamp
}

// ownClients lists the applications of the user, and those offered to the user.
func (w *Area) ownClients(c *site.Request, v site.Session) error {
	search := site.SearchOf(c, "Name or client ID")
	q := ledger.ClientQuery{
		Owner: v.User.ID, Search: search.Query, Sort: ledger.ClientSort(c.R.URL.Query().Get("sort")), Limit: clientsPerPage,
	}
	found, pages := site.PageBy(c, func(at string, back bool) ([]*ledger.Client, string) {
		q.After, q.Back = at, back
		return v.View.ListClients(q)
	}, parts.ClientKey)
	body := &clientsBody{}
	p := ui.Page{Title: "Applications", Notice: developerNotices.Text(c), Body: body, Rows: len(found), Actions: []ui.Action{registerAction}}
	var at ledger.Position
	switch {
	case len(found) > 0:
		at = v.View.ClientsPosition(q, found[0].ID)
	case search.Query != "" || pages.First != "":
		body.Empty = &ui.Empty{Title: "No application was found", Text: "Try a part of the name, or of the client ID."}
	default:
		p.Actions = nil
		body.Empty = &ui.Empty{
			Title: "You have no applications yet", Actions: []ui.Action{registerAction},
			Text: "Register an application to get a client ID and connect users’ accounts. An administrator reviews it before people can allow it.",
		}
	}
	if search.Query != "" || pages.First != "" || at.Total >= searchFrom || at.First > 0 && !at.Exact {
		if body.Search = &search; search.Query != "" {
			search.Clear = parts.PathDeveloper
		}
	}
	pages.Count = site.CountOf(at, len(found))
	body.Table = ui.Table{Caption: "Your applications", Pager: &pages, Columns: []ui.Column{
		site.SortColumn(c, "Application", string(ledger.ClientsByName), "ascending", at),
		{Title: "Scopes"},
		{Title: "People", Class: "num"},
		{Title: "Last used"},
		site.SortColumn(c, "Registered", string(ledger.ClientsByCreated), "descending", at),
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
		body.Clients, pages.Next, pages.Count = body.Clients[:n], c.PageAt("after", found[n-1].ID), site.CountOf(at, n)
	}
	return w.Show(c, v, "list", p)
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
	words, _ := parts.ScopeWords(client.Scopes)
	connected := people[client.ID]
	row := clientRow{
		Name: client.Name, Path: parts.ClientPath(client.ID), Picture: parts.SmallPicture(&client.Profile),
		Scopes: ui.FewChips(words, chipsShown), People: "…", Used: v.At(lastUsed(client, connected)), Created: v.At(client.Created),
	}
	if people != nil {
		row.People = ui.Comma(connected.Users)
	}
	if client.State != ledger.Approved {
		row.Pills = append(row.Pills, parts.StatePill(client.State))
	}
	if client.Proposed != nil {
		row.Pills = append(row.Pills, parts.ChangesWaitPill)
	}
	if client.Refused != nil {
		row.Pills = append(row.Pills, ui.Pill{Text: "Changes refused", Tone: ui.Warn})
	}
	if client.Legacy {
		row.Pills, row.Scopes = append(row.Pills, parts.LegacyPill), []ui.Pill{{Text: "No limits"}}
	}
	return row
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
