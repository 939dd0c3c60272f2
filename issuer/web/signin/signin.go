package signin

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

const (
	maxUsername      = 200 // bytes
	maxAgent         = 200 // bytes of User-Agent that are stored with the session
	alertWrong       = "Wrong username or password."
	alertEmpty       = "Enter your username and password."
	alertOldForm     = "This page was open too long, or your browser blocks cookies. Sign in again."
	alertNoPasswords = "Passwords are not used here any more. Sign in as below."
	alertUndone      = "You’re signed out, so nothing was saved. Sign in and try again."
	alertSignedOut   = "You were signed out while this page was open, so nothing was shared. Sign in and decide again."
)

type signInBody struct {
	Next     string // the query of the pending authorization request, or ""
	Client   string // its application
	To       string // the pending page of this server, or ""
	Waits    bool   // an authorization request is pending in another tab: see isLong
	Username string
	Status   string
	Alert    string
	Tone     string // of Alert: red is for a refused attempt only
	Token    string
	Service  string

	Forgot    parts.Forgot
	Upstream  *upstreamLinks // nil if there is no provider
	Passwords bool           // users may sign in by password
}

// leavesApplications reports whether the sign-in is for pages of this server only, so that no
// application waits in another window for it to end.
func (b *signInBody) leavesApplications() bool {
	return b.Next == "" && !b.Waits && !strings.HasPrefix(b.To, site.PathAuthorize) && !strings.HasPrefix(b.To, site.PathWaiting)
}

var signInForm = site.FormKind{
	Purpose: forSignIn, Action: site.PathSignIn, Page: site.PathSignIn,
	Fields: []site.Field{
		site.TextField("next", ""), site.TextField("to", ""),
		site.TextField("username", "Username"), site.SecretField("password", "Password"),
	},
}

var signedOutNotices = map[string]string{
	site.NoteSignedOut:  "You’re signed out. Apps that you connected stay connected.",
	site.NoteEverywhere: "You’re signed out in every browser. Apps that you connected stay connected.",
}

// signInPage shows the sign-in page.
func (w *Area) signInPage(c *site.Request) error {
	v := w.LoadSession(c)
	query := c.R.URL.Query()
	body := signInBody{To: w.OwnPage(query.Get("to"))}
	if plain, err := w.Forms.OpenForm(query.Get("request")); err == nil {
		if next, ok := strings.CutPrefix(string(plain), signInPrefix); ok {
			body.Next = site.EscapeQuery(next)
		}
	}
	if v.User != nil {
		return c.Redirect(continueURL(body.Next, body.To))
	}
	switch note := query.Get("note"); {
	case v.Unavailable:
	case note == site.NoteUndone:
		body.Alert = alertUndone
	default:
		body.Status = signedOutNotices[site.VerifyNotice(note, w.SentFormKey(c), "", site.PathSignIn)]
	}
	w.showSignIn(c, http.StatusOK, v.View, body)
	return nil
}

// showSignIn shows the form. It parses the pending request again from the query in the
// form, since signing in may end in an immediate redirect to the client.
func (w *Area) showSignIn(c *site.Request, status int, view ledger.View, body signInBody) {
	if body.Next != "" {
		if r, bad := oauth.ParseAuthorizationRequest(body.Next); bad == nil {
			if a, problem := view.Authorize(r); problem == nil || !problem.Page {
				body.Client = a.Client.Name
			}
		}
	}
	if body.leavesApplications() {
		c.IsolateOpener()
	}
	key := w.FormKey(c)
	body.Forgot = parts.ForgotOf(&view.Settings().Brand)
	body.Token = site.FormToken(key, forSignIn, "", body.Next)
	body.Service, body.Tone = w.Brand().Name, ui.Bad
	switch body.Alert {
	case alertOldForm, alertUndone, alertSignedOut, alertNoAttempt, alertUsedAttempt, alertLate:
		body.Tone = ui.Info
	}
	body.Upstream, body.Passwords = w.upstreamLinks(key, body), !w.prover.NoPasswords
	title := "Sign in"
	if body.Alert != "" {
		title = "Sign in again"
	}
	w.Render(c, status, "signin", ui.Page{Title: title, Body: body})
}

