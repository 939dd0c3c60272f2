package web

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const connectedPerPage = 25 // people, on one page

type usersBody struct {
	Counted bool
	Count   ledger.Connected
	At      ledger.Time // when it was counted
	Again   string      // the address to look again at

	Listed bool // for who may know who they are
	Max    int  // that a list has; 0 where it has all
	Search search
	People []connectedPerson
	Pages  pager
}

// A connectedPerson is somebody who is connected to the application.
type connectedPerson struct {
	ledger.ConnectedUser
	Username string // "" where the application may not know it
}

// usersPage says who is connected to its owner, and how many are to an
// administrator. People are named by their account ID, which access tokens have as
// sub; by their user name only where they allowed the application to see their
// profile. Nobody else is found by a user name either: to know that somebody uses
// an application would tell who an account ID is.
func (w *Web) usersPage(c *request, v session) error {
	client, trail, err := w.ownedOrAdmin(c, &v)
	if err != nil {
		return err
	}
	body := &usersBody{Again: clientPath(client.ID, "users"), Listed: client.Owner == v.user.ID}
	body.Count, body.At, body.Counted = w.counters.get(c.r.Context(), client.ID, v.view, w.config.Ledger.Now())
	if body.Listed {
		body.Search = searchOf(c, "Account ID or user name")
		if body.Count.Users > len(body.Count.Recent) {
			body.Max = len(body.Count.Recent)
		}
		found := w.filterUsers(&v, client.ID, body.Search, body.Count.Recent)
		found, body.Pages = pageOf(c, found, connectedPerPage, func(one ledger.ConnectedUser) string { return one.User })
		for _, one := range found {
			body.People = append(body.People, connectedPerson{one, visibleUsername(v.view, one)})
		}
	}
	return w.show(c, v, "developer_users", page{
		Title: "Who uses it", Trail: trail, Body: body, Rows: len(body.People),
		Truncate: func(n int) { body.People, body.Pages.Next = body.People[:n], c.pageAt("after", body.People[n-1].User) },
	})
}

// filterUsers are those of a list whom a search finds. Who is named whole is found
// where the list does not have them, too.
func (w *Web) filterUsers(v *session, client string, search search, list []ledger.ConnectedUser) []ledger.ConnectedUser {
	if search.Query == "" {
		return list
	}
	var found []ledger.ConnectedUser
	for _, u := range []*ledger.User{v.view.User(search.Query), v.view.UserByName(search.Query)} {
		if u == nil {
			continue
		}
		one, connected := v.view.ConnectedAs(u.ID, client, w.config.Ledger.Now())
		if connected && (u.ID == search.Query || one.Profile) {
			found = append(found, one)
			break
		}
	}
	for _, one := range list {
		if len(found) > 0 && found[0].User == one.User {
			continue
		}
		if name := visibleUsername(v.view, one); search.matches(one.User) || name != "" && search.matches(name) {
			found = append(found, one)
		}
	}
	return found
}

// visibleUsername is what the application may know of a user's name: "" where it may
// not.
func visibleUsername(v ledger.View, one ledger.ConnectedUser) string {
	u := v.User(one.User)
	if u == nil || !one.Profile {
		return ""
	}
	return u.Username
}
