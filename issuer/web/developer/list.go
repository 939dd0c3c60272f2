package developer

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

const (
	clientsPerPage = 25
	offersPerPage  = 10
)

var developerNotices = site.Notices{
	"deleted":  "The application was deleted. It can get no new access; access tokens that it has may keep working for up to 30 minutes.",
	"declined": "You declined the application. Its owner keeps it.",
}

type clientsBody struct {
	Clients []clientRow
	Offers  []clientRow
	More    string // the page with the remaining offers; "" if there are none
	Search  ui.Search
	Pages   ui.Pager
	Any     bool // the user has any applications
}

// A clientRow is one application of a list.
type clientRow struct {
	Name     string
	Path     string
	ID       string
	State    ledger.ClientState
	Proposed bool
	Refused  bool // there is a refused revision
	Legacy   bool
	Created  ui.Stamp
	Picture  *ui.Picture
}

func clientRowOf(v *site.Session, client *ledger.Client, path string) clientRow {
	return clientRow{
		Name: client.Name, Path: path, ID: client.ID, State: client.State, Proposed: client.Proposed != nil, Refused: client.Refused != nil,
		Legacy: client.Legacy, Created: v.At(client.Created), Picture: parts.SmallPicture(&client.Profile),
	}
}

// ownClients lists the applications of the user, and those offered to the user.
func (w *Area) ownClients(c *site.Request, v site.Session) error {
	body := &clientsBody{Search: site.SearchOf(c, "Name or client ID")}
	found, pages := site.PageBy(c, func(at string, back bool) ([]*ledger.Client, string) {
		return v.View.ListClients(ledger.ClientQuery{
			Owner: v.User.ID, Search: body.Search.Query, After: at, Back: back, Limit: clientsPerPage,
		})
	}, parts.ClientKey)
	body.Pages = pages
	for _, client := range found {
		body.Clients = append(body.Clients, clientRowOf(&v, client, parts.ClientPath(client.ID)))
	}
	body.Any = len(found) > 0 || body.Search.Query != "" || pages.First != ""
	offered, more := v.View.OfferedTo(ledger.OfferQuery{User: v.User.ID, Limit: offersPerPage})
	for _, client := range offered {
		body.Offers = append(body.Offers, clientRowOf(&v, client, offerPath(client.ID)))
	}
	if more != "" {
		body.More = pathOffers
	}
	return w.Show(c, v, "list", ui.Page{
		Title: "Applications", Notice: developerNotices.Text(c), Body: body, Rows: len(found),
		Actions:  []ui.Action{{Title: "Register an application", Path: pathNewClient, Icon: "plus", Primary: true}},
		Truncate: func(n int) { body.Clients, body.Pages.Next = body.Clients[:n], c.PageAt("after", found[n-1].ID) },
	})
}
