package web

import (
	"net/url"
	"slices"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	sessionsPerPage = 10 // on one page
	// maxListedSessions bounds what is read for a page. Whoever signs in more often
	// can still sign out everywhere.
	maxListedSessions = 1000
)

// endSessionForm names a session by its handle, which is the digest that the
// ledger has: the id itself is in nobody's hands but the browser's.
var endSessionForm = formKind{
	purpose: forEndSession, ends: true, action: "/account/sign-out", page: pathAccount, fields: []field{boundField("session")},
}

// A signedIn is one browser in which the user is signed in.
type signedIn struct {
	Browser string
	Here    bool // it is this one
	Since   ledger.Time
	Seen    ledger.Time // to ten minutes
	Form    *form
}

// sessions are the browsers of the user, on one page of several: this one first,
// then the one that was used last.
func (w *Web) sessions(c *request, v *session) ([]signedIn, pager) {
	all := v.view.SessionsOf(v.user.ID, w.config.Ledger.Now(), maxListedSessions)
	all = slices.DeleteFunc(all, func(s *ledger.Session) bool { return s.ID == v.stored.ID })
	all = slices.Insert(all, 0, v.stored)
	some, pages := pageOf(c, all, sessionsPerPage, (*ledger.Session).Handle)
	var list []signedIn
	for _, s := range some {
		list = append(list, signedIn{
			Browser: browserName(s.Agent), Here: s.ID == v.stored.ID, Since: s.Created, Seen: s.Seen,
			Form: v.form(&endSessionForm, url.Values{"session": {s.Handle()}}),
		})
	}
	return list, pages.below("sessions")
}

// endSession signs one browser out. In this one that is what "Sign out" does.
func (w *Web) endSession(c *request, v session, f *form) error {
	id, ok := ledger.SessionOf(f.get("session"))
	if !ok {
		return errNotFound
	}
	here := id == v.stored.ID
	refused, err := w.propose(c, &v, "end a session", &ledger.EndSession{Actor: v.actor(), Session: id})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return errNotFound
	case here:
		w.dropSession(c)
		return c.redirect(pathSignIn)
	}
	return c.redirectNotice(pathAccount, accountNotices, "signed-out")
}
