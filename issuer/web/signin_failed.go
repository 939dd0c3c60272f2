package web

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/security"
)

// failed records a failed sign-in of a user, nil for nobody: a name that is
// nobody's is not told, as it may be a password in the wrong field.
func (w *Web) failed(c *call, u *ledger.User, cause ledger.Cause) {
	f := security.Failure{Kind: security.SignIn, Cause: cause, Address: w.config.ClientIP(c.r)}
	if u != nil {
		f.User, f.Name = u.ID, u.Username
	}
	if w.config.RequestID != nil {
		f.Request = w.config.RequestID(c.r)
		c.Header().Set(security.RequestID, f.Request)
	}
	w.config.Security.Record(f)
}

// failedName is failed for a name and a password that was looked at.
func (w *Web) failedName(c *call, view ledger.View, name string) {
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
	w.failed(c, u, cause)
}
