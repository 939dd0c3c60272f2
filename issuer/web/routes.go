package web

import (
	"net/http"
	"slices"

	"github.com/julienschmidt/httprouter"

	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// Paths that other packages and services refer to.
const (
	pathHome      = "/"
	pathAuthorize = "/auth/oauth2/authorize" // service document, section 4.1
	pathSignIn    = "/auth/sign-in"
)

// A route is one address and its audience.
type route struct {
	method string
	path   string // with httprouter's parameters
	who    audience
	serve  handler
}

// routes returns all routes.
func (w *Web) routes() []route {
	return slices.Concat(
		w.protocolRoutes(),
		w.upstreamRoutes(),
		w.accountRoutes(),
		w.developerRoutes(),
		w.adminRoutes(),
	)
}

// protocolRoutes returns the routes that are open to anybody, signed in or not.
func (w *Web) protocolRoutes() []route {
	return []route{
		{method: http.MethodGet, path: pathAuthorize, serve: w.authorize},
		{method: http.MethodPost, path: pathAuthorize, serve: w.openForm(&consentForm, w.decide, methodNotAllowed("GET, HEAD"))},
		w.pageFor(users, pathWaiting, w.waitingPage),
		{method: http.MethodGet, path: pathSignIn, serve: w.signInPage},
		{method: http.MethodPost, path: pathSignIn, serve: w.openForm(&signInForm, w.signIn, errNotOurForm)},
		{method: http.MethodPost, path: signOutForm.action, serve: w.openForm(&signOutForm, w.signOut, errNotOurForm)},
		{method: http.MethodGet, path: ui.PathAssets + ":name", serve: w.asset},
	}
}

// pageFor returns the route of a page for signed-in users.
func (w *Web) pageFor(who audience, path string, h func(*request, session) error) route {
	return route{method: http.MethodGet, path: path, who: who, serve: func(c *request) error {
		c.returnTo = c.r.URL.RequestURI()
		v, err := w.admit(c, who)
		if err != nil {
			return err
		}
		c.sessionID = v.id
		return h(c, v)
	}}
}

// formFor returns the route of a form for signed-in users. The handler receives only
// forms that a page of the same session showed for the same object, or that redisplay
// showed again.
func (w *Web) formFor(who audience, kind *formKind, h func(*request, session, *form) error) route {
	return route{method: http.MethodPost, path: kind.action, who: who, serve: func(c *request) error {
		if w.origin.Check(c.r) != nil {
			return errNotOurForm
		}
		c.returnTo, c.posted = kind.address(kind.page, c.param), true
		v, err := w.admit(c, who)
		if err != nil {
			return w.redisplayUnread(c, kind, err)
		}
		f, err := w.read(c, kind)
		if err != nil {
			return err
		}
		c.sessionID = v.id
		f.key, f.user = v.id, v.user.ID
		if !f.genuine() && !w.resubmitted(c, f) {
			return w.stale(c, v, f)
		}
		if err := w.countForm(&v, kind); err != nil {
			return err
		}
		return w.redisplay(c, f, h(c, v, f))
	}}
}

// read decodes the form that was sent, with the parameters of the path among its values.
func (w *Web) read(c *request, kind *formKind) (*form, error) {
	f, err := decode(c, kind)
	if err != nil {
		return nil, err
	}
	f.web = w
	for _, name := range parameters(kind.action) {
		f.values[name] = []string{c.param(name)}
	}
	return f, nil
}

// install sets the table of routes.
func (w *Web) install(table []route) {
	w.table, w.ownPages = table, httprouter.New()
	for i, r := range table {
		if agentPath(r.path) {
			table[i].serve = w.whileAgents(r.serve)
		}
		if r.method == http.MethodGet && r.who != anybody {
			w.ownPages.Handle(http.MethodGet, r.path, func(http.ResponseWriter, *http.Request, httprouter.Params) {})
		}
	}
}

// Register adds the routes of the pages.
func (w *Web) Register(r interface {
	Handle(method, path string, h httprouter.Handle)
},
) {
	for _, one := range w.table {
		h := w.handle(one.path, one.serve)
		r.Handle(one.method, one.path, h)
		if one.method == http.MethodGet {
			r.Handle(http.MethodHead, one.path, h)
		}
	}
}
