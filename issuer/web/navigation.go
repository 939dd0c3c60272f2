package web

import (
	"github.com/mintmark-auth/mintmark/issuer/web/attention"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

var navigation = []site.MenuGroup{
	{ID: "account", Title: "Account", Who: site.Users, Items: []site.MenuItem{
		{Title: "Connected apps", Path: parts.PathApps, Icon: "link"},
		{Title: "Profile & security", Path: site.PathAccount, Icon: "shield"},
	}},
	{ID: "build", Title: "Build", Who: site.Users, Items: []site.MenuItem{
		{Title: "Applications", Path: parts.PathDeveloper, Icon: "app", Waits: attention.CountApplications, Wait: "to look at"},
	}},
	{ID: "administer", Title: "Administer", Who: site.Administrators, Items: []site.MenuItem{
		{Title: "Reviews", Path: site.PathAdmin, Icon: "check", Alone: true, Waits: attention.CountReviews, Wait: "waiting for review"},
		{Title: "All applications", Path: parts.PathAdminClients, Icon: "app"},
		{Title: "Users", Path: parts.PathAdminUsers, Icon: "users", Adds: parts.PathAdminNewUser},
		{Title: "Resource servers", Path: parts.PathAdminResources, Icon: "key", Adds: parts.PathAdminNewResource},
		{Title: "Publishers", Path: site.PathAdminPublishers, Icon: "external", Adds: site.PathAdminNewPublisher},
		{Title: "Branding", Path: parts.PathAdminBranding, Icon: "palette"},
		{Title: "Audit log", Path: parts.PathAdminAudit, Icon: "log"},
	}},
}
