package web

import (
	"net/url"
	"slices"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	sessionsShow = 10 // on one page
	// sessionsMost bounds what is read for a page. Whoever signs in more often
	// can still sign out everywhere.
	sessionsMost = 1000
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
func (w *Web) sessions(c *call, v *visit) ([]signedIn, pager) {
	all := v.view.SessionsOf(v.user.ID, w.config.Ledger.Now(), sessionsMost)
	all = slices.DeleteFunc(all, func(s *ledger.Session) bool { return s.ID == v.session.ID })
	all = slices.Insert(all, 0, v.session)
	some, pages := pageOf(c, all, sessionsShow, (*ledger.Session).Handle)
	var list []signedIn
	for _, s := range some {
		list = append(list, signedIn{
			Browser: browserName(s.Agent), Here: s.ID == v.session.ID, Since: s.Created, Seen: s.Seen,
			Form: v.form(&endSessionForm, url.Values{"session": {s.Handle()}}),
		})
	}
	return list, pages.below("sessions")
}

// endSession signs one browser out. In this one that is what "Sign out" does.
func (w *Web) endSession(c *call, v visit, f *form) error {
	id, ok := ledger.SessionOf(f.get("session"))
	if !ok {
		return errNotFound
	}
	here := id == v.session.ID
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
	return c.done(pathAccount, accountNotices, "signed-out")
}
