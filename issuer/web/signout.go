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

// signOut ends the browser's session. A browser that has none is signed out
// already. The authorization request that waits, if any, goes on with the
// sign-in page.
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
		// The cookie stays: without it the person could not try again, and the
		// session would live on.
		return fmt.Errorf("sign out: %w", err)
	case out.Unknown:
		return fmt.Errorf("sign out: %w", oauth.ErrUnavailable)
	}
	c.user = out.ID
	w.dropSession(c)
	return c.redirect(continueURL(next, ""))
}
