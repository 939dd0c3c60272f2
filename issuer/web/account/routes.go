package account

import (
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// Routes returns the pages of a user's own account.
func (w *Area) Routes() []site.Route {
	return []site.Route{
		w.PageFor(site.Users, site.PathHome, w.attention),
		w.PageFor(site.Users, parts.PathApps, w.connectedApps),
		w.PageFor(site.Users, parts.PathApps+"/:id", w.connectedApp),
		w.FormFor(site.Users, &disconnectForm, w.disconnect),
		w.FormFor(site.Users, &disconnectAllForm, w.disconnectAll),
		w.PageFor(site.Users, site.PathAccount, w.profile),
		w.PageFor(site.Users, passwordForm.Page, w.passwordPage),
		w.FormFor(site.Users, &passwordForm, w.changePassword),
		w.FormFor(site.Users, &feedForm, w.setFeed),
		w.FormFor(site.Users, &removeFeedForm, w.removeFeed),
		{Method: http.MethodGet, Path: pathFeed + ":address", Serve: w.feed},
		w.FormFor(site.Users, &endSessionForm, w.endSession),
		w.FormFor(site.Users, &signOutEverywhereForm, w.signOutEverywhere),
	}
}
