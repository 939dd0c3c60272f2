package web

import (
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// A menuGroup is a titled part of the navigation.
type menuGroup struct {
	id, title string
	who       audience
	items     []menuItem
}

// A menuItem is an entry of the navigation, and of the home page if it has an about.
type menuItem struct {
	title, path, icon, about string
	adds                     string                  // the path of the page that adds an entry; "" if it is below path
	alone                    bool                    // the pages below path have entries of their own
	waits                    func(v ledger.View) int // what waits there for an administrator; nil for nothing
}

var navigation = []menuGroup{
	{"account", "Account", users, []menuItem{
		{title: "Connected apps", path: pathApps, icon: "link", about: "See which applications can use your account and what each can do. Disconnect those you don’t use."},
		{title: "Profile & security", path: pathAccount, icon: "shield", about: "Your profile, your password, and the browsers in which you are signed in."},
	}},
	{"build", "Build", users, []menuItem{
		{title: "Applications", path: pathDeveloper, icon: "app", about: "Register an application to get a client ID and connect users’ accounts."},
	}},
	{"administer", "Administer", administrators, []menuItem{
		{title: "Reviews", path: pathAdmin, icon: "check", alone: true, waits: countWaiting, about: "Approve or reject new applications and changes to existing ones."},
		{title: "Applications", path: pathAdminClients, icon: "app"},
		{title: "Users", path: pathAdminUsers, icon: "users", adds: pathAdminNewUser, about: "Add users, edit their profiles, and disable accounts."},
		{title: "Resource servers", path: pathAdminResources, icon: "key", adds: pathAdminNewResource},
		{title: "Publishers", path: pathAdminPublishers, icon: "external", adds: pathAdminNewPublisher},
		{title: "Audit log", path: pathAdminAudit, icon: "log", about: "What happened, who did it, and when."},
	}},
}

// maxWaiting is the largest number that the navigation shows.
const maxWaiting = 99

// countWaiting returns how many clients and publishers wait for a review, or maxWaiting+1
// for more.
func countWaiting(v ledger.View) int {
	waiting, _ := v.ReviewQueue(ledger.QueueQuery{Limit: maxWaiting + 1})
	n := len(waiting)
	if n <= maxWaiting && v.Settings().AcceptsAgents() {
		n += len(publishersOf(v, string(ledger.PublisherPending), ""))
	}
	return n
}

// shell returns the navigation around the page of a request.
func (w *Web) shell(c *request, v *session) *ui.Shell {
	s := &ui.Shell{
		Person: personOf(v.user).Name, Account: pathAccount,
		SignOut: signOutForm.action, SignOutToken: formToken(v.id, forSignOut, "", ""),
		DraftKey: formToken(v.id, forDrafts, v.user.ID, ""),
	}
	for _, group := range w.groups(v) {
		shown := ui.NavGroup{ID: group.id, Title: group.title}
		for _, item := range group.items {
			one := ui.NavItem{Title: item.title, Path: item.path, Icon: item.icon, Here: c.route == item.path}
			one.Below = !one.Here && (c.route == item.adds || !item.alone && strings.HasPrefix(c.route, item.path+"/"))
			if item.waits != nil {
				one.Count = ui.NewCount(item.waits(v.view), "waiting for review")
			}
			shown.Items = append(shown.Items, one)
		}
		s.Groups = append(s.Groups, shown)
	}
	return s
}

// groups returns the part of the navigation that a user may see.
func (w *Web) groups(v *session) []menuGroup {
	var list []menuGroup
	for _, group := range navigation {
		if group.who == administrators && !v.user.Admin {
			continue
		}
		items := group.items
		group.items = nil
		for _, item := range items {
			if !agentPath(item.path) || v.view.Settings().AcceptsAgents() {
				group.items = append(group.items, item)
			}
		}
		list = append(list, group)
	}
	return list
}
