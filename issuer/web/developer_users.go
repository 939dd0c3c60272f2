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

// usersPage says who is connected to its owner, and how many are to an
// administrator. People are named by their account ID, which
// access tokens have as sub: a name is told only to an application that they
// allowed to see their profile.
func (w *Web) usersPage(c *call, v visit) error {
	client, trail, err := w.watched(c, &v)
	if err != nil {
		return err
	}
	body := usersBody{Again: clientPath(client.ID, "users")}
	body.Count, body.At, body.Counted = w.counts.of(c.r.Context(), client.ID, v.view, w.config.Ledger.Now())
	if client.Owner != v.user.ID {
		body.Count.Recent = nil
	}
	return w.show(c, v, "developer_users", page{Title: "Who uses it", Trail: trail, Body: body})
}
