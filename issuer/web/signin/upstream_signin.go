package signin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/upstream"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// waitUpstream is the timeout for finishing a sign-in at the provider, including all
// requests to the provider.
const waitUpstream = 20 * time.Second

// retryUpstream is the Retry-After for an unreachable provider.
const retryUpstream = 10 * time.Second

// upstreamLinks has the links on the sign-in page to the provider. Address signs in with
// the account that the provider remembers. Other lets the user choose another account,
// which would not be possible otherwise.
type upstreamLinks struct {
	Name, Address, Other string

	// Continue is the address with which this tab continues after a sign-in in another
	// tab, if the links open there: see isLong. It is "" if they open in this tab.
	Continue string
}

// upstreamLinks returns nil if there is no provider.
func (w *Area) upstreamLinks(key string, body signInBody) *upstreamLinks {
	if w.prover.Upstream == nil {
		return nil
	}
	e := &upstreamLinks{Name: w.prover.Upstream.Name()}
	next := body.Next
	if isLong(next) {
		next, e.Continue, body.Waits = "", continueURL(next, ""), true
	}
	query := url.Values{"token": {site.FormToken(key, forUpstream, "", next)}}
	for name, value := range map[string]string{"next": next, "to": body.To} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if body.Waits {
		query.Set("waits", "1")
	}
	e.Address = pathUpstream + "?" + query.Encode()
	query.Set("account", "other")
	e.Other = pathUpstream + "?" + query.Encode()
	return e
}

// beginUpstream sends the browser to the provider. The link must come from a sign-in page
// of this browser: otherwise any other site could sign in a user who has signed out.
func (w *Area) beginUpstream(c *site.Request) error {
	query := c.R.URL.Query()
	next := query.Get("next")
	body := signInBody{Next: site.EscapeQuery(next), To: w.OwnPage(query.Get("to")), Waits: query.Get("waits") != ""}
	v := w.LoadSession(c)
	if v.User != nil {
		c.SessionID, c.User = v.ID, v.User.ID
		return w.continueSignIn(c, body)
	}
	again := func(status int, alert string) error {
		body.Alert = alert
		w.showSignIn(c, status, v.View, body)
		return nil
	}
	if !site.Genuine(query.Get("token"), w.SentFormKey(c), forUpstream, "", next) {
		return again(http.StatusForbidden, alertOldForm)
	}
	a := &upstreamAttempt{
		Seed: w.Random(), Next: body.Next, To: body.To, Waits: body.Waits,
		Expires: w.Ledger.Now().Add(attemptLifetime),
	}
	address, err := w.prover.Upstream.Begin(a.authRequest(), query.Get("account") == "other")
	if err != nil {
		c.Err = err
		site.RetryAfter(c, retryUpstream)
		return again(http.StatusServiceUnavailable, w.alertUpstream(err))
	}
	if !w.saveAttempt(c, a) {
		a.To = "" // too long, as a page with unusual filters: continue with the home page
		w.saveAttempt(c, a)
	}
	return c.Redirect(address)
}

// finishUpstream handles the provider's redirect back to this server. Every failure shows
// the sign-in page, which keeps the pending address. If the user is signed in already,
// because the browser requested the page twice or by the back button, it redirects to
// that address at once.
func (w *Area) finishUpstream(c *site.Request) error {
	state, answer, readable := readAnswer(c.R)
	var body signInBody
	again := func(status int, alert string) error {
		v := w.LoadSession(c)
		if v.User != nil {
			c.SessionID, c.User = v.ID, v.User.ID
			return w.continueSignIn(c, body)
		}
		body.Alert = alert
		w.showSignIn(c, status, v.View, body)
		return nil
	}
	a := w.attemptOf(c, state)
	if a != nil {
		body.Next, body.To, body.Waits = a.Next, a.To, a.Waits
	}
	if a != nil && a.Confirms != "" && readable {
		return w.finishConfirm(c, a, answer)
	}
	switch {
	case a == nil || !readable:
		return again(http.StatusBadRequest, alertNoAttempt)
	case a.Done:
		return again(http.StatusBadRequest, alertUsedAttempt)
	case w.Ledger.Now() >= a.Expires:
		return again(http.StatusBadRequest, alertLate)
	case c.IsHead(): // a HEAD request must not spend the code
		return site.MethodNotAllowed(http.MethodGet)
	}
	wait, device, forgive := w.prover.AttemptUpstream(c)
	if wait > 0 {
		w.prover.RecordFailure(c, nil, ledger.Throttled)
		site.RetryAfter(c, wait)
		return again(http.StatusTooManyRequests, authn.AlertTooMany(wait))
	}
	ctx, cancel := context.WithTimeout(c.R.Context(), waitUpstream)
	defer cancel()
	who, err := w.prover.Upstream.Finish(ctx, answer, a.authRequest())
	if err != nil {
		c.Err = err
		status := statusUpstream(err)
		if status == http.StatusServiceUnavailable {
			site.RetryAfter(c, retryUpstream)
		} else {
			w.prover.RecordFailure(c, nil, ledger.UpstreamRefused)
		}
		return again(status, w.alertUpstream(err))
	}
	if wait := w.prover.AcceptUpstream(who.Subject); wait > 0 {
		w.prover.RecordFailure(c, nil, ledger.Throttled)
		site.RetryAfter(c, wait)
		return again(http.StatusTooManyRequests, authn.AlertTooMany(wait))
	}
	refused, err := w.startSessionOf(c, who)
	switch {
	case err != nil:
		return fmt.Errorf("sign in: %w", err)
	case refused != nil:
		w.prover.RecordFailure(c, nil, refused.Cause)
		return again(http.StatusForbidden, w.alertRefused(refused))
	}
	forgive()
	w.prover.SaveDevice(c, device)
	a.Done = true
	w.saveAttempt(c, a)
	return w.continueSignIn(c, body)
}

