package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

const (
	maxUsername = 200 // bytes
	maxAgent    = 200 // bytes of User-Agent that are stored with the session

	// waitPassword is how long a sign-in waits in the hash queue.
	waitPassword = 5 * time.Second
)

// Texts of the sign-in page above its form.
const (
	alertWrong       = "The username or the password is not right."
	alertEmpty       = "Please enter your username and your password."
	alertTooMany     = "There were too many attempts. Please wait a little before you try again."
	alertOldForm     = "The page was open for too long, or your browser did not send back its cookie. Please sign in again."
	alertNoPasswords = "Passwords of this service are not used any more. Please sign in elsewhere, as below."
	alertUndone      = "You are signed out, and nothing was done since then. Please sign in again."
	alertSignedOut   = "You have been signed out meanwhile, so nothing was done. Please sign in again."
)

// Notes are texts that the query of the page requests. Anybody can make a link with
// noteUndone, which is true for everybody who sees the page; the other note needs a
// token.
const (
	noteUndone     = "undone"
	noteEverywhere = "everywhere"
)

type signInBody struct {
	Next     string // the query of the pending authorization request, or ""
	Client   string // its application
	To       string // the pending page of this server, or ""
	Waits    bool   // an authorization request is pending in another tab: see isLong
	Username string
	Status   string
	Alert    string
	Token    string

	Upstream  *upstreamLinks // nil if there is no provider
	Passwords bool           // users may sign in by password
}

var signInForm = formKind{
	purpose: forSignIn, action: pathSignIn, page: pathSignIn,
	fields: []field{
		textField("next", ""), textField("to", ""),
		textField("username", "Username"), secretField("password", "Password"),
	},
}

// signInPage shows the sign-in page.
func (w *Web) signInPage(c *request) error {
	v := w.loadSession(c)
	query := c.r.URL.Query()
	to := w.ownPage(query.Get("to"))
	if v.user != nil {
		return c.redirect(cmp.Or(to, pathHome))
	}
	body := signInBody{To: to}
	switch note := query.Get("note"); {
	case v.unavailable:
	case note == noteUndone:
		body.Alert = alertUndone
	case verifyNotice(note, w.sentFormKey(c), "", pathSignIn) == noteEverywhere:
		body.Status = "You are signed out in every browser."
	}
	w.showSignIn(c, http.StatusOK, v.view, body)
	return nil
}

// showSignIn shows the form. It parses the pending request again from the query in the
// form, since signing in may end in an immediate redirect to the client.
func (w *Web) showSignIn(c *request, status int, view ledger.View, body signInBody) {
	if body.Next != "" {
		if r, bad := oauth.ParseAuthorizationRequest(body.Next); bad == nil {
			if a, problem := view.Authorize(r); problem == nil || !problem.Page {
				body.Client = a.Client.Name
			}
		}
	}
	key := w.formKey(c)
	body.Token = formToken(key, forSignIn, "", body.Next)
	body.Upstream, body.Passwords = w.upstreamLinks(key, body), !w.config.NoPasswords
	title := "Sign in"
	if body.Alert != "" {
		title = "Sign in again"
	}
	w.render(c, status, "signin", ui.Page{Title: title, Body: body})
}

// signIn verifies a password and creates a session. The response to a wrong name and to a
// wrong password is the same and takes the same time.
func (w *Web) signIn(c *request, f *form) error {
	view := w.config.Ledger.View()
	body := signInBody{Next: escapeQuery(f.get("next")), To: w.ownPage(f.get("to")), Username: f.get("username")}
	again := func(status int, alert string) error {
		body.Alert = alert
		w.showSignIn(c, status, view, body)
		return nil
	}
	name, password := f.trimmed("username"), f.get("password")
	switch {
	case w.config.NoPasswords:
		return again(http.StatusForbidden, alertNoPasswords)
	case len(name) > maxUsername:
		body.Username = ""
		return again(http.StatusUnprocessableEntity, alertWrong)
	case len(password) > credential.MaxPassword:
		return again(http.StatusUnprocessableEntity, alertWrong)
	case len(f.get("next")) > oauth.MaxQuery:
		body.Next = ""
		return again(http.StatusUnprocessableEntity, alertOldForm)
	case !genuine(f.token, w.sentFormKey(c), forSignIn, "", f.get("next")):
		return again(http.StatusForbidden, alertOldForm)
	case name == "" || password == "":
		return again(http.StatusUnprocessableEntity, alertEmpty)
	}
	attempt, err := w.attemptPassword(c, view, name)
	if err != nil {
		return fmt.Errorf("wait for a turn: %w", err)
	}
	if attempt.wait > 0 {
		w.recordFailure(c, view.UserByName(name), ledger.Throttled)
		retryAfter(c, attempt.wait)
		return again(http.StatusTooManyRequests, alertTooMany)
	}
	u, err := w.checkQueued(c, view, name, password, attempt)
	if err != nil {
		return fmt.Errorf("check a password: %w", err)
	}
	if u != nil {
		if wait := w.attempts.accept(u.ID, w.config.Ledger.Now().Std()); wait > 0 {
			w.recordFailure(c, u, ledger.Throttled)
			retryAfter(c, wait)
			return again(http.StatusTooManyRequests, alertTooMany)
		}
		switch done, err := w.startSession(c, u); {
		case err != nil:
			return fmt.Errorf("sign in: %w", err)
		case done:
			attempt.reset()
			attempt.device.password = devicePasswordOf(u) // u may be newer than the view
			w.saveDevice(c, attempt.device)
			return w.continueTo(c, body.Next, body.To)
		}
	}
	w.recordNameFailure(c, view, name)
	return again(http.StatusUnprocessableEntity, alertWrong)
}

