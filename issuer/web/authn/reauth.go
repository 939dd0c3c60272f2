package authn

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
)

// ForConfirm is the purpose of the link with which a user authenticates again at the provider.
const ForConfirm site.Purpose = "confirm upstream"

// PathConfirm sends a signed-in user to the provider, to authenticate again. Like
// signing in it is below the callback, for the cookies of attempts.
const PathConfirm = PathUpstreamCallback + "/confirm"

// Confirmed is the word of the only ReauthNotices.
const Confirmed = "confirmed"

// ReauthNotices are the notices of the page that a user returns to after authenticating again
// at the provider.
var ReauthNotices = site.Notices{Confirmed: "You have confirmed that it is you. You can go on now."}

// RequireReauth makes a form ask the user to authenticate again if the sign-in is too
// old, if the command refused the form for that reason, or if a wrong password was sent.
// to is stored as Reauth.To.
func (w *Prover) RequireReauth(v *site.Session, f *site.Form, to string) {
	if v.Stored.Fresh(w.Ledger.Now()) && !f.SignInTooOld() && f.Error(site.OwnPassword) == "" {
		return
	}
	proof := &site.Reauth{To: to, Password: w.HasLocalPassword(v.User)}
	f.RequireReauth(proof)
	if w.Upstream == nil || v.User.Upstream == "" {
		return
	}
	page := f.Kind.Address(f.Kind.Page, f.Values.Get)
	proof.Provider, proof.NewTab = w.Upstream.Name(), f.Failed()
	proof.Address = PathConfirm + "?" + url.Values{
		"to": {page}, "token": {site.FormToken(v.ID, ForConfirm, v.User.ID, page)},
	}.Encode()
}

// Reauthenticate reports whether the session's user may perform the action of f, as far
// as this node knows; the command decides. If it returns false, it has shown the form
// again with the reason, by calling show, or it returns an error.
func (w *Prover) Reauthenticate(c *site.Request, v *site.Session, f *site.Form, show func(*site.Request, site.Session, *site.Form) error) (bool, error) {
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
func (w *Prover) checkReauth(c *site.Request, v *site.Session, f *site.Form) (bool, error) {
	password, here := f.Get(site.OwnPassword), w.HasLocalPassword(v.User)
	if v.Stored.Fresh(w.Ledger.Now()) && (password == "" || !here) {
		return true, nil
	}
	switch {
	case !here:
		f.RefuseOldSignIn()
		return false, nil
	case password == "":
		f.AddProblem(site.OwnPassword, "is missing")
		return false, nil
	case len(password) > credential.MaxPassword:
		f.AddProblem(site.OwnPassword, "is not right")
		return false, nil
	}
	attempt, err := w.AttemptPassword(c, v.View, v.User.Username)
	if err != nil {
		return false, fmt.Errorf("wait for a turn: %w", err)
	}
	if attempt.Wait > 0 {
		w.RecordFailure(c, v.User, ledger.Throttled)
		site.RetryAfter(c, attempt.Wait)
		f.SetAlert(AlertTooMany(attempt.Wait), http.StatusTooManyRequests)
		return false, nil
	}
	u, err := w.CheckQueued(c, v.View, v.User.Username, password, attempt)
	if err != nil {
		return false, fmt.Errorf("check a password: %w", err)
	}
	if u != nil { // the name may be another user's by now; the command compares the hash
		refused, err := w.Propose(c, v, "reauthenticate", &ledger.Reauthenticate{
			Session: v.Stored.ID, VerifiedHash: sha256.Sum256([]byte(u.Password)),
		})
		if err != nil {
			return false, err
		}
		if refused == nil {
			s := *v.Stored
			s.Authenticated = w.Ledger.Now()
			v.Stored = &s
			attempt.Reset()
			attempt.Device.Password = DevicePasswordOf(u)
			w.SaveDevice(c, attempt.Device)
			return true, nil
		}
	}
	w.RecordFailure(c, v.User, ledger.PasswordWrong)
	f.AddProblem(site.OwnPassword, "is not right")
	return false, nil
}
