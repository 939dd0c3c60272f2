package web

import (
	"net/http"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/limit"
)

// limits bounds what one signed-in user can do on a node.
type limits struct {
	// changes counts forms by user. Most forms add an event to the audit trail, whose
	// length is bounded, and nobody may displace the events of others. Consent forms are
	// not counted, since the ledger limits them over all nodes.
	changes *limit.Limiter
	// endings counts forms that only end something, by session: see formKind.ends. An
	// attacker with a stolen session can't prevent the user from ending it by sending
	// forms. Nothing ends twice, so there are no more events of endings than of
	// beginnings, which are limited.
	endings *limit.Limiter
	// passwords counts successful changes of the user's own password, by user. Only
	// somebody who knows the password can use this up.
	passwords *limit.Limiter
	offers    *limit.Limiter // of applications; each reveals whether a user name exists
}

// newLimits returns limits with sustained rates far beyond those of a person: 180 an hour.
func newLimits() *limits {
	return &limits{
		changes:   limit.New(0.05, 200, 10_000),
		endings:   limit.New(0.05, 200, 10_000),
		passwords: limit.New(1.0/600, 20, 10_000),
		offers:    limit.New(1.0/60, 10, 10_000),
	}
}

// countForm counts a form of the session.
func (w *Web) countForm(v *session, kind *formKind) error {
	counted, key := w.limits.changes, v.user.ID
	if kind.ends {
		counted, key = w.limits.endings, v.stored.Handle()
	}
	if wait := counted.Take(key, w.config.Ledger.Now().Std()); wait > 0 {
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

// tooManyAllows returns a page of this server, not a redirect (RFC 6749 §4.1.2.1 has
// temporarily_unavailable): it states how long to wait, and the same form works after
// that. An application could only send its user here again.
func tooManyAllows(wait time.Duration) *failure {
	return &failure{
		status: http.StatusTooManyRequests, title: "Allowed too often", after: wait, cause: ledger.TooManyAllows,
		text: "This account has allowed applications very many times within a day, so nothing was done this time. Please wait, go back and press Allow again.",
	}
}
