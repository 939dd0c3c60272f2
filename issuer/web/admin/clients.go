package admin

import (
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

type adminClientsBody struct {
	Clients []clientLine
	Search  ui.Search
	States  []ui.Option
	Owner   parts.Piece // whose applications are listed; empty for all
	OwnerID string
	Empty   ui.Empty // instead of the list
	Letters []ui.Link
	Table   ui.Table
}

// A clientLine is one application of the list.
type clientLine struct {
	Name, Path     string
	Picture        *ui.Picture
	State          ledger.ClientState
	Agent          bool // it has a metadata document
	Awaits, Legacy bool
	Owner          parts.Piece
	Allowed        string // how often in 30 days
	Change         ui.Stamp
}

// adminClients lists the applications by name, deleted ones only if they are requested.
func (w *Area) adminClients(c *site.Request, v site.Session) error {
	query := c.R.URL.Query()
	state, owner := query.Get("state"), query.Get("owner")
	body := &adminClientsBody{Search: site.SearchOf(c, "Name, client ID or owner"), Owner: parts.UserPiece(v.View, owner), OwnerID: owner}
	if state == string(ledger.Pending) && owner == "" { // Reviews has them, the longest waiting first
		return c.Redirect(site.PathAdmin + "?" + url.Values{"q": {body.Search.Query}}.Encode())
	}
	body.Empty = ui.Empty{Title: "There are no applications yet", Text: "They appear here when users register them."}
	if body.Search.Query != "" || state != "" || owner != "" {
		body.Search.Clear = parts.PathAdminClients
		body.Empty = ui.Empty{Title: "No application matches", Text: "Try another state, or all of them."}
	}
	if body.Search.Query != "" {
		body.Empty = ui.Empty{Title: "No application matches “" + body.Search.Query + "”", Text: "Try a part of the name, the owner’s username, or the whole client ID."}
	}
	body.States = []ui.Option{{Text: "Any state"}}
	for _, s := range []ledger.ClientState{ledger.Pending, ledger.Approved, ledger.Rejected, ledger.Suspended, ledger.Deleted} {
		body.States = append(body.States, ui.Option{Value: string(s), Text: parts.StateName(s)})
	}
	choose(state, body.States...)
	q := ledger.ClientQuery{
		Owner: owner, State: ledger.ClientState(state), Search: body.Search.Query, Sort: ledger.ClientSort(query.Get("sort")), From: jumpOf(c), Limit: adminRowsPerPage,
	}
	found, pages := site.PageBy(c, func(at string, back bool) ([]*ledger.Client, string) {
		q.After, q.Back = at, back
		return v.View.ListClients(q)
	}, parts.ClientKey)
	var at ledger.Position
	if len(found) > 0 {
		at = v.View.ClientsPosition(q, found[0].ID)
	}
	pages.Count = site.CountOf(at, len(found), "application")
	body.Letters = lettersOf(c, pages.First != "" || pages.Next != "", func() string { return v.View.ClientInitials(q) })
	if len(found) == 0 && pages.Next != "" {
		body.Empty.Title = "No application was found so far"
	}
	body.Table = ui.Table{Caption: "Applications", Brief: true, Pager: &pages, Columns: []ui.Column{
		site.SortColumn(c, "Application", string(ledger.ClientsByName), "ascending", at),
		site.SortColumn(c, "Owner", string(ledger.ClientsByOwner), "ascending", at),
		{Title: "State"},
		{Title: "Allowed, 30 days", Class: "num"},
		site.SortColumn(c, "Changed", string(ledger.ClientsByChanged), "descending", at),
	}}
	for _, client := range found {
		body.Clients = append(body.Clients, clientLine{
			Name: client.Name, Path: parts.AdminClientPath(client.ID), Picture: parts.SmallPicture(&client.Profile),
			State: client.State, Agent: client.Document != nil, Awaits: client.Proposed != nil && client.AwaitsReview(), Legacy: client.Legacy,
			Owner: linkOwner(v.View, client), Allowed: allowsOf(v.View.Usage(client.ID), w.Ledger.Now()), Change: v.At(client.Changed),
		})
	}
	return w.showAdmin(c, v, "clients", ui.Page{
		Title: "All applications", Body: body, Rows: len(found),
		Truncate: func(n int) {
			body.Clients, pages.Next, pages.Count = body.Clients[:n], c.PageAt("after", found[n-1].ID), site.CountOf(at, n, "application")
		},
	})
}

// allowsOf returns how often people allowed an application in the last 30 days.
func allowsOf(u *ledger.Usage, now ledger.Time) string {
	var sum uint64
	for _, d := range u.LastDays(now) {
		sum += uint64(d.Allows)
	}
	return ui.Thousands(sum)
}
