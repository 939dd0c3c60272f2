package web

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

type offersBody struct {
	Offers []offerRow
	Pages  ui.Pager
}

// An offerRow is one offered application. Its owner is shown, since anybody can make offers.
type offerRow struct {
	Name, Path, Owner string
	At                ledger.Time
}

// offersPage lists all applications that are offered to the user.
func (w *Web) offersPage(c *request, v session) error {
	found, pages := pageBy(c, func(at string, back bool) ([]*ledger.Client, string) {
		return v.view.OfferedTo(ledger.OfferQuery{User: v.user.ID, After: at, Back: back, Limit: clientsPerPage})
	}, clientKey)
	body := &offersBody{Pages: pages}
	for _, client := range found {
		body.Offers = append(body.Offers, offerRow{
			Name: client.Name, Path: offerPath(client.ID), Owner: nameOf(v.view.User(client.Owner)), At: client.Offer.At,
		})
	}
	return w.show(c, v, "developer_offers", ui.Page{
		Title: "Offered to you", Up: up("Applications", pathDeveloper), Body: body, Rows: len(found),
		Truncate: func(n int) { body.Offers, body.Pages.Next = body.Offers[:n], c.pageAt("after", found[n-1].ID) },
	})
}
