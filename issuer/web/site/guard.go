package site

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// EscapeQuery returns a query in a form that is valid in a header, by percent-encoding
// other characters, so that it is parsed to the same request. It keeps errors of the
// original query, which encoding the parsed request would lose.
func EscapeQuery(query string) string {
	clean := func(b byte) bool { return b > ' ' && b < 0x7f && b != '#' }
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(query) {
		if clean(query[i]) {
			b.WriteByte(query[i])
		} else {
			b.Write([]byte{'%', hex[query[i]>>4], hex[query[i]&15]})
		}
	}
	return b.String()
}

// An Audience is who may request a page. Every command checks it again.
type Audience int

const (
	anybody        Audience = iota
	Users                   // signed-in users
	Administrators          // signed-in administrators
)

// ErrSessionUnavailable reports that the session's user can't be determined now.
var ErrSessionUnavailable = fmt.Errorf("look up the session: %w", oauth.ErrUnavailable)

// Admit returns the session of a user in the audience. Without a session, the error leads
// to the sign-in page and from there to c.ReturnTo. For a signed-in user outside the
// audience, it is ErrNotFound.
func (w *Site) Admit(c *Request, who Audience) (Session, error) {
	v := w.LoadSession(c)
	c.viewer = v
	switch {
	case v.Unavailable:
		return v, ErrSessionUnavailable
	case v.User == nil:
		return v, c.SignInFirst()
	}
	if who == Administrators {
		admin, err := w.ConfirmFresh(c, &v, func() bool { return v.User.Admin })
		switch {
		case err != nil:
			return v, err
		case !admin:
			return v, ErrNotFound
		}
	}
	return v, nil
}

// ConfirmFresh reports whether yes is true on the session's view. Before it returns
// false, it replaces the view with a fresh one and tries again, since this node may lag.
func (w *Site) ConfirmFresh(c *Request, v *Session, yes func() bool) (bool, error) {
	if yes() {
		return true, nil
	}
	fresh, err := w.Fresh(c.R.Context())
	if err != nil {
		return false, err
	}
	v.View = fresh
	w.LookupSession(c, v)
	if v.User == nil {
		return false, c.SignInFirst()
	}
	return yes(), nil
}

// signInFirst is the error of a request that needs a session; fail turns it into a redirect.
type signInFirst struct {
	to     string // the page to continue with
	posted bool   // a form was sent, and nothing was done
}

func (*signInFirst) Error() string { return "nobody is signed in" }

// SignInFirst returns the error of a request that needs a session.
func (c *Request) SignInFirst() error { return &signInFirst{to: c.ReturnTo, posted: c.posted} }

// location returns the sign-in page that continues with the requested page.
func (s *signInFirst) location() string {
	query := url.Values{}
	if s.to != "" && s.to != PathHome {
		query.Set("to", s.to)
	}
	if s.posted {
		query.Set("note", NoteUndone)
	}
	if len(query) == 0 {
		return PathSignIn
	}
	return PathSignIn + "?" + query.Encode()
}

// maxOwn is the maximum length of an address in a form, in bytes.
const maxOwn = 2048

// OwnPage returns an address if it is one of the pages here that need a session, and ""
// for any other: a query may be crafted by an attacker and must not lead elsewhere. A GET
// of a page changes nothing, so its query may be anything.
func (w *Site) OwnPage(address string) string {
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
		own += "?" + EscapeQuery(u.RawQuery)
	}
	if len(own) > maxOwn {
		return "" // OwnPage would refuse it the next time
	}
	return own
}

const (
	// NoteUndone reports that a form was sent without a session. It is true for everybody who sees
	// the page.
	NoteUndone = "undone"
	// NoteSignedOut reports that the user has signed out. It needs a token.
	NoteSignedOut = "signed-out"
	// NoteEverywhere reports that the user was signed out everywhere. It needs a token.
	NoteEverywhere = "everywhere"
)

// SignedOut removes the session from the browser and redirects to the sign-in page with a note.
func (w *Site) SignedOut(c *Request, note string) error {
	w.DropSession(c)
	return c.Redirect(PathSignIn + "?" + url.Values{"note": {SignNotice(w.FormKey(c), "", PathSignIn, note)}}.Encode())
}
