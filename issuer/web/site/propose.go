package site

import (
	"fmt"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// Propose has a command of the session's user decided, and makes the next page of this
// browser wait for it. It returns a refusal that the page can show at its form, and an
// error if the user should not have seen the page at all.
func (w *Site) Propose(c *Request, v *Session, doing string, command command.Command) (*ledger.Refusal, error) {
	out, index, err := w.Ledger.Propose(c.R.Context(), command)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", doing, err)
	case out.Unknown:
		return nil, fmt.Errorf("%s: %w", doing, oauth.ErrUnavailable)
	case out.Refusal == nil:
		w.SetSession(c, v.ID, index)
		return nil, nil
	case out.Refusal.Cause == ledger.KeyNotRecorded: // of a new secret: this node's keyring lags for a moment
		return nil, fmt.Errorf("%s: the key of the secret was dropped: %w", doing, oauth.ErrUnavailable)
	}
	c.Cause = out.Refusal.Cause
	switch out.Refusal.Cause {
	case ledger.NotSignedIn:
		return nil, c.SignInFirst()
	case ledger.NotFound, ledger.NotAllowed: // as in Admit, the page doesn't exist for this user
		return nil, ErrNotFound
	}
	return out.Refusal, nil
}
