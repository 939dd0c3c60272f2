package account

import (
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// Routes returns the pages of a user's own account.
func (w *Area) Routes() []site.Route {
	return []site.Route{
		w.PageFor(site.Users, site.PathHome, w.home),
		w.PageFor(site.Users, parts.PathApps, w.connectedApps),
		w.PageFor(site.Users, parts.PathApps+"/:id", w.connectedApp),
		w.FormFor(site.Users, &disconnectForm, w.disconnect),
		w.FormFor(site.Users, &disconnectAllForm, w.disconnectAll),
		w.PageFor(site.Users, site.PathAccount, w.profile),
		w.PageFor(site.Users, passwordForm.Page, w.passwordPage),
		w.FormFor(site.Users, &passwordForm, w.changePassword),
		w.FormFor(site.Users, &endSessionForm, w.endSession),
		w.FormFor(site.Users, &signOutEverywhereForm, w.signOutEverywhere),
	}
}

// A homeItem is an entry of the navigation with its explanation.
type homeItem struct{ Title, Path, Icon, About string }

// home shows what the user can do here: the entries of the navigation with explanations.
func (w *Area) home(c *site.Request, v site.Session) error {
	var items []homeItem
	for _, group := range w.Groups(&v) {
		for _, item := range group.Items {
			if item.About != "" {
				items = append(items, homeItem{Title: item.Title, Path: item.Path, Icon: item.Icon, About: item.About})
			}
		}
	}
	return w.Show(c, v, "home", ui.Page{Title: "Hello, " + site.PersonOf(v.User).Name, Notice: site.HomeNotices.Text(c), Body: items})
}