// checkQueued leaves the hash queue before anything is written, so that a slow reader of
// the response doesn't occupy a place.
func (w *Web) checkQueued(c *request, view ledger.View, name, password string, a passwordAttempt) (*ledger.User, error) {
	defer a.release()
	u, err := w.authenticate(c, view, name, password)
	if err != nil || u == nil || u.PasswordCost.Kind == "" {
		return u, err
	}
	return w.upgradePassword(c, u, password)
}

// upgradePassword replaces a hash that another system made, of a user who has just entered
// the password, and returns the user with the new hash, or nil if the password changed.
func (w *Web) upgradePassword(c *request, u *ledger.User, password string) (*ledger.User, error) {
	ctx, cancel := context.WithTimeout(c.r.Context(), waitPassword)
	defer cancel()
	hash, err := w.config.Passwords.Hash(ctx, password)
	if err != nil {
		return nil, err
	}
	out, _, err := w.config.Ledger.Propose(ctx, &ledger.UpgradePassword{
		User: u.ID, VerifiedHash: sha256.Sum256([]byte(u.Password)), Password: hash,
	})
	switch {
	case err != nil:
		return nil, err
	case out.Unknown:
		return nil, oauth.ErrUnavailable
	case out.Refusal == nil:
		next := *u
		next.Password, next.PasswordCost = hash, ledger.HashCost{}
		return &next, nil
	}
	// Another sign-in may have done it, or the password has changed.
	fresh, err := w.config.Ledger.ViewFresh(ctx)
	if err != nil {
		return nil, err
	}
	return w.authenticate(c, fresh, u.Username, password)
}

// authenticate returns the user with a name and password, or nil. Before it returns nil,
// it tries again on a fresh view, since this node may not know a new user or password
// yet.
func (w *Web) authenticate(c *request, view ledger.View, name, password string) (*ledger.User, error) {
	ctx, cancel := context.WithTimeout(c.r.Context(), waitPassword)
	defer cancel()
	u, hash := account(view, name)
	right, err := w.matches(ctx, c, view, hash, password)
	if err != nil || right {
		return u, err
	}
	fresh, err := w.freshFor(ctx, c)
	if err != nil {
		return nil, err
	}
	u, newer := account(fresh, name)
	if newer == hash {
		return nil, nil
	}
	right, err = w.matches(ctx, c, fresh, newer, password)
	if err != nil || !right {
		return nil, err
	}
	return u, nil
}

// account returns a user and the hash to verify against. The hash is "" for a user who
// may not sign in: verifying then costs the same and fails.
func account(view ledger.View, name string) (*ledger.User, string) {
	u := view.UserByName(name)
	if u == nil || u.Disabled || u.Deleted {
		return nil, ""
	}
	return u, u.Password
}

// matches reports whether the password is correct. It logs a damaged hash and returns
// false, since an error page would reveal that the account exists.
func (w *Web) matches(ctx context.Context, c *request, view ledger.View, hash, password string) (bool, error) {
	right, err := w.config.Passwords.Check(ctx, hash, password, view.DearestHashes())
	if errors.Is(err, credential.ErrHash) {
		c.err = err
		return false, nil
	}
	return right, err
}

// startSession creates a session with a new id and ends the browser's previous one. done
// is false if the user has changed since the password was verified.
func (w *Web) startSession(c *request, u *ledger.User) (done bool, err error) {
	id := credential.NewSessionID(w.config.Rand).Reveal()
	command := &ledger.SignIn{
		Session: credential.SessionDigest(id), User: u.ID,
		VerifiedHash: sha256.Sum256([]byte(u.Password)), Agent: agent(c.r),
	}
	switch old, _, err := w.sessionCookie(c.r); {
	case err != nil:
		return false, err
	case old != "":
		command.Replaces = credential.SessionDigest(old)
	}
	out, index, err := w.config.Ledger.Propose(c.r.Context(), command)
	switch {
	case err != nil:
		return false, err
	case out.Unknown:
		return false, oauth.ErrUnavailable
	case out.Refusal != nil:
		c.cause = out.Refusal.Cause
		return false, nil
	}
	c.user = u.ID
	w.setSession(c, id, index)
	return true, nil
}

// agent returns the browser's name in a form that is valid in a command, since a header
// may contain any bytes.
func agent(r *http.Request) string {
	s := r.UserAgent()
	if len(s) > maxAgent {
		s = s[:maxAgent]
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "")
	}
	return s
}
