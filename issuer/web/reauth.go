package web

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/upstream"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// ownPassword is the field for the user's own password, in forms for actions that need a
// sign-in within ledger.ReauthenticateAfter. The page requests the password if its node
// considers the sign-in too old; the command decides.
const ownPassword = "own_password"

func ownPasswordField() field { return secretField(ownPassword, "Your password") }

// A reauth is a form's request that the user authenticates again, by password or by a
// sign-in at the provider. A user who can do neither must sign out and sign in again.
type reauth struct {
	Password bool
	Provider string
	Address  string // the link that begins the sign-in at Provider; "" with Password
	NewTab   bool   // the link opens in another tab, to keep the input in this one
	To       string // the action of the form that needs it, in words; "" if all do
}

// pathConfirm sends a signed-in user to the provider, to authenticate again. Like
// pathUpstream it is below the callback, for the cookies of attempts.
const pathConfirm = PathUpstreamCallback + "/confirm"

const (
	alertConfirm = "You signed in more than 15 minutes ago, so nothing was done. Please confirm that it is you, as below, and send the form again."
	confirmed    = "confirmed"
)

var reauthNotices = notices{confirmed: "You have confirmed that it is you. You can go on now."}

// requireReauth makes a form ask the user to authenticate again if the sign-in is too
// old, or if the command refused the form for that reason. to is reauth.To.
func (w *Web) requireReauth(v *session, f *form, to string) {
	if v.stored.Fresh(w.config.Ledger.Now()) && !f.signInTooOld {
		return
	}
	f.reauth = &reauth{To: to, Password: w.hasLocalPassword(v.user)}
	if w.config.Upstream == nil || v.user.Upstream == "" || f.reauth.Password {
		return
	}
	page := f.kind.address(f.kind.page, f.values.Get)
	f.reauth.Provider, f.reauth.NewTab = w.config.Upstream.Name(), f.Failed()
	f.reauth.Address = pathConfirm + "?" + url.Values{
		"to": {page}, "token": {formToken(v.id, forConfirm, v.user.ID, page)},
	}.Encode()
}

// Reauth returns the proof that the form requests, or nil.
func (f *form) Reauth() *reauth { return f.reauth }

// OwnPassword returns the input for the user's own password. The form must have a Reauth.
func (f *form) OwnPassword() ui.Input {
	i := f.Input(ownPassword, "You signed in more than 15 minutes ago. It is asked for so that nobody else can do this in a browser that you left open.").As("current-password")
	if f.reauth.To != "" {
		i = i.NeededTo(f.reauth.To)
	}
	return i
}

// reauthenticate reports whether the session's user may perform the action of f, as far
// as this node knows; the command decides. If it returns false, it has shown the form
// again with the reason, by calling show, or it returns an error.
func (w *Web) reauthenticate(c *request, v *session, f *form, show func(*request, session, *form) error) (bool, error) {
	proved, err := w.checkReauth(c, v, f)
	if proved || err != nil {
		return proved, err
	}
	return false, show(c, *v, f)
}

// checkReauth verifies the password in f, and returns false if the user has to fill in
// the form again. Limits on guesses and records of failures are those of a sign-in. A
// form without a password passes while the sign-in is recent enough by this node's clock;
// the command may still refuse it.
func (w *Web) checkReauth(c *request, v *session, f *form) (bool, error) {
	password, here := f.get(ownPassword), w.hasLocalPassword(v.user)
	if v.stored.Fresh(w.config.Ledger.Now()) && (password == "" || !here) {
		return true, nil
	}
	switch {
	case !here:
		f.signInTooOld, f.alert, f.status = true, alertConfirm, http.StatusForbidden
		return false, nil
	case password == "":
		f.addProblem(ownPassword, "is missing")
		return false, nil
	case len(password) > credential.MaxPassword:
		f.addProblem(ownPassword, "is not right")
		return false, nil
	}
	attempt, err := w.attemptPassword(c, v.view, v.user.Username)
	if err != nil {
		return false, fmt.Errorf("wait for a turn: %w", err)
	}
	if attempt.wait > 0 {
		w.recordFailure(c, v.user, ledger.Throttled)
		retryAfter(c, attempt.wait)
		f.alert, f.status = alertTooMany, http.StatusTooManyRequests
		return false, nil
	}
	u, err := w.checkQueued(c, v.view, v.user.Username, password, attempt)
	if err != nil {
		return false, fmt.Errorf("check a password: %w", err)
	}
	if u != nil && u.ID == v.user.ID {
		refused, err := w.proposeReauth(c, v, &ledger.Reauthenticate{VerifiedHash: sha256.Sum256([]byte(u.Password))})
		if err != nil {
			return false, err
		}
		if refused == nil {
			attempt.reset()
			attempt.device.password = devicePasswordOf(u)
			w.saveDevice(c, attempt.device)
			return true, nil
		}
	}
	w.recordFailure(c, v.user, ledger.PasswordWrong)
	f.addProblem(ownPassword, "is not right")
	return false, nil
}