// signIn verifies a password and creates a session. The response to a wrong name and to a
// wrong password is the same and takes the same time.
func (w *Area) signIn(c *site.Request, f *site.Form) error {
	view := w.Ledger.View()
	body := signInBody{Next: site.EscapeQuery(f.Get("next")), To: w.OwnPage(f.Get("to")), Username: f.Get("username")}
	again := func(status int, alert string) error {
		body.Alert = alert
		w.showSignIn(c, status, view, body)
		return nil
	}
	name, password := f.Trimmed("username"), f.Get("password")
	switch {
	case w.prover.NoPasswords:
		return again(http.StatusForbidden, alertNoPasswords)
	case len(name) > maxUsername:
		body.Username = ""
		return again(http.StatusUnprocessableEntity, alertWrong)
	case len(password) > credential.MaxPassword:
		return again(http.StatusUnprocessableEntity, alertWrong)
	case len(f.Get("next")) > oauth.MaxQuery:
		body.Next = ""
		return again(http.StatusUnprocessableEntity, alertOldForm)
	case !site.Genuine(f.SentToken, w.SentFormKey(c), forSignIn, "", f.Get("next")):
		return again(http.StatusForbidden, alertOldForm)
	case name == "" || password == "":
		return again(http.StatusUnprocessableEntity, alertEmpty)
	}
	attempt, err := w.prover.AttemptPassword(c, view, name)
	if err != nil {
		return fmt.Errorf("wait for a turn: %w", err)
	}
	if attempt.Wait > 0 {
		w.prover.RecordFailure(c, view.UserByName(name), ledger.Throttled)
		site.RetryAfter(c, attempt.Wait)
		return again(http.StatusTooManyRequests, authn.AlertTooMany(attempt.Wait))
	}
	u, err := w.prover.CheckQueued(c, view, name, password, attempt)
	if err != nil {
		return fmt.Errorf("check a password: %w", err)
	}
	if u != nil {
		if wait := w.prover.AcceptPassword(u.ID); wait > 0 {
			w.prover.RecordFailure(c, u, ledger.Throttled)
			site.RetryAfter(c, wait)
			return again(http.StatusTooManyRequests, authn.AlertTooMany(wait))
		}
		switch done, err := w.startSession(c, u); {
		case err != nil:
			return fmt.Errorf("sign in: %w", err)
		case done:
			attempt.Reset()
			attempt.Device.Password = authn.DevicePasswordOf(u) // u may be newer than the view
			w.prover.SaveDevice(c, attempt.Device)
			return w.continueTo(c, body.Next, body.To)
		}
	}
	w.prover.RecordNameFailure(c, view, name)
	return again(http.StatusUnprocessableEntity, alertWrong)
}

// startSession creates a session with a new id and ends the browser's previous one. done
// is false if the user has changed since the password was verified.
func (w *Area) startSession(c *site.Request, u *ledger.User) (done bool, err error) {
	id := credential.NewSessionID(w.Rand).Reveal()
	command := &ledger.SignIn{
		Session: credential.SessionDigest(id), User: u.ID,
		VerifiedHash: sha256.Sum256([]byte(u.Password)), Agent: agent(c.R),
	}
	switch old, _, err := w.SessionCookie(c.R); {
	case err != nil:
		return false, err
	case old != "":
		command.Replaces = credential.SessionDigest(old)
	}
	out, index, err := w.Ledger.Propose(c.R.Context(), command)
	switch {
	case err != nil:
		return false, err
	case out.Unknown:
		return false, oauth.ErrUnavailable
	case out.Refusal != nil:
		c.Cause = out.Refusal.Cause
		return false, nil
	}
	c.User = u.ID
	w.SetSession(c, id, index)
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
