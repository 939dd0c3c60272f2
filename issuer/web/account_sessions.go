package web

import (
	"net/url"
	"slices"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

const (
	sessionsPerPage = 10
	// maxListedSessions bounds what is read for a page. A user with more sessions can still
	// sign out everywhere.
	maxListedSessions = 1000
)

// endSessionForm identifies a session by its handle, the digest in the ledger. Only the browser
// has the id itself.
var endSessionForm = formKind{
	purpose: forEndSession, ends: true, action: "/account/sign-out", page: pathAccount, fields: []field{boundField("session")},
}

// A signedIn is one browser in which the user is signed in.
type signedIn struct {
	Browser string
	Here    bool // this browser
	Since   ledger.Time
	Seen    ledger.Time // with a resolution of ten minutes
	Form    *form
}

// sessions returns one page of the user's browsers: this one first, then the most recently used.
func (w *Web) sessions(c *request, v *session) ([]signedIn, ui.Pager) {
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
	return list, below(pages, "sessions")
}

// endSession signs one browser out. For this browser, that is the same as signing out.
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
