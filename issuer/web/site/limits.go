package site

import (
	"net/http"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/limit"
)

// limits bounds what one signed-in user can do on a node.
type limits struct {
	// changes counts forms by user. Most forms add an event to the audit trail, whose
	// length is bounded, and nobody may displace the events of others. Consent forms are
	// not counted, since the ledger limits them over all nodes.
	changes *limit.Limiter
	// endings counts forms that only end something, by session: see FormKind.ends. An
	// attacker with a stolen session can't prevent the user from ending it by sending
	// forms. Nothing ends twice, so there are no more events of endings than of
	// beginnings, which are limited.
	endings *limit.Limiter
}

// newLimits returns limits with sustained rates far beyond those of a person: 180 an hour.
func newLimits() *limits {
	return &limits{
		changes: limit.New(0.05, 200, 10_000),
		endings: limit.New(0.05, 200, 10_000),
	}
}

// countForm counts a form of the session.
func (w *Site) countForm(v *Session, kind *FormKind) error {
	counted, key := w.limits.changes, v.User.ID
	if kind.Ends {
		counted, key = w.limits.endings, v.Stored.Handle()
	}
	if wait := counted.Take(key, w.Ledger.Now().Std()); wait > 0 {
		return TooManyChanges(wait)
	}
	return nil
}

// TooManyChanges is the failure for a user who sends too many forms. wait is how long until
// the next one is accepted.
func TooManyChanges(wait time.Duration) *Failure {
	return &Failure{
		Status: http.StatusTooManyRequests, Title: "Too many requests", After: wait,
		Text: "You sent many forms in a short time, so this one was not saved. Wait " + WaitText(wait) + ", then use your browser’s Back button and send it again. What you typed is still there.",
	}
}

// SpendChanges uses up a user's limit of forms. It is for tests.
func (w *Site) SpendChanges(user string) {
	for w.limits.changes.Take(user, w.Ledger.Now().Std()) == 0 {
	}
}

// SpendEndings is SpendChanges for the forms of a session that only end something.
func (w *Site) SpendEndings(handle string) {
	for w.limits.endings.Take(handle, w.Ledger.Now().Std()) == 0 {
	}
}
