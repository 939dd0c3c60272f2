package web

import (
	"net/http"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/limit"
)

// limits bounds what one person who is signed in does by way of a node.
type limits struct {
	// changes are forms that were sent. Most leave an event in the audit trail,
	// which is of bounded length: nobody shall wash out of it what others did. The
	// consent page's are not among them: the ledger bounds them for all nodes
	// together.
	changes *limit.Limiter
	offers  *limit.Limiter // of applications; each tells whether there is a user of a name
}

func newLimits() *limits {
	return &limits{changes: limit.New(0.2, 200, 10_000), offers: limit.New(1.0/60, 10, 10_000)}
}

// countChange counts a form of the visit's user.
func (w *Web) countChange(v *visit) error {
	wait := w.limits.changes.Take(v.user.ID, w.config.Ledger.Now().Std())
	if wait > 0 {
		return tooManyChanges(wait)
	}
	return nil
}

func tooManyChanges(wait time.Duration) *failure {
	return &failure{
		status: http.StatusTooManyRequests, title: "Too many changes", after: wait,
		text: "You have sent very many forms in a short time, so this one was not looked at. Please wait a little, go back and send it again.",
	}
}

// tooManyAllows is a page of ours and no redirect (RFC 6749 §4.1.2.1 has
// temporarily_unavailable): it says how long to wait, and the form that was sent
// is as good after that. An application could only send its user here again.
func tooManyAllows(wait time.Duration) *failure {
	return &failure{
		status: http.StatusTooManyRequests, title: "Allowed too often", after: wait, cause: ledger.TooManyAllows,
		text: "This account has allowed applications very many times within a day, so nothing was done this time. Please wait, go back and press Allow again.",
	}
}
