package web

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
func (w *Web) upstreamLinks(key string, body signInBody) *upstreamLinks {
	if w.config.Upstream == nil {
		return nil
	}
	e := &upstreamLinks{Name: w.config.Upstream.Name()}
	next := body.Next
	if isLong(next) {
		next, e.Continue, body.Waits = "", continueURL(next, ""), true
	}
	query := url.Values{"token": {formToken(key, forUpstream, "", next)}}
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
func (w *Web) beginUpstream(c *request) error {
	query := c.r.URL.Query()
	next := query.Get("next")
	body := signInBody{Next: escapeQuery(next), To: w.ownPage(query.Get("to")), Waits: query.Get("waits") != ""}
	v := w.loadSession(c)
	if v.user != nil {
		c.sessionID, c.user = v.id, v.user.ID
		return w.continueSignIn(c, body)
	}
	again := func(status int, alert string) error {
		body.Alert = alert
		w.showSignIn(c, status, v.view, body)
		return nil
	}
	if !genuine(query.Get("token"), w.sentFormKey(c), forUpstream, "", next) {
		return again(http.StatusForbidden, alertOldForm)
	}
	a := &upstreamAttempt{
		Seed: w.random(), Next: body.Next, To: body.To, Waits: body.Waits,
		Expires: w.config.Ledger.Now().Add(attemptLifetime),
	}
	address, err := w.config.Upstream.Begin(a.authRequest(), query.Get("account") == "other")
	if err != nil {
		c.err = err
		retryAfter(c, retryUpstream)
		return again(http.StatusServiceUnavailable, w.alertUpstream(err))
	}
	if !w.saveAttempt(c, a) {
		a.To = "" // too long, as a page with unusual filters: continue with the home page
		w.saveAttempt(c, a)
	}
	return c.redirect(address)
}

// finishUpstream handles the provider's redirect back to this server. Every failure shows
// the sign-in page, which keeps the pending address. If the user is signed in already,
// because the browser requested the page twice or by the back button, it redirects to
// that address at once.
func (w *Web) finishUpstream(c *request) error {
	state, answer, readable := readAnswer(c.r)
	var body signInBody
	again := func(status int, alert string) error {
		v := w.loadSession(c)
		if v.user != nil {
			c.sessionID, c.user = v.id, v.user.ID
			return w.continueSignIn(c, body)
		}
		body.Alert = alert
		w.showSignIn(c, status, v.view, body)
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
	case w.config.Ledger.Now() >= a.Expires:
		return again(http.StatusBadRequest, alertLate)
	case c.isHead(): // a HEAD request must not spend the code
		return methodNotAllowed(http.MethodGet)
	}
	wait, device, forgive := w.attemptUpstream(c)
	if wait > 0 {
		w.recordFailure(c, nil, ledger.Throttled)
		retryAfter(c, wait)
		return again(http.StatusTooManyRequests, alertTooMany)
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), waitUpstream)
	defer cancel()
	who, err := w.config.Upstream.Finish(ctx, answer, a.authRequest())
	if err != nil {
		c.err = err
		status := statusUpstream(err)
		if status == http.StatusServiceUnavailable {
			retryAfter(c, retryUpstream)
		} else {
			w.recordFailure(c, nil, ledger.UpstreamRefused)
		}
		return again(status, w.alertUpstream(err))
	}
	if wait := w.attempts.acceptUpstream(who.Subject, w.config.Ledger.Now().Std()); wait > 0 {
		w.recordFailure(c, nil, ledger.Throttled)
		retryAfter(c, wait)
		return again(http.StatusTooManyRequests, alertTooMany)
	}
	refused, err := w.startSessionOf(c, who)
	switch {
	case err != nil:
		return fmt.Errorf("sign in: %w", err)
	case refused != nil:
		w.recordFailure(c, nil, refused.Cause)
		return again(http.StatusForbidden, w.alertRefused(refused))
	}
	forgive()
	w.saveDevice(c, device)
	a.Done = true
	w.saveAttempt(c, a)
	return w.continueSignIn(c, body)
}