// proposeReauth proposes a proof of identity for the session, and updates v if it was accepted.
func (w *Web) proposeReauth(c *request, v *session, proof *ledger.Reauthenticate) (*ledger.Refusal, error) {
	proof.Session = v.stored.ID
	refused, err := w.propose(c, v, "reauthenticate", proof)
	if refused == nil && err == nil {
		s := *v.stored
		s.Authenticated = w.config.Ledger.Now()
		v.stored = &s
	}
	return refused, err
}

// confirmUpstream sends an administrator to the provider, to sign in there again. The
// link must come from a page of this session, so that another site can't start it.
func (w *Web) confirmUpstream(c *request) error {
	query := c.r.URL.Query()
	to := w.ownPage(query.Get("to"))
	c.returnTo = to
	v, err := w.admit(c, administrators)
	switch {
	case err != nil:
		return err
	case to == "" || !genuine(query.Get("token"), v.id, forConfirm, v.user.ID, to):
		return errNotOurForm
	}
	now := w.config.Ledger.Now()
	a := &upstreamAttempt{Seed: w.random(), To: to, Confirms: sessionText(&v), Begun: now, Expires: now.Add(attemptLifetime)}
	address, err := w.config.Upstream.Begin(a.authRequest(), false)
	if err != nil {
		return w.confirmError(c, to, err)
	}
	w.saveAttempt(c, a)
	return c.redirect(address)
}

// finishConfirm handles the provider's response to confirmUpstream. It records the proof
// for the session and creates no session.
func (w *Web) finishConfirm(c *request, a *upstreamAttempt, answer upstream.Answer) error {
	c.returnTo = a.To
	v, err := w.admit(c, administrators)
	switch {
	case err != nil:
		return err
	case a.Done, a.Confirms != sessionText(&v):
		return c.redirect(a.To) // the page requests another proof if one is still needed
	case w.config.Ledger.Now() >= a.Expires:
		return confirmFailure(http.StatusBadRequest, a.To, "That took too long.")
	case c.isHead(): // a HEAD request must not spend the code
		return methodNotAllowed(http.MethodGet)
	}
	wait, device, forgive := w.attemptUpstream(c)
	if wait > 0 {
		w.recordFailure(c, v.user, ledger.Throttled)
		f := confirmFailure(http.StatusTooManyRequests, a.To, alertTooMany)
		f.after = wait
		return f
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), waitUpstream)
	defer cancel()
	who, err := w.config.Upstream.Finish(ctx, answer, a.authRequest())
	if err != nil {
		if statusUpstream(err) != http.StatusServiceUnavailable {
			w.recordFailure(c, v.user, ledger.UpstreamRefused)
		}
		return w.confirmError(c, a.To, err)
	}
	refused, err := w.proposeReauth(c, &v, &ledger.Reauthenticate{Issuer: who.Issuer, Subject: who.Subject, Authenticated: authTime(who)})
	switch {
	case err != nil:
		return err
	case refused != nil:
		w.recordFailure(c, v.user, refused.Cause)
		return confirmFailure(http.StatusForbidden, a.To,
			w.config.Upstream.Name()+" signed in another person than the one who is signed in here. Use the account there that you signed in with.")
	}
	forgive()
	w.saveDevice(c, device)
	a.Done = true
	w.saveAttempt(c, a)
	c.sessionID = v.id
	return c.redirectNotice(a.To, reauthNotices, confirmed)
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
func (w *Web) confirmError(c *request, to string, err error) error {
	c.err = err
	if errors.Is(err, upstream.ErrNotReauthenticated) {
		return confirmFailure(http.StatusForbidden, to,
			w.config.Upstream.Name()+" did not ask you to sign in again, or does not say so. If this comes again, sign out here and sign in again.")
	}
	status := statusUpstream(err)
	f := confirmFailure(status, to, w.alertUpstream(err))
	if status == http.StatusServiceUnavailable {
		f.after = retryUpstream
	}
	return f
}

func confirmFailure(status int, to, why string) *failure {
	return &failure{status: status, title: "It could not be confirmed that it is you", text: why + " Nothing was done.", back: to}
}
