package account

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var passwordRule = fmt.Sprintf("At least %d characters. A few words that come to your mind, with spaces, are easy to remember and hard to guess.", credential.MinPassword)

var passwordForm = site.FormKind{
	Purpose: forPassword, Ends: true, Action: parts.PathPassword, Page: parts.PathPassword,
	Fields: []site.Field{
		site.BoundField("mark"), site.SecretField("current", "Current password"),
		site.SecretField("new", "New password"),
		site.SecretField("again", "New password again"),
	},
}

type passwordBody struct {
	Username string
	Rule     string // for a new password
	Form     *site.Form
}

// passwordPage exists for users who have a password.
func (w *Area) passwordPage(c *site.Request, v site.Session) error {
	if !w.prover.HasLocalPassword(v.User) {
		return site.ErrNotFound
	}
	return w.showPassword(c, v, v.Form(&passwordForm, nil))
}

func (w *Area) showPassword(c *site.Request, v site.Session, f *site.Form) error {
	f.Values.Set("mark", authn.PasswordMark(v.User))
	return w.Show(c, v, "password", ui.Page{
		Title: "Change password", Up: site.Up("Profile & security", site.PathAccount),
		Form: f, Body: passwordBody{Username: v.User.Username, Rule: passwordRule, Form: f},
	})
}

// changePassword requires the current password, so that an unattended browser is not enough.
// Guesses at it are limited as at the sign-in.
func (w *Area) changePassword(c *site.Request, v site.Session, f *site.Form) error {
	if !w.prover.HasLocalPassword(v.User) {
		return site.ErrNotFound
	}
	if checkPasswords(f, v.User); f.Get("current") == "" {
		return w.showPassword(c, v, f)
	}
	wait, forgive := w.prover.AttemptSession(&v)
	if wait > 0 {
		w.prover.RecordFailure(c, v.User, ledger.Throttled)
		site.RetryAfter(c, wait)
		f.SetAlert(authn.AlertTooMany(wait), http.StatusTooManyRequests)
		return w.showPassword(c, v, f)
	}
	try := w.replacePassword
	if f.Failed() { // the current password is tried nevertheless, so that both are told at once
		try = w.hasCurrent
	}
	right, err := try(c, &v, f)
	switch {
	case err != nil:
		return fmt.Errorf("change the password: %w", err)
	case !right:
		w.prover.RecordFailure(c, v.User, ledger.PasswordWrong)
		f.AddProblem("current", "is not right")
		return w.showPassword(c, v, f)
	case f.Failed(): // the try stays counted: each costs a hash
		return w.showPassword(c, v, f)
	}
	forgive()
	return c.RedirectNotice(site.PathAccount, accountNotices, "password")
}

func checkPasswords(f *site.Form, u *ledger.User) {
	current, next := f.Get("current"), f.Get("new")
	if current == "" {
		f.AddProblem("current", "is missing")
	}
	switch fault := credential.PasswordFault(next, u.Username, u.Person.Name, u.Person.Email); {
	case next == current && current != "":
		f.AddProblem("new", "is the one that you have now")
	case fault != "":
		f.AddProblem("new", fault)
	case f.Get("again") == "":
		f.AddProblem("again", "is missing")
	case f.Get("again") != next:
		f.AddProblem("again", "is not the same as the new password")
	}
}

// replacePassword proposes the new password and reports whether the user has it now. If the
// same form is sent twice, the user has it already, which is not an error. Otherwise only the
// current password is tried: each attempt is one guess.
func (w *Area) replacePassword(c *site.Request, v *site.Session, f *site.Form) (bool, error) {
	u, err := w.prover.Authenticate(c, v.View, v.User.Username, f.Get("current"))
	if err != nil {
		return false, err
	}
	if u == nil || u.ID != v.User.ID {
		if authn.PasswordMark(v.User) == f.Get("mark") {
			return false, nil
		}
		return w.hasPassword(c, v, f.Get("new"))
	}
	ctx, cancel := context.WithTimeout(c.R.Context(), authn.WaitPassword)
	defer cancel()
	hash, err := w.prover.Passwords.Hash(ctx, f.Get("new"))
	if err != nil {
		return false, err
	}
	wait, undo := w.passwords.Try(u.ID, w.Ledger.Now().Std())
	if wait > 0 {
		return false, site.TooManyChanges(wait)
	}
	refused, err := w.Propose(c, v, "replace it", &ledger.SetPassword{
		Actor: v.Actor(), User: u.ID, Password: hash, VerifiedHash: sha256.Sum256([]byte(u.Password)),
	})
	switch {
	case err != nil:
		return false, err
	case refused == nil:
		w.prover.SaveDevice(c, w.prover.NewDevice(authn.DeviceOwnerOf(u.Username), authn.DevicePasswordOf(&ledger.User{Password: hash})))
		return true, nil
	}
	undo()
	return w.hasPassword(c, v, f.Get("new"))
}

func (w *Area) hasCurrent(c *site.Request, v *site.Session, f *site.Form) (bool, error) {
	return w.hasPassword(c, v, f.Get("current"))
}

func (w *Area) hasPassword(c *site.Request, v *site.Session, password string) (bool, error) {
	u, err := w.prover.Authenticate(c, v.View, v.User.Username, password)
	return err == nil && u != nil && u.ID == v.User.ID, err
}
