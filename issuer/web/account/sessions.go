package account

import (
	"net/url"
	"slices"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
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
var endSessionForm = site.FormKind{
	Purpose: forEndSession, Ends: true, Action: "/account/sign-out", Page: site.PathAccount, Fields: []site.Field{site.BoundField("session")},
}

// A signedIn is one browser in which the user is signed in.
type signedIn struct {
	Browser string
	Here    bool // this browser
	Since   ui.Stamp
	Seen    ui.Stamp // with a resolution of ten minutes
	Form    *site.Form
}

// sessionsTable returns the table of sessions. It has a column for each time, since only the times
// distinguish browsers of the same name: no place or address is stored with a session.
func sessionsTable(pages *ui.Pager) ui.Table {
	return ui.Table{Caption: "Your browsers, the one used last first", Brief: true, Pager: pages, Columns: []ui.Column{
		{Title: "Browser"}, {Title: "Last used"}, {Title: "Signed in"}, {Title: "Sign out", Class: "do", Unseen: true},
	}}
}

// sessions returns one page of the user's browsers: this one first, then the most recently used.
func (w *Area) sessions(c *site.Request, v *site.Session) ([]signedIn, ui.Pager) {
	all := v.View.SessionsOf(v.User.ID, w.Ledger.Now(), maxListedSessions)
	all = slices.DeleteFunc(all, func(s *ledger.Session) bool { return s.ID == v.Stored.ID })
	all = slices.Insert(all, 0, v.Stored)
	some, pages := site.PageOf(c, all, sessionsPerPage, (*ledger.Session).Handle)
	var list []signedIn
	for _, s := range some {
		list = append(list, signedIn{
			Browser: browserName(s.Agent), Here: s.ID == v.Stored.ID, Since: v.At(s.Created), Seen: v.At(s.Seen),
			Form: v.Form(&endSessionForm, url.Values{"session": {s.Handle()}}),
		})
	}
	return list, site.Below(pages, "sessions")
}

// endSession signs one browser out. For this browser, that is the same as signing out.
func (w *Area) endSession(c *site.Request, v site.Session, f *site.Form) error {
	id, ok := ledger.SessionOf(f.Get("session"))
	if !ok {
		return site.ErrNotFound
	}
	here := id == v.Stored.ID
	refused, err := w.Propose(c, &v, "end a session", &ledger.EndSession{Actor: v.Actor(), Session: id})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return site.ErrNotFound
	case here:
		return w.SignedOut(c, site.NoteSignedOut)
	}
	return c.RedirectNotice(site.PathAccount, accountNotices, "signed-out")
}
