package web

import (
	"fmt"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

var signOutForm = formKind{
	purpose: forSignOut, action: "/auth/sign-out", page: pathHome,
	fields: []field{textField("next", "")},
}

// signOut ends the browser's session. It also succeeds without a session. A pending
// authorization request continues with the sign-in page.
func (w *Web) signOut(c *request, f *form) error {
	next := f.get("next")
	id, _, err := w.sessionCookie(c.r)
	switch {
	case err != nil:
		return fmt.Errorf("sign out: %w", err)
	case id == "":
		return c.redirect(continueURL(next, ""))
	}
	if !genuine(f.token, id, forSignOut, "", next) {
		return errNotOurForm
	}
	out, _, err := w.config.Ledger.Propose(c.r.Context(), &ledger.SignOut{Session: credential.SessionDigest(id)})
	switch {
	case err != nil:
		// The cookie is kept: without it the user could not try again, and the session would
		// stay.
		return fmt.Errorf("sign out: %w", err)
	case out.Unknown:
		return fmt.Errorf("sign out: %w", oauth.ErrUnavailable)
	}
	c.user = out.ID
	w.dropSession(c)
	return c.redirect(continueURL(next, ""))
}
