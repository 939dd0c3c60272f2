package developer

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

const connectedPerPage = 25 // users

type usersBody struct {
	Counted bool
	Count   ledger.Connected
	Again   string    // the address for a newer count
	Stats   []ui.Stat // for administrators, who see no list
	Card    ui.Card   // of the list
	Empty   *ui.Empty // instead of rows
	Connect *ui.Empty // instead of the list, while nobody is connected

	Listed bool // the viewer may know who the users are
	Max    int  // length of an incomplete list; 0 if the list is complete
	Search ui.Search
	People []connectedPerson
	Pages  ui.Pager
}

// A connectedPerson is a user who is connected to the application.
type connectedPerson struct {
	User             string // id
	Username         string // "" if the application may not know it
	Since, Refreshed ui.Stamp
	Legacy           bool // see ledger.ConnectedUser
}

// usersPage shows the owner who is connected, and an administrator how many are. Users
// are identified by their account ID, the sub of access tokens, and by their user name
// only if they allowed the application to see their profile. Other users can't be found
// by user name either: learning that somebody uses an application would reveal who an
// account ID is.
func (w *Area) usersPage(c *site.Request, v site.Session) error {
	client, err := w.ownedOrAdmin(c, &v)
	if err != nil {
		return err
	}
	body := &usersBody{Again: parts.ClientPath(client.ID, "users"), Listed: client.Owner == v.User.ID}
	now := w.Ledger.Now()
	var counted ledger.Time
	body.Count, counted, body.Counted = w.counters.Get(c.R.Context(), client.ID, now, func() ledger.Connected {
		return v.View.Connected(client.ID, now, parts.MaxCountedUsers)
	})
	body.Stats = []ui.Stat{
		{Label: "People connected", Value: ui.Comma(body.Count.Users), Note: "Counted " + v.At(counted).Text},
		{Label: "Last code exchange or refresh", Value: v.At(body.Count.Refreshed).Text},
	}
	if body.Count.Refreshed == 0 {
		body.Stats[1].Value = "Never"
	}
	if body.Listed {
		body.Search = site.SearchOf(c, "Account ID or username")
		recent := body.Count.Recent[:min(len(body.Count.Recent), w.listed)]
		if body.Count.Users > len(recent) {
			body.Max = len(recent)
		}
		found := w.filterUsers(&v, client.ID, body.Search, recent)
		all := found
		found, body.Pages = site.PageOf(c, all, connectedPerPage, func(one ledger.ConnectedUser) string { return one.User })
		at := site.PositionIn(all, found)
		if body.Search.Query == "" {
			at.Total = body.Count.Users
		} else {
			body.Search.Clear = body.Again
		}
		body.Pages.Count = site.CountOf(at, len(found), "user")
		for _, one := range found {
			body.People = append(body.People, connectedPerson{
				User: one.User, Username: visibleUsername(v.View, one), Since: v.At(one.Since), Refreshed: v.At(one.Refreshed), Legacy: one.Legacy,
			})
		}
	}
	body.Card = ui.Card{ID: "people", Title: "Users", Side: ui.Comma(body.Count.Users) + " connected"}
	if last := v.At(body.Count.Refreshed); !last.Zero {
		body.Card.Side += " · last token " + last.Text
	}
	body.Connect = &ui.Empty{
		Title: "Nobody is connected yet", Text: "People are listed here once they allow the application.",
		Actions: []ui.Action{{Title: "See how to connect", Path: parts.ClientPath(client.ID, "connect")}},
	}
	if len(body.People) == 0 {
		body.Empty = &ui.Empty{
			Title: "Nobody matches “" + body.Search.Query + "”", Text: "Try the whole account ID or username.",
		}
	}
	p := w.pageOfClient(&v, client, "Users", "users")
	p.Body, p.Rows = body, len(body.People)
	p.Truncate = func(n int) {
		body.People, body.Pages.Count, body.Pages.Next = body.People[:n], "", c.PageAt("after", body.People[n-1].User)
	}
	return w.Show(c, v, "users", p)
}

// filterUsers returns the users of a list that match a search. A complete account ID or
// visible user name also finds a user who is not in the list.
func (w *Area) filterUsers(v *site.Session, client string, search ui.Search, list []ledger.ConnectedUser) []ledger.ConnectedUser {
	if search.Query == "" {
		return list
	}
	var found []ledger.ConnectedUser
	for _, u := range []*ledger.User{v.View.User(search.Query), v.View.UserByName(search.Query)} {
		if u == nil {
			continue
		}
		one, connected := v.View.ConnectedAs(u.ID, client, w.Ledger.Now())
		if connected && (u.ID == search.Query || one.Profile) {
			found = append(found, one)
			break
		}
	}
	for _, one := range list {
		if len(found) > 0 && found[0].User == one.User {
			continue
		}
		if name := visibleUsername(v.View, one); site.Matches(search, one.User) || name != "" && site.Matches(search, name) {
			found = append(found, one)
		}
	}
	return found
}

// visibleUsername returns a user's name if the application may know it, or "".
func visibleUsername(v ledger.View, one ledger.ConnectedUser) string {
	u := v.User(one.User)
	if u == nil || !one.Profile {
		return ""
	}
	return u.Username
}
