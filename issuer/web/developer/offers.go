package developer

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

type offersBody struct {
	Offers []offerRow
	Pages  ui.Pager
	Empty  ui.Empty
}

var noOffers = ui.Empty{
	Title: "Nothing is offered to you", Text: "When somebody wants you to take over an application, it appears here.",
	Actions: []ui.Action{{Title: "Your applications", Path: parts.PathDeveloper}},
}

// An offerRow is one offered application. Its owner is shown, since anybody can make offers.
type offerRow struct {
	Name, Path, Owner string
	At                ui.Stamp
}

// offersPage lists all applications that are offered to the user.
func (w *Area) offersPage(c *site.Request, v site.Session) error {
	found, pages := site.PageBy(c, func(at string, back bool) ([]*ledger.Client, string) {
		return v.View.OfferedTo(ledger.OfferQuery{User: v.User.ID, After: at, Back: back, Limit: clientsPerPage})
	}, parts.ClientKey)
	body := &offersBody{Pages: pages, Empty: noOffers}
	for _, client := range found {
		body.Offers = append(body.Offers, offerRowOf(&v, client))
	}
	return w.Show(c, v, "offers", ui.Page{
		Title: "Offered to you", Up: site.Up("Applications", parts.PathDeveloper), Body: body, Rows: len(found),
		Truncate: func(n int) { body.Offers, body.Pages.Next = body.Offers[:n], c.PageAt("after", found[n-1].ID) },
	})
}

func offerRowOf(v *site.Session, client *ledger.Client) offerRow {
	return offerRow{Name: client.Name, Path: offerPath(client.ID), Owner: parts.NameOf(v.View.User(client.Owner)), At: v.At(client.Offer.At)}
}
