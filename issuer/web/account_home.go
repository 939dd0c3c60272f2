package web

// accountRoutes returns the pages of a user's own account.
func (w *Web) accountRoutes() []route {
	account := w.pageFor(users, pathAccount, w.profile).
		inMenu("Your account", "Your profile, your password, and where you are signed in.")
	account.menu.account = true
	return []route{
		w.pageFor(users, pathHome, w.home).inMenu("Home", ""),
		w.pageFor(users, pathApps, w.connectedApps).
			inMenu("Connected apps", "The applications that can use your account: what each of them may do, when it was last used, and how to disconnect it."),
		w.pageFor(users, pathApps+"/:id", w.connectedApp),
		w.formFor(users, &disconnectForm, w.disconnect),
		w.formFor(users, &disconnectAllForm, w.disconnectAll),
		account,
		w.pageFor(users, passwordForm.page, w.passwordPage),
		w.formFor(users, &passwordForm, w.changePassword),
		w.formFor(users, &endSessionForm, w.endSession),
		w.formFor(users, &signOutEverywhereForm, w.signOutEverywhere),
	}
}

var homeNotices = notices{
	"waits": "You are signed in. Go back to the other tab to go on to the application.",
}

type homeBody struct {
	Person person
	Menu   []menuItem
}

// home shows what the user can do here: the entries of the navigation with explanations.
func (w *Web) home(c *request, v session) error {
	body := homeBody{Person: personOf(v.user)}
	for _, item := range w.menu(c, &v) {
		if item.About != "" {
			body.Menu = append(body.Menu, item)
		}
	}
	return w.show(c, v, "account_home", page{Title: "Home", Notice: homeNotices.text(c), Body: body})
}
