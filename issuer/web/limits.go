package web

import (
	"net/http"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/limit"
)

// limits bounds what one person who is signed in does by way of a node.
type limits struct {
	// changes are forms that were sent, by user. Most leave an event in the audit
	// trail, which is of bounded length: nobody shall wash out of it what others
	// did. The consent page's are not among them: the ledger bounds them for all
	// nodes together.
	changes *limit.Limiter
	// endings are forms that only end something, by session: see formKind.ends.
	// Whoever has stolen a session can't keep its owner from ending it by sending
	// forms. Nothing ends twice, so that there are no more events of these than of
	// what began it, which is counted elsewhere.
	endings *limit.Limiter
	// passwords are changes of the own password that were made, by user. Only who
	// knows the password can use this up.
	passwords *limit.Limiter
	offers    *limit.Limiter // of applications; each tells whether there is a user of a name
}

// The sustained rates are far beyond what a person does: 180 an hour.
func newLimits() *limits {
	return &limits{
		changes:   limit.New(0.05, 200, 10_000),
		endings:   limit.New(0.05, 200, 10_000),
		passwords: limit.New(1.0/600, 20, 10_000),
		offers:    limit.New(1.0/60, 10, 10_000),
	}
}

// countForm counts a form that the session sent.
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

// tooManyAllows is a page of ours and no redirect (RFC 6749 §4.1.2.1 has
// temporarily_unavailable): it says how long to wait, and the form that was sent
// is as good after that. An application could only send its user here again.
func tooManyAllows(wait time.Duration) *failure {
	return &failure{
		status: http.StatusTooManyRequests, title: "Allowed too often", after: wait, cause: ledger.TooManyAllows,
		text: "This account has allowed applications very many times within a day, so nothing was done this time. Please wait, go back and press Allow again.",
	}
}
