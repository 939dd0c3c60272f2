package authn

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/requestlog"
	"github.com/mintmark-auth/mintmark/issuer/security"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// RecordFailure records a failed sign-in as user u in the security log. u is nil if no
// user has the typed name: that name is not recorded, since it may be a password typed
// into the wrong field.
func (w *Prover) RecordFailure(c *site.Request, u *ledger.User, cause ledger.Cause) {
	f := security.Failure{Kind: security.SignIn, Cause: cause, Address: w.ClientIP(c.R), Request: requestlog.ID(c.R.Context())}
	if u != nil {
		f.User, f.Name = u.ID, u.Username
	}
	w.Security.Record(f)
}

// RecordNameFailure is RecordFailure for a user name and a password that were refused. It
// determines the cause and the user with that name.
func (w *Prover) RecordNameFailure(c *site.Request, view ledger.View, name string) {
	u := view.UserByName(name)
	cause := ledger.PasswordWrong
	switch {
	case u == nil:
		cause = ledger.NoSuchUser
	case u.Deleted:
		cause = ledger.UserDeleted
	case u.Disabled:
		cause = ledger.UserDisabled
	}
	w.RecordFailure(c, u, cause)
}
