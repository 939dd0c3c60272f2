package web

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const connectedShow = 25 // people, those refreshed last

type usersBody struct {
	Counted bool
	Count   ledger.Connected
	At      ledger.Time // when it was counted
	Again   string      // the address to look again at
}

// usersPage says who is connected. People are named by their account ID, which
// access tokens have as sub: a name is told only to an application that they
// allowed to see their profile.
func (w *Web) usersPage(c *call, v visit, client *ledger.Client) error {
	body := usersBody{Again: clientPath(client.ID, "users")}
	body.Count, body.At, body.Counted = w.counts.of(c.r.Context(), client.ID, v.view, w.config.Ledger.Now())
	return w.show(c, v, "developer_users", page{Title: "Who uses it", Trail: trailOf(client), Body: body})
}