// continueSignIn responds to a browser after a sign-in. If the authorization request is
// pending in another tab, it shows the home page, which reports this.
func (w *Area) continueSignIn(c *site.Request, body signInBody) error {
	if body.Waits {
		return c.RedirectNotice(site.PathHome, site.HomeNotices, "waits")
	}
	return w.continueTo(c, body.Next, body.To)
}

// readAnswer parses the parameters of RFC 6749 §4.1.2. None may be repeated.
func readAnswer(r *http.Request) (state string, a upstream.Answer, ok bool) {
	ok = true
	for name, to := range map[string]*string{"state": &state, "code": &a.Code, "error": &a.Error, "iss": &a.Issuer} {
		value, single := singleParam(r, name)
		*to, ok = value, ok && single
	}
	return state, a, ok
}

// startSessionOf creates a session for the person whom the provider has signed in and, at
// the first sign-in, the account. It ends the browser's previous session.
func (w *Area) startSessionOf(c *site.Request, who upstream.Person) (*ledger.Refusal, error) {
	id := credential.NewSessionID(w.Rand).Reveal()
	command := &ledger.SignInUpstream{
		Session: credential.SessionDigest(id), Issuer: who.Issuer, Subject: who.Subject,
		Person: ledger.Person{
			Name: who.Name, Email: who.Email, AvatarURL: who.Picture, TimeZone: who.TimeZone, Locale: who.Locale,
		},
		Username: who.Username, ID: "u_" + w.Random(), Admin: who.Admin, Agent: agent(c.R), Authenticated: authTime(who),
	}
	switch old, _, err := w.SessionCookie(c.R); {
	case err != nil:
		return nil, err
	case old != "":
		command.Replaces = credential.SessionDigest(old)
	}
	out, index, err := w.Ledger.Propose(c.R.Context(), command)
	switch {
	case err != nil:
		return nil, err
	case out.Unknown:
		return nil, oauth.ErrUnavailable
	case out.Refusal != nil:
		c.Cause = out.Refusal.Cause
		return out.Refusal, nil
	}
	c.SessionID, c.User = id, out.ID
	w.SetSession(c, id, index)
	return nil, nil
}

// Texts of the sign-in page after a sign-in at the provider has failed.
const (
	alertNoAttempt   = "This sign-in was started in another browser or has expired. Sign in again."
	alertUsedAttempt = "This sign-in is complete already. Sign in again."
	alertLate        = "This sign-in took too long and has expired. Sign in again."
)

// alertUpstream returns a text on why the provider has signed nobody in. It repeats
// nothing of the provider's response, which came through the browser and may be forged.
func (w *Area) alertUpstream(err error) string {
	name := w.prover.Upstream.Name()
	denial, denied := errors.AsType[*upstream.Denial](err)
	switch {
	case errors.Is(err, upstream.ErrUnreachable):
		alert := name + " can’t be reached at the moment. Try again in 10 seconds"
		if w.prover.NoPasswords {
			return alert + "."
		}
		return alert + ", or sign in with a password if you have one here."
	case !denied:
		return "The answer of " + name + " could not be accepted. Sign in again. If it happens again, tell an administrator of " + w.Brand().Name + "."
	}
	switch denial.Code {
	case "access_denied":
		return name + " did not sign you in: it was cancelled there, or you may not use " + w.Brand().Name + "."
	case "temporarily_unavailable", "server_error":
		return name + " has a problem at the moment. Try again in 10 seconds."
	case "login_required", "interaction_required", "consent_required", "account_selection_required":
		return name + " needs something of you before it can sign you in. Sign in again."
	}
	return name + " does not accept the requests of " + w.Brand().Name + ". Tell an administrator."
}

// statusUpstream returns the status of the page with alertUpstream.
func statusUpstream(err error) int {
	denial, denied := errors.AsType[*upstream.Denial](err)
	switch {
	case errors.Is(err, upstream.ErrUnreachable), denied && denial.Code == "temporarily_unavailable":
		return http.StatusServiceUnavailable
	case denied && denial.Code != "server_error":
		return http.StatusForbidden
	}
	return http.StatusBadGateway
}

// alertRefused returns a text on why a person whom the provider has signed in is refused here.
func (w *Area) alertRefused(r *ledger.Refusal) string {
	switch r.Cause {
	case ledger.UserDisabled, ledger.UserDeleted:
		return "Your account is disabled. Ask an administrator of " + w.Brand().Name + "."
	}
	return cmp.Or(w.prover.Upstream.Name(), "The provider") + " sent something about you that can’t be stored. Tell an administrator of " + w.Brand().Name + "."
}
