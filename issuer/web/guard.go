package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// An audience is who may ask for a page. Every command decides it again.
type audience int

const (
	anybody        audience = iota
	users                   // who is signed in
	administrators          // of them, those with the role
)

// errSessionUnavailable is for a session of which it can't be told whose it is.
var errSessionUnavailable = fmt.Errorf("look up the session: %w", oauth.ErrUnavailable)

// admit is the session of somebody who belongs to the audience. Others are sent
// to sign in, and from there to c.back. Whoever is signed in and does not belong
// to it is told of no such page.
func (w *Web) admit(c *request, who audience) (session, error) {
	v := w.loadSession(c)
	switch {
	case v.unavailable:
		return v, errSessionUnavailable
	case v.user == nil:
		return v, c.signInFirst()
	}
	if who == administrators {
		admin, err := w.confirmFresh(c, &v, func() bool { return v.user.Admin })
		switch {
		case err != nil:
			return v, err
		case !admin:
			return v, errNotFound
		}
	}
	return v, nil
}

// confirmFresh reports whether yes holds on the session's view. Before it says no it
// looks once more at a fresh one, which the session then has: this node may not
// have heard yet of what the page is about.
func (w *Web) confirmFresh(c *request, v *session, yes func() bool) (bool, error) {
	if yes() {
		return true, nil
	}
	fresh, err := w.fresh(c.r.Context())
	if err != nil {
		return false, err
	}
	v.view = fresh
	w.lookupSession(c, v)
	if v.user == nil {
		return false, c.signInFirst()
	}
	return yes(), nil
}

// signInFirst is the error of a call that needs somebody to be signed in; fail
// makes a redirect of it.
type signInFirst struct {
	to     string // the page to go on with
	posted bool   // a form was sent, and nothing was done
}

func (*signInFirst) Error() string { return "nobody is signed in" }

func (c *request) signInFirst() error { return &signInFirst{to: c.returnTo, posted: c.posted} }

// location is the sign-in page that goes on where the request wanted to.
func (s *signInFirst) location() string {
	query := url.Values{}
	if s.to != "" && s.to != pathHome {
		query.Set("to", s.to)
	}
	if s.posted {
		query.Set("note", noteUndone)
	}
	if len(query) == 0 {
		return pathSignIn
	}
	return pathSignIn + "?" + query.Encode()
}

// maxOwn bounds an address that a form carries, in bytes.
const maxOwn = 2048

// ownPage is an address again if it is one of the pages here that need
// somebody to be signed in, and "" for any other: what is in a query may be of
// a stranger's making, and must not lead anywhere else. Asking for a page
// changes nothing, so its query may be anything.
func (w *Web) ownPage(address string) string {
	if len(address) > maxOwn || !strings.HasPrefix(address, "/") {
		return ""
	}
	u, err := url.ParseRequestURI(address)
	if err != nil || u.Scheme != "" || u.Host != "" {
		return ""
	}
	if known, _, _ := w.ownPages.Lookup(http.MethodGet, u.Path); known == nil {
		return ""
	}
	own := (&url.URL{Path: u.Path}).EscapedPath()
	if u.RawQuery != "" {
		own += "?" + escapeQuery(u.RawQuery)
	}
	if len(own) > maxOwn {
		return "" // it would not be taken again
	}
	return own
}
