package web

import "github.com/mintmark-auth/mintmark/issuer/web/ui"

// accountRoutes returns the pages of a user's own account.
func (w *Web) accountRoutes() []route {
	return []route{
		w.pageFor(users, pathHome, w.home),
		w.pageFor(users, pathApps, w.connectedApps),
		w.pageFor(users, pathApps+"/:id", w.connectedApp),
		w.formFor(users, &disconnectForm, w.disconnect),
		w.formFor(users, &disconnectAllForm, w.disconnectAll),
		w.pageFor(users, pathAccount, w.profile),
		w.pageFor(users, passwordForm.page, w.passwordPage),
		w.formFor(users, &passwordForm, w.changePassword),
		w.formFor(users, &endSessionForm, w.endSession),
		w.formFor(users, &signOutEverywhereForm, w.signOutEverywhere),
	}
}

var homeNotices = notices{
	"waits": "You are signed in. Go back to the other tab to go on to the application.",
}

// A homeItem is an entry of the navigation with its explanation.
type homeItem struct{ Title, Path, Icon, About string }

// home shows what the user can do here: the entries of the navigation with explanations.
func (w *Web) home(c *request, v session) error {
	var items []homeItem
	for _, group := range w.groups(&v) {
		for _, item := range group.items {
			if item.about != "" {
				items = append(items, homeItem{Title: item.title, Path: item.path, Icon: item.icon, About: item.about})
			}
		}
	}
	return w.show(c, v, "account_home", ui.Page{Title: "Hello, " + personOf(v.user).Name, Notice: homeNotices.text(c), Body: items})
}
