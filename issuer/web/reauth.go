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
)

// ownPassword is the field for the user's own password, in forms for acts that need a
// sign-in within ledger.ReauthenticateAfter. The page asks for the password where its
// node finds the sign-in too old; the command decides whether it is.
const ownPassword = "own_password"

func ownPasswordField() field { return secretField(ownPassword, "Your password") }

// A reauth is a form's request that the user authenticates again: by password, or by a
// sign-in at the provider. A user who has neither must sign out and sign in again.
type reauth struct {
	Password bool
	Provider string
	Address  string // the link that begins the sign-in at Provider; "" with Password
	Aside    bool   // the link opens in another tab, so that the input in this one is kept
	To       string // the action of the form that needs it, in words; "" if every one does
}

// pathConfirm sends a user who is signed in to the provider again, to authenticate
// there. Like pathUpstream it is below the callback, for the cookies of the attempts.
const pathConfirm = PathUpstreamCallback + "/confirm"

const (
	alertConfirm = "You signed in more than 15 minutes ago, so nothing was done. Please confirm that it is you, as below, and send the form again."
	confirmed    = "confirmed"
)

var reauthNotices = notices{confirmed: "You have confirmed that it is you. You can go on now."}

// askAnew makes a form ask the user to authenticate again, if the sign-in is too old or
// the command refused the form as too old. to is reauth.To.
func (w *Web) askAnew(v *visit, f *form, to string) {
	if v.session.Fresh(w.config.Ledger.Now()) && !f.tooOld {
		return
	}
	f.reauth = &reauth{To: to, Password: w.signsInHere(v.user)}
	if w.config.Upstream == nil || v.user.Upstream == "" || f.reauth.Password {
		return
	}
	page := f.kind.address(f.kind.page, f.values.Get)
	f.reauth.Provider, f.reauth.Aside = w.config.Upstream.Name(), f.failed()
	f.reauth.Address = pathConfirm + "?" + url.Values{
		"to": {page}, "token": {formToken(v.id, forConfirm, v.user.ID, page)},
	}.Encode()
}

// Reauth returns the proof that the form asks for, or nil.
func (f *form) Reauth() *reauth { return f.reauth }

// OwnPassword returns the input for the user's own password. The form must have a
// Reauth.
func (f *form) OwnPassword() input {
	i := f.Input(ownPassword, "You signed in more than 15 minutes ago. It is asked for so that nobody else can do this in a browser that you left open.").As("current-password")
	if f.reauth.To != "" {
		i = i.NeededTo(f.reauth.To)
	}
	return i
}

// reauthenticate reports whether the visit's user may do what the form f asks for,
// as far as this node can tell; the command decides. Where it returns false, it has
// shown the form again with the reason, by show, or it returns an error.
func (w *Web) reauthenticate(c *call, v *visit, f *form, show func(*call, visit, *form) error) (bool, error) {
	proved, err := w.checkProof(c, v, f)
	if proved || err != nil {
		return proved, err
	}
	return false, show(c, *v, f)
}

// checkProof checks the password that the form f was sent with, and returns false
// where the user has to fill in the form again. The bounds on guesses and the
// records of failures are those of a sign-in. A form without a password passes while
// the sign-in is new enough by this node's clock; the command may still refuse it.
func (w *Web) checkProof(c *call, v *visit, f *form) (bool, error) {
	password, here := f.get(ownPassword), w.signsInHere(v.user)
	if v.session.Fresh(w.config.Ledger.Now()) && (password == "" || !here) {
		return true, nil
	}
	switch {
	case !here:
		f.tooOld, f.alert, f.status = true, alertConfirm, http.StatusForbidden
		return false, nil
	case password == "":
		f.wrong(ownPassword, "is missing")
		return false, nil
	case len(password) > credential.MaxPassword:
		f.wrong(ownPassword, "is not right")
		return false, nil
	}
	attempt, err := w.attempt(c, v.view, v.user.Username)
	if err != nil {
		return false, fmt.Errorf("wait for a turn: %w", err)
	}
	if attempt.wait > 0 {
		w.failed(c, v.user, ledger.Throttled)
		retryAfter(c, attempt.wait)
		f.alert, f.status = alertTooMany, http.StatusTooManyRequests
		return false, nil
	}
	u, err := w.checkInTurn(c, v.view, v.user.Username, password, attempt)
	if err != nil {
		return false, fmt.Errorf("check a password: %w", err)
	}
	if u != nil && u.ID == v.user.ID {
		refused, err := w.prove(c, v, &ledger.Reauthenticate{Verified: sha256.Sum256([]byte(u.Password))})
		if err != nil {
			return false, err
		}
		if refused == nil {
			attempt.forgive()
			attempt.device.password = devicePasswordOf(u)
			w.keepDevice(c, attempt.device)
			return true, nil
		}
	}
	w.failed(c, v.user, ledger.PasswordWrong)
	f.wrong(ownPassword, "is not right")
	return false, nil
}

