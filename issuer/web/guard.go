package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// An audience is who may request a page. Every command checks it again.
type audience int

const (
	anybody        audience = iota
	users                   // signed-in users
	administrators          // signed-in administrators
)

// errSessionUnavailable reports that the session's user can't be determined now.
var errSessionUnavailable = fmt.Errorf("look up the session: %w", oauth.ErrUnavailable)

// admit returns the session of a user in the audience. Without a session, the error leads
// to the sign-in page and from there to c.returnTo. For a signed-in user outside the
// audience, it is errNotFound.
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

// confirmFresh reports whether yes is true on the session's view. Before it returns
// false, it replaces the view with a fresh one and tries again, since this node may lag.
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

// signInFirst is the error of a request that needs a session; fail turns it into a redirect.
type signInFirst struct {
	to     string // the page to continue with
	posted bool   // a form was sent, and nothing was done
}

func (*signInFirst) Error() string { return "nobody is signed in" }

func (c *request) signInFirst() error { return &signInFirst{to: c.returnTo, posted: c.posted} }

// location returns the sign-in page that continues with the requested page.
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

// maxOwn is the maximum length of an address in a form, in bytes.
const maxOwn = 2048

// ownPage returns an address if it is one of the pages here that need a session, and ""
// for any other: a query may be crafted by an attacker and must not lead elsewhere. A GET
// of a page changes nothing, so its query may be anything.
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
		return "" // ownPage would refuse it the next time
	}
	return own
}
