package web

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/requestlog"
	"github.com/mintmark-auth/mintmark/issuer/security"
)

// recordFailure records a failed sign-in as user u in the security log. u is nil if no
// user has the typed name: that name is not recorded, since it may be a password typed
// into the wrong field.
func (w *Web) recordFailure(c *request, u *ledger.User, cause ledger.Cause) {
	f := security.Failure{Kind: security.SignIn, Cause: cause, Address: w.config.ClientIP(c.r), Request: requestlog.ID(c.r.Context())}
	if u != nil {
		f.User, f.Name = u.ID, u.Username
	}
	w.config.Security.Record(f)
}

// recordNameFailure is recordFailure for a user name and a password that were refused. It
// determines the cause and the user with that name.
func (w *Web) recordNameFailure(c *request, view ledger.View, name string) {
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
	w.recordFailure(c, u, cause)
}