// prove proposes a proof of identity for the visit's session, and updates the visit if
// it was accepted.
func (w *Web) prove(c *call, v *visit, proof *ledger.Reauthenticate) (*ledger.Refusal, error) {
	proof.Session = v.session.ID
	refused, err := w.propose(c, v, "reauthenticate", proof)
	if refused == nil && err == nil {
		s := *v.session
		s.Authenticated = w.config.Ledger.Now()
		v.session = &s
	}
	return refused, err
}

// confirmUpstream sends an administrator to the provider, to sign in there again. The
// link must come from a page of this session, so that another site can't start it.
func (w *Web) confirmUpstream(c *call) error {
	query := c.r.URL.Query()
	to := w.ownPage(query.Get("to"))
	c.back = to
	v, err := w.admit(c, administrators)
	switch {
	case err != nil:
		return err
	case to == "" || !genuine(query.Get("token"), v.id, forConfirm, v.user.ID, to):
		return errNotOurForm
	}
	now := w.config.Ledger.Now()
	a := &attempt{Seed: w.random(), To: to, Confirms: sessionText(&v), Begun: now, Expires: now.Add(attemptTime)}
	address, err := w.config.Upstream.Begin(a.proofs(), false)
	if err != nil {
		return w.unconfirmed(c, to, err)
	}
	w.keepAttempt(c, a)
	return c.redirect(address)
}

// finishConfirm handles the provider's answer to confirmUpstream. It records the proof
// for the session and makes no new one.
func (w *Web) finishConfirm(c *call, a *attempt, answer upstream.Answer) error {
	c.back = a.To
	v, err := w.admit(c, administrators)
	switch {
	case err != nil:
		return err
	case a.Done, a.Confirms != sessionText(&v):
		return c.redirect(a.To) // the page asks again if a proof is still needed
	case w.config.Ledger.Now() >= a.Expires:
		return notConfirmed(http.StatusBadRequest, a.To, "That took too long.")
	case c.head(): // a HEAD request must not spend the code
		return methodNotAllowed(http.MethodGet)
	}
	wait, device, forgive := w.attemptElsewhere(c)
	if wait > 0 {
		w.failed(c, v.user, ledger.Throttled)
		f := notConfirmed(http.StatusTooManyRequests, a.To, alertTooMany)
		f.after = wait
		return f
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), waitUpstream)
	defer cancel()
	who, err := w.config.Upstream.Finish(ctx, answer, a.proofs())
	if err != nil {
		if statusUpstream(err) != http.StatusServiceUnavailable {
			w.failed(c, v.user, ledger.UpstreamRefused)
		}
		return w.unconfirmed(c, a.To, err)
	}
	refused, err := w.prove(c, &v, &ledger.Reauthenticate{Issuer: who.Issuer, Subject: who.Subject, Authenticated: authTime(who)})
	switch {
	case err != nil:
		return err
	case refused != nil:
		w.failed(c, v.user, refused.Cause)
		return notConfirmed(http.StatusForbidden, a.To,
			w.config.Upstream.Name()+" signed in another person than the one who is signed in here. Use the account there that you signed in with.")
	}
	forgive()
	w.keepDevice(c, device)
	a.Done = true
	w.keepAttempt(c, a)
	c.session = v.id
	return c.done(a.To, reauthNotices, confirmed)
}

// authTime returns the provider's auth_time of a person, or 0 if the ID token has none.
func authTime(who upstream.Person) ledger.Time {
	if who.Authenticated.IsZero() {
		return 0
	}
	return ledger.Time(who.Authenticated.UnixMilli())
}

// unconfirmed returns the failure to show for an error of the provider, with a link to
// the page to.
func (w *Web) unconfirmed(c *call, to string, err error) error {
	c.err = err
	if errors.Is(err, upstream.ErrNotAnew) {
		return notConfirmed(http.StatusForbidden, to,
			w.config.Upstream.Name()+" did not ask you to sign in again, or does not say so. If this comes again, sign out here and sign in again.")
	}
	status := statusUpstream(err)
	f := notConfirmed(status, to, w.alertUpstream(err))
	if status == http.StatusServiceUnavailable {
		f.after = retryUpstream
	}
	return f
}

func notConfirmed(status int, to, why string) *failure {
	return &failure{status: status, title: "It could not be confirmed that it is you", text: why + " Nothing was done.", back: to}
}
