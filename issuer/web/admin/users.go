package admin

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

type adminUsersBody struct {
	Users  []userLine
	Search ui.Search
	Only   []ui.Option
	All    bool // there is no search
	Pages  ui.Pager
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
	body.All = body.Search.Query == "" && only == ""
	body.Only = choose(only,
		ui.Option{Text: "All users"}, ui.Option{Value: "administrators", Text: "Administrators"}, ui.Option{Value: "disabled", Text: "Disabled accounts"})
	found, pages := site.PageBy(c, func(at string, back bool) ([]*ledger.User, string) {
		return v.View.ListUsers(ledger.UserQuery{
			Search: body.Search.Query, Admins: only == "administrators", Disabled: only == "disabled",
			After: at, Back: back, Limit: adminRowsPerPage,
		})
	}, func(u *ledger.User) string { return u.ID })
	body.Pages = pages
	for _, u := range found {
		body.Users = append(body.Users, userLine{
			Username: u.Username, Name: u.Name, Email: u.Email, Path: parts.AdminUserPath(u.ID),
			Admin: u.Admin, Disabled: u.Disabled, Created: v.At(u.Created),
		})
	}
	return w.showAdmin(c, v, "users", ui.Page{
		Title: "Users", Actions: []ui.Action{{Title: "Add a user", Path: parts.PathAdminNewUser, Icon: "plus", Primary: true}}, Body: body, Rows: len(found),
		Truncate: func(n int) { body.Users, body.Pages.Next = body.Users[:n], c.PageAt("after", found[n-1].ID) },
	})
}
