package signin

import (
	"fmt"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

var signOutForm = site.FormKind{
	Purpose: site.ForSignOut, Action: site.PathSignOut, Page: site.PathHome,
	Fields: []site.Field{site.TextField("next", "")},
}

// signOut ends the browser's session. It also succeeds without a session. A pending
// authorization request continues with the sign-in page.
func (w *Area) signOut(c *site.Request, f *site.Form) error {
	next := f.Get("next")
	id, _, err := w.SessionCookie(c.R)
	switch {
	case err != nil:
		return fmt.Errorf("sign out: %w", err)
	case id == "":
		return c.Redirect(continueURL(next, ""))
	}
	if !site.Genuine(f.SentToken, id, site.ForSignOut, "", next) {
		return site.ErrNotOurForm
	}
	out, _, err := w.Ledger.Propose(c.R.Context(), &ledger.SignOut{Session: credential.SessionDigest(id)})
	switch {
	case err != nil:
		// The cookie is kept: without it the user could not try again, and the session would
		// stay.
		return fmt.Errorf("sign out: %w", err)
	case out.Unknown:
		return fmt.Errorf("sign out: %w", oauth.ErrUnavailable)
	}
	c.User = out.ID
	if next == "" {
		return w.SignedOut(c, site.NoteSignedOut)
	}
	w.DropSession(c)
	return c.Redirect(continueURL(next, ""))
}
