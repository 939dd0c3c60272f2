package site

import (
	"net/http"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/limit"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// limits bounds what one signed-in user can do on a node.
type limits struct {
	// changes counts forms by user. Most forms add an event to the audit trail, whose
	// length is bounded, and nobody may displace the events of others. Consent forms are
	// not counted, since the ledger limits them over all nodes.
	changes *limit.Limiter
	// endings counts forms that only end something, by session: see FormKind.Ends. An
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

// countForm counts a form of the session, or returns how long until one is accepted.
func (w *Site) countForm(v *Session, kind *FormKind) (wait time.Duration) {
	counted, key := w.limits.changes, v.User.ID
	if kind.Ends {
		counted, key = w.limits.endings, v.Stored.Handle()
	}
	return counted.Take(key, w.Ledger.Now().Std())
}

// throttled shows a form that was sent too early, to be sent again. Files are chosen again. A
// form with passwords or other confidential values isn't shown: its own page asks for them.
func (w *Site) throttled(c *Request, v Session, f *Form, wait time.Duration) error {
	body := throttledBody{Form: f, Text: tooManyForms + "Wait " + WaitText(wait) + ", then send it again."}
	files := len(f.files)+len(f.problems) > 0 // a file that is too large is a problem
	switch {
	case f.confidential() || !f.strip():
		return TooManyChanges(wait)
	case files:
		body.Inputs = f.NotKept()
	default:
		body.Text += " Nothing you typed is lost."
	}
	RetryAfter(c, wait)
	kind := *f.Kind
	kind.Revisited = false // the page has nothing typed to restore
	f.Kind, f.status = &kind, http.StatusTooManyRequests
	return w.own.Show(c, v, "throttled", ui.Page{Title: titleTooMany, Form: f, Body: body})
}

type throttledBody struct {
	Form   *Form
	Text   string
	Inputs []ui.Input // to be filled in again
}

const (
	titleTooMany = "Too many requests"
	tooManyForms = "You sent many forms in a short time, so this one was not saved. "
)

// TooManyChanges is the failure for a user who sends too many forms. wait is how long until
// the next one is accepted. The page that showed the form is linked, and no input is repeated.
func TooManyChanges(wait time.Duration) *Failure {
	return &Failure{
		Status: http.StatusTooManyRequests, Title: titleTooMany, After: wait, Again: "Open the form again",
		Text: tooManyForms + "Wait " + WaitText(wait) + ", then fill it in again.",
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
