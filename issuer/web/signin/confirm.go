package signin

import (
	"context"
	"errors"
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/upstream"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// confirmUpstream sends an administrator to the provider, to sign in there again. The
// link must come from a page of this session, so that another site can't start it.
func (w *Area) confirmUpstream(c *site.Request) error {
	query := c.R.URL.Query()
	to := w.OwnPage(query.Get("to"))
	c.ReturnTo = to
	v, err := w.Admit(c, site.Administrators)
	switch {
	case err != nil:
		return err
	case to == "" || !site.Genuine(query.Get("token"), v.ID, authn.ForConfirm, v.User.ID, to):
		return &site.Failure{
			Status: http.StatusForbidden, Title: "This link has expired", Back: to,
			Text: "Open the page that you came from and confirm again. Nothing was changed.",
		}
	}
	now := w.Ledger.Now()
	a := &upstreamAttempt{Seed: w.Random(), To: to, Confirms: site.SessionText(&v), Begun: now, Expires: now.Add(attemptLifetime)}
	address, err := w.prover.Upstream.Begin(a.authRequest(), false)
	if err != nil {
		return w.confirmError(c, to, err)
	}
	w.saveAttempt(c, a)
	return c.Redirect(address)
}

// finishConfirm handles the provider's response to confirmUpstream. It records the proof
// for the session and creates no session.
func (w *Area) finishConfirm(c *site.Request, a *upstreamAttempt, answer upstream.Answer) error {
	c.ReturnTo = a.To
	v, err := w.Admit(c, site.Administrators)
	switch {
	case err != nil:
		return err
	case a.Done, a.Confirms != site.SessionText(&v):
		return c.Redirect(a.To) // the page requests another proof if one is still needed
	case w.Ledger.Now() >= a.Expires:
		return confirmFailure(http.StatusBadRequest, a.To, "That took too long.")
	case c.IsHead(): // a HEAD request must not spend the code
		return site.MethodNotAllowed(http.MethodGet)
	}
	wait, device, forgive := w.prover.AttemptUpstream(c)
	if wait > 0 {
		w.prover.RecordFailure(c, v.User, ledger.Throttled)
		f := confirmFailure(http.StatusTooManyRequests, a.To, authn.AlertTooMany(wait))
		f.After = wait
		return f
	}
	ctx, cancel := context.WithTimeout(c.R.Context(), waitUpstream)
	defer cancel()
	who, err := w.prover.Upstream.Finish(ctx, answer, a.authRequest())
	if err != nil {
		if statusUpstream(err) != http.StatusServiceUnavailable {
			w.prover.RecordFailure(c, v.User, ledger.UpstreamRefused)
		}
		return w.confirmError(c, a.To, err)
	}
	refused, err := w.Propose(c, &v, "reauthenticate", &ledger.Reauthenticate{
		Session: v.Stored.ID, Issuer: who.Issuer, Subject: who.Subject, Authenticated: authTime(who),
	})
	switch {
	case err != nil:
		return err
	case refused != nil:
		w.prover.RecordFailure(c, v.User, refused.Cause)
		return confirmFailure(http.StatusForbidden, a.To,
			w.prover.Upstream.Name()+" signed in somebody else. Use the account that you signed in with here.")
	}
	forgive()
	w.prover.SaveDevice(c, device)
	a.Done = true
	w.saveAttempt(c, a)
	c.SessionID = v.ID
	return c.RedirectNotice(a.To, authn.ReauthNotices, authn.Confirmed)
}

// authTime returns the provider's auth_time of a person, or 0 if the ID token has none.
func authTime(who upstream.Person) ledger.Time {
	if who.Authenticated.IsZero() {
		return 0
	}
	return ledger.Time(who.Authenticated.UnixMilli())
}

// confirmError returns the failure to show for an error of the provider, with a link to
// the page to.
func (w *Area) confirmError(c *site.Request, to string, err error) error {
	c.Err = err
	if errors.Is(err, upstream.ErrNotReauthenticated) {
		return confirmFailure(http.StatusForbidden, to,
			w.prover.Upstream.Name()+" did not ask you to sign in again, or doesn’t say so. If it happens again, sign out here and sign in again.")
	}
	status := statusUpstream(err)
	f := confirmFailure(status, to, w.alertUpstream(err))
	if status == http.StatusServiceUnavailable {
		f.After = retryUpstream
	}
	return f
}

func confirmFailure(status int, to, why string) *site.Failure {
	return &site.Failure{Status: status, Title: "You weren’t confirmed", Text: why + " Nothing was changed.", Back: to}
}
