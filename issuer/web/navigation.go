package web

import (
	"github.com/mintmark-auth/mintmark/issuer/web/admin"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

var navigation = []site.MenuGroup{
	{ID: "account", Title: "Account", Who: site.Users, Items: []site.MenuItem{
		{Title: "Connected apps", Path: parts.PathApps, Icon: "link", About: "See which applications can use your account and what each can do. Disconnect those you don’t use."},
		{Title: "Profile & security", Path: site.PathAccount, Icon: "shield", About: "Your profile, your password, and the browsers in which you are signed in."},
	}},
	{ID: "build", Title: "Build", Who: site.Users, Items: []site.MenuItem{
		{Title: "Applications", Path: parts.PathDeveloper, Icon: "app", About: "Register an application to get a client ID and connect users’ accounts."},
	}},
	{ID: "administer", Title: "Administer", Who: site.Administrators, Items: []site.MenuItem{
		{Title: "Reviews", Path: site.PathAdmin, Icon: "check", Alone: true, Waits: admin.CountWaiting, About: "Approve or reject new applications and changes to existing ones."},
		{Title: "Applications", Path: parts.PathAdminClients, Icon: "app"},
		{Title: "Users", Path: parts.PathAdminUsers, Icon: "users", Adds: parts.PathAdminNewUser, About: "Add users, edit their profiles, and disable accounts."},
		{Title: "Resource servers", Path: parts.PathAdminResources, Icon: "key", Adds: parts.PathAdminNewResource},
		{Title: "Publishers", Path: site.PathAdminPublishers, Icon: "external", Adds: site.PathAdminNewPublisher},
		{Title: "Audit log", Path: parts.PathAdminAudit, Icon: "log", About: "What happened, who did it, and when."},
	}},
}
