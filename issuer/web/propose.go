package web

import (
	"fmt"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// propose has a command of the session's user decided, and makes the next page of this
// browser wait for it. It returns a refusal that the page can show at its form, and an
// error if the user should not have seen the page at all.
func (w *Web) propose(c *request, v *session, doing string, command command.Command) (*ledger.Refusal, error) {
	out, index, err := w.config.Ledger.Propose(c.r.Context(), command)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", doing, err)
	case out.Unknown:
		return nil, fmt.Errorf("%s: %w", doing, oauth.ErrUnavailable)
	case out.Refusal == nil:
		w.setSession(c, v.id, index)
		return nil, nil
	}
	c.cause = out.Refusal.Cause
	switch out.Refusal.Cause {
	case ledger.NotSignedIn:
		return nil, c.signInFirst()
	case ledger.NotFound, ledger.NotAllowed: // as in admit, the page doesn't exist for this user
		return nil, errNotFound
	}
	return out.Refusal, nil
}