// continueSignIn responds to a browser after a sign-in. If the authorization request is
// pending in another tab, it shows the home page, which reports this.
func (w *Web) continueSignIn(c *request, body signInBody) error {
	if body.Waits {
		return c.redirectNotice(pathHome, homeNotices, "waits")
	}
	return w.continueTo(c, body.Next, body.To)
}

// attemptUpstream counts a response of the provider, like attemptPassword.
func (w *Web) attemptUpstream(c *request) (time.Duration, device, func()) {
	now := w.config.Ledger.Now().Std()
	d, known := w.device(c, upstreamDeviceOwner, devicePassword{})
	if known {
		if forgive, ok := w.attempts.tryUpstreamDevice(d.id, now); ok {
			return 0, d, forgive
		}
		w.dropDevice(c, d)
		d = w.newDevice(d.owner, d.password)
	}
	wait, forgive := w.attempts.tryUpstream(w.config.ClientIP(c.r), now)
	return wait, d, forgive
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
func (w *Web) startSessionOf(c *request, who upstream.Person) (*ledger.Refusal, error) {
	id := credential.NewSessionID(w.config.Rand).Reveal()
	command := &ledger.SignInUpstream{
		Session: credential.SessionDigest(id), Issuer: who.Issuer, Subject: who.Subject,
		Person: ledger.Person{
			Name: who.Name, Email: who.Email, AvatarURL: who.Picture, TimeZone: who.TimeZone, Locale: who.Locale,
		},
		Username: who.Username, ID: "u_" + w.random(), Admin: who.Admin, Agent: agent(c.r), Authenticated: authTime(who),
	}
	switch old, _, err := w.sessionCookie(c.r); {
	case err != nil:
		return nil, err
	case old != "":
		command.Replaces = credential.SessionDigest(old)
	}
	out, index, err := w.config.Ledger.Propose(c.r.Context(), command)
	switch {
	case err != nil:
		return nil, err
	case out.Unknown:
		return nil, oauth.ErrUnavailable
	case out.Refusal != nil:
		c.cause = out.Refusal.Cause
		return out.Refusal, nil
	}
	c.sessionID, c.user = id, out.ID
	w.setSession(c, id, index)
	return nil, nil
}

// Texts of the sign-in page after a sign-in at the provider has failed.
const (
	alertNoAttempt   = "This sign-in was not begun in this browser, or too long ago. Please sign in again."
	alertUsedAttempt = "This sign-in was finished before. Please sign in again."
	alertLate        = "That took too long, so the sign-in was ended. Please sign in again."
)

// alertUpstream returns a text on why the provider has signed nobody in. It repeats
// nothing of the provider's response, which came through the browser and may be forged.
func (w *Web) alertUpstream(err error) string {
	name := w.config.Upstream.Name()
	denial, denied := errors.AsType[*upstream.Denial](err)
	switch {
	case errors.Is(err, upstream.ErrUnreachable):
		alert := name + " can’t be reached at the moment. Please try again in a little while"
		if w.config.NoPasswords {
			return alert + "."
		}
		return alert + ", or sign in with a password if you have one here."
	case !denied:
		return "The answer of " + name + " could not be accepted. Please sign in again. If this comes again, tell the people who run this service."
	}
	switch denial.Code {
	case "access_denied":
		return name + " did not sign you in: it was cancelled there, or you may not use this service."
	case "temporarily_unavailable", "server_error":
		return name + " has a problem at the moment. Please try again in a little while."
	case "login_required", "interaction_required", "consent_required", "account_selection_required":
		return name + " needs something of you before it can sign you in. Please sign in again."
	}
	return name + " does not take the requests of this service. Please tell the people who run it."
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
func (w *Web) alertRefused(r *ledger.Refusal) string {
	switch r.Cause {
	case ledger.UserDisabled, ledger.UserDeleted:
		return "Your account at this service is disabled. Please ask the people who run it."
	}
	return cmp.Or(w.config.Upstream.Name(), "The provider") + " sent something about you that this service can’t store. Please tell the people who run this service."
}
