package signin

import (
	"net/http"
	"slices"

	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// protocolRoutes returns the routes that are open to anybody, signed in or not.
func (w *Area) protocolRoutes() []site.Route {
	return []site.Route{
		{Method: http.MethodGet, Path: site.PathAuthorize, Serve: w.authorize},
		{Method: http.MethodPost, Path: site.PathAuthorize, Serve: w.OpenForm(&consentForm, w.decide, site.MethodNotAllowed("GET, HEAD"))},
		w.PageFor(site.Users, site.PathWaiting, w.waitingPage),
		{Method: http.MethodGet, Path: site.PathSignIn, Serve: w.signInPage},
		{Method: http.MethodPost, Path: site.PathSignIn, Serve: w.OpenForm(&signInForm, w.signIn, site.ErrNotOurForm)},
		{Method: http.MethodPost, Path: signOutForm.Action, Serve: w.OpenForm(&signOutForm, w.signOut, site.ErrNotOurForm)},
	}
}

// Routes returns the routes.
func (w *Area) Routes() []site.Route { return slices.Concat(w.protocolRoutes(), w.upstreamRoutes()) }
