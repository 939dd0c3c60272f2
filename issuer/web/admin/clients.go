package admin

import (
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
	All     bool // there is no search
	Letters []ui.Link
	Table   ui.Table
}

// A clientLine is one application of the list.
type clientLine struct {
	Name, ID, Path  string
	State           ledger.ClientState
	Awaits, Legacy  bool
	Owner           parts.Piece
	Created, Change ui.Stamp
}

// adminClients lists the applications by name, deleted ones only if they are requested.
func (w *Area) adminClients(c *site.Request, v site.Session) error {
	query := c.R.URL.Query()
	state, owner := query.Get("state"), query.Get("owner")
	body := &adminClientsBody{Search: site.SearchOf(c, "Name or client ID"), Owner: parts.UserPiece(v.View, owner), OwnerID: owner}
	body.All = body.Search.Query == "" && state == "" && owner == ""
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
	pages.Count = site.CountOf(at, len(found))
	body.Letters = lettersOf(c, pages.First != "" || pages.Next != "", func() string { return v.View.ClientInitials(q) })
	body.Table = ui.Table{Caption: "Applications", Pager: &pages, Columns: []ui.Column{
		site.SortColumn(c, "Application", string(ledger.ClientsByName), "ascending", at),
		site.SortColumn(c, "Owner", string(ledger.ClientsByOwner), "ascending", at),
		site.SortColumn(c, "Registered", string(ledger.ClientsByCreated), "descending", at),
		site.SortColumn(c, "Changed", string(ledger.ClientsByChanged), "descending", at),
	}}
	for _, client := range found {
		body.Clients = append(body.Clients, clientLine{
			Name: client.Name, ID: client.ID, Path: parts.AdminClientPath(client.ID),
			State: client.State, Awaits: client.Proposed != nil && client.AwaitsReview(), Legacy: client.Legacy,
			Owner: linkOwner(v.View, client), Created: v.At(client.Created), Change: v.At(client.Changed),
		})
	}
	return w.showAdmin(c, v, "clients", ui.Page{
		Title: "Applications", Body: body, Rows: len(found),
		Truncate: func(n int) {
			body.Clients, pages.Next, pages.Count = body.Clients[:n], c.PageAt("after", found[n-1].ID), site.CountOf(at, n)
		},
	})
}
