package site

import (
	"net/http"

	"github.com/julienschmidt/httprouter"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// PathAccount is the page of a user's own account.
const PathAccount = "/account"

// Paths that other packages and services refer to.
const (
	PathHome      = "/"
	PathAuthorize = oauth.PathAuthorize // service document, section 4.1
	PathSignIn    = "/auth/sign-in"
	PathSignOut   = "/auth/sign-out"
)

// A Route is one address and its audience.
type Route struct {
	Method string
	Path   string // with httprouter's parameters
	who    Audience
	Serve  Handler
}

// Routes returns the routes of the files that pages refer to.
func (w *Site) Routes() []Route {
	return []Route{{Method: http.MethodGet, Path: ui.PathAssets + ":name", Serve: w.asset}}
}

// PageFor returns the route of a page for signed-in users.
func (w *Site) PageFor(who Audience, path string, h func(*Request, Session) error) Route {
	return Route{Method: http.MethodGet, Path: path, who: who, Serve: func(c *Request) error {
		c.ReturnTo = c.R.URL.RequestURI()
		v, err := w.Admit(c, who)
		if err != nil {
			return err
		}
		c.SessionID = v.ID
		return h(c, v)
	}}
}

// FormFor returns the route of a form for signed-in users. The handler receives only
// forms that a page of the same session showed for the same object, or that redisplay
// showed again.
func (w *Site) FormFor(who Audience, kind *FormKind, h func(*Request, Session, *Form) error) Route {
	return Route{Method: http.MethodPost, Path: kind.Action, who: who, Serve: func(c *Request) error {
		if w.origin.Check(c.R) != nil {
			return ErrNotOurForm
		}
		c.ReturnTo, c.posted = kind.Address(kind.Page, c.Param), true
		v, err := w.Admit(c, who)
		if err != nil {
			return w.redisplayUnread(c, kind, err)
		}
		f, err := w.read(c, kind)
		if err != nil {
			return err
		}
		c.SessionID = v.ID
		f.key, f.user = v.ID, v.User.ID
		if !f.genuine() && !w.resubmitted(c, f) {
			return w.stale(c, v, f)
		}
		if wait := w.countForm(&v, kind); wait > 0 {
			return w.throttled(c, v, f, wait)
		}
		return w.redisplay(c, f, h(c, v, f))
	}}
}

// read decodes the form that was sent, with the parameters of the path among its values.
func (w *Site) read(c *Request, kind *FormKind) (*Form, error) {
	f, err := decode(c, kind)
	if err != nil {
		return nil, err
	}
	f.site = w
	for _, name := range parameters(kind.Action) {
		f.Values[name] = []string{c.Param(name)}
	}
	return f, nil
}

// Install sets the table of routes.
func (w *Site) Install(table []Route) {
	w.table, w.ownPages = table, httprouter.New()
	for i, r := range table {
		if agentPath(r.Path) {
			table[i].Serve = w.whileAgents(r.Serve)
		}
		if r.Method == http.MethodGet && r.who != anybody {
			w.ownPages.Handle(http.MethodGet, r.Path, func(http.ResponseWriter, *http.Request, httprouter.Params) {})
		}
	}
}

// Register adds the routes of the pages.
func (w *Site) Register(r interface {
	Handle(method, path string, h httprouter.Handle)
},
) {
	for _, one := range w.table {
		h := w.handle(one.Path, one.Serve)
		r.Handle(one.Method, one.Path, h)
		if one.Method == http.MethodGet {
			r.Handle(http.MethodHead, one.Path, h)
		}
	}
}
