package account

import (
	"fmt"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var signOutEverywhereForm = site.FormKind{Purpose: forSignOutEverywhere, Ends: true, Action: "/account/sign-out-everywhere", Page: site.PathAccount}

type profileBody struct {
	Profile     ui.Card
	Facts       []parts.Fact // that are set
	Unset       []string     // names of the others
	AccountID   string
	HasPassword bool
	SessionEnds ui.Stamp // absolute end of this session
	Sessions    []signedIn
	Table       ui.Table // of Sessions
	Everywhere  *ui.Confirm
	CanEdit     bool // the profile
	Service     string
	Feed        feedCard
}

var accountNotices = site.Notices{
	"password":   "Your password was changed. You were signed out in all other browsers. Your connected apps stay connected.",
	"signed-out": "That browser was signed out.",

	"feed-removed": "The address of your feed was removed.",
}

// profile is the account page. It shows what GET /v2/me returns to an application that may see
// the profile.
func (w *Area) profile(c *site.Request, v site.Session) error { return w.showProfile(c, v, nil) }

// showProfile shows the page, with the problems of a form if it is not nil.
func (w *Area) showProfile(c *site.Request, v site.Session, f *site.Form) error {
	settings := v.View.Settings()
	body := &profileBody{
		Profile: ui.Card{ID: "profile", Title: "Profile"}, AccountID: v.User.ID, Service: w.Brand().Name, HasPassword: w.prover.HasLocalPassword(v.User),
		SessionEnds: v.At(v.Stored.Created.Add(settings.SessionAbsolute)),
		Everywhere: &ui.Confirm{
			Button: "Sign out everywhere", Title: "Sign out everywhere?", Text: "You’ll have to sign in again, here too.",
			Do: "Sign out everywhere", Tone: ui.Bad, Form: v.Form(&signOutEverywhereForm, nil),
		},
	}
	body.Facts, body.Unset = parts.Facts(v.User, "About you")
	sessions, pages := w.sessions(c, &v)
	body.Sessions, body.Table = sessions, sessionsTable(&pages)
	body.Feed = w.feedCard(&v)
	if v.User.Admin {
		body.CanEdit = true
		body.Profile.Action = &ui.Action{Title: "Edit profile", Path: parts.EditUserPath(v.User.ID), Small: true}
	}
	p := ui.Page{
		Title: "Profile & security", Notice: accountNotices.Text(c), Body: body, Rows: len(body.Sessions),
		Truncate: func(n int) {
			body.Sessions, pages.Next = body.Sessions[:n], c.PageAt("after", body.Sessions[n-1].Form.Get("session"))
			pages = site.Below(pages, "sessions")
		},
	}
	if f != nil {
		p.Form = f
	}
	return w.Show(c, v, "profile", p)
}

// signOutEverywhere ends all sessions of the user, including this one.
func (w *Area) signOutEverywhere(c *site.Request, v site.Session, _ *site.Form) error {
	out, _, err := w.Ledger.Propose(c.R.Context(), &ledger.SignOut{
		Session: credential.SessionDigest(v.ID), Everywhere: true,
	})
	switch {
	case err != nil:
		// As in signOut, the cookie is kept.
		return fmt.Errorf("sign out everywhere: %w", err)
	case out.Unknown:
		return fmt.Errorf("sign out everywhere: %w", oauth.ErrUnavailable)
	}
	return w.SignedOut(c, site.NoteEverywhere)
}
