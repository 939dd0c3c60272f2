package admin

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

type adminUsersBody struct {
	Users   []userLine
	Search  ui.Search
	Only    []ui.Option
	Empty   ui.Empty // instead of the list
	Letters []ui.Link
	Table   ui.Table
}

// A userLine is one user of the list.
type userLine struct {
	Username, Name, Email, Path string
	Admin, Disabled             bool
	Created                     ui.Stamp
}

// adminUsers lists the users by user name.
func (w *Area) adminUsers(c *site.Request, v site.Session) error {
	only := c.R.URL.Query().Get("only")
	body := &adminUsersBody{Search: site.SearchOf(c, "Username, name or email address")}
	if body.Search.Query != "" || only != "" {
		body.Search.Clear = parts.PathAdminUsers
	}
	body.Empty = ui.Empty{Title: "No user matches", Text: "Try another role or state, or all of them."}
	if body.Search.Query != "" {
		body.Empty = ui.Empty{
			Title: "No user matches “" + body.Search.Query + "”", Text: "Try a part of the username, name or email address.",
			Actions: []ui.Action{{Title: "Add a user", Path: parts.PathAdminNewUser}},
		}
	}
	body.Only = choose(only,
		ui.Option{Text: "All users"}, ui.Option{Value: "administrators", Text: "Administrators"}, ui.Option{Value: "disabled", Text: "Disabled accounts"})
	q := ledger.UserQuery{
		Search: body.Search.Query, Admins: only == "administrators", Disabled: only == "disabled",
		Sort: ledger.UserSort(c.R.URL.Query().Get("sort")), From: jumpOf(c), Limit: adminRowsPerPage,
	}
	found, pages := site.PageBy(c, func(at string, back bool) ([]*ledger.User, string) {
		q.After, q.Back = at, back
		return v.View.ListUsers(q)
	}, func(u *ledger.User) string { return u.ID })
	var at ledger.Position
	if len(found) > 0 {
		at = v.View.UsersPosition(q, found[0].ID)
	}
	pages.Count = site.CountOf(at, len(found), "user")
	body.Letters = lettersOf(c, pages.First != "" || pages.Next != "", func() string { return v.View.UserInitials(q) })
	if len(found) == 0 && pages.Next != "" {
		body.Empty.Title = "No user was found so far"
	}
	body.Table = ui.Table{Caption: "Users", Brief: true, Pager: &pages, Columns: []ui.Column{
		site.SortColumn(c, "Username", string(ledger.UsersByUsername), "ascending", at),
		{Title: "Name"},
		{Title: "Email address"},
		site.SortColumn(c, "Added", string(ledger.UsersByCreated), "descending", at),
	}}
	for _, u := range found {
		body.Users = append(body.Users, userLine{
			Username: u.Username, Name: u.Name, Email: u.Email, Path: parts.AdminUserPath(u.ID),
			Admin: u.Admin, Disabled: u.Disabled, Created: v.At(u.Created),
		})
	}
	return w.showAdmin(c, v, "users", ui.Page{
		Title: "Users", Actions: []ui.Action{{Title: "Add a user", Path: parts.PathAdminNewUser, Icon: "plus", Primary: true}}, Body: body, Rows: len(found),
		Truncate: func(n int) {
			body.Users, pages.Next, pages.Count = body.Users[:n], c.PageAt("after", found[n-1].ID), site.CountOf(at, n, "user")
		},
	})
}
