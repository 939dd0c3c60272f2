package web

import (
	"fmt"
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

const pathAccount = "/account"

var signOutEverywhereForm = formKind{purpose: forSignOutEverywhere, ends: true, action: "/account/sign-out-everywhere", page: pathAccount}

type profileBody struct {
	Facts       []fact
	HasPassword bool
	SignedIn    ledger.Time // sign-in of this browser
	SessionEnds ledger.Time // absolute end of this session
	Sessions    []signedIn
	Pages       ui.Pager // of Sessions
	SignOutForm *form
	Edit        string // the page that edits the profile, if the user may
}

// A fact is a line of a profile. An empty value means not set.
type fact struct{ Name, Value string }

var accountNotices = notices{
	"password":   "Your password was changed. You were signed out in all other browsers. Your connected apps stay connected.",
	"signed-out": "That browser was signed out.",
}

// profile is the account page. It shows what GET /v2/me returns to an application that may see
// the profile.
func (w *Web) profile(c *request, v session) error {
	settings := v.view.Settings()
	body := &profileBody{
		Facts: facts(v.user, "About you"), HasPassword: w.hasLocalPassword(v.user),
		SignedIn: v.stored.Created, SessionEnds: v.stored.Created.Add(settings.SessionAbsolute),
		SignOutForm: v.form(&signOutEverywhereForm, nil),
	}
	body.Sessions, body.Pages = w.sessions(c, &v)
	if v.user.Admin {
		body.Edit = editUserPath(v.user.ID)
	}
	return w.show(c, v, "account_profile", ui.Page{
		Title: "Profile & security", Notice: accountNotices.text(c), Body: body, Rows: len(body.Sessions),
		Truncate: func(n int) {
			body.Sessions, body.Pages.Next = body.Sessions[:n], c.pageAt("after", body.Sessions[n-1].Form.get("session"))
			body.Pages = below(body.Pages, "sessions")
		},
	})
}

// facts returns what GET /v2/me returns for a user.
func facts(u *ledger.User, about string) []fact {
	clock := "24 hours"
	if u.TimeFormat == 12 {
		clock = "12 hours"
	}
	return []fact{
		{"Name", u.Name},
		{"Username", u.Username},
		{"Email address", u.Email},
		{about, u.Bio},
		{"Picture", u.AvatarURL},
		{"Language", u.Locale},
		{"Time zone", u.TimeZone},
		{"Clock", clock},
		{"First day of the week", u.WeekStart},
		{"Default schedule", u.DefaultScheduleID},
		{"Organization", u.OrganizationID},
		{"Account ID", u.ID},
	}
}

// signOutEverywhere ends all sessions of the user, including this one.
func (w *Web) signOutEverywhere(c *request, v session, _ *form) error {
	out, _, err := w.config.Ledger.Propose(c.r.Context(), &ledger.SignOut{
		Session: credential.SessionDigest(v.id), Everywhere: true,
	})
	switch {
	case err != nil:
		// As in signOut, the cookie is kept.
		return fmt.Errorf("sign out everywhere: %w", err)
	case out.Unknown:
		return fmt.Errorf("sign out everywhere: %w", oauth.ErrUnavailable)
	}
	w.dropSession(c)
	note := signNotice(w.formKey(c), "", pathSignIn, noteEverywhere)
	return c.redirect(pathSignIn + "?" + url.Values{"note": {note}}.Encode())
}
