package web

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var passwordRule = fmt.Sprintf("At least %d characters. A few words that come to your mind, with spaces, are easy to remember and hard to guess.", credential.MinPassword)

var passwordForm = formKind{
	purpose: forPassword, ends: true, action: "/account/password", page: "/account/password",
	fields: []field{
		secretField("current", "Current password"),
		secretField("new", "New password"),
		secretField("again", "New password again"),
	},
}

type passwordBody struct {
	Username string
	Rule     string // for a new password
	Form     *form
}

// passwordPage exists for users who have a password.
func (w *Web) passwordPage(c *request, v session) error {
	if !w.hasLocalPassword(v.user) {
		return errNotFound
	}
	return w.showPassword(c, v, v.form(&passwordForm, nil))
}

// hasLocalPassword reports whether the user has a password to sign in with.
func (w *Web) hasLocalPassword(u *ledger.User) bool { return u.Password != "" && !w.config.NoPasswords }

func (w *Web) showPassword(c *request, v session, f *form) error {
	return w.show(c, v, "account_password", ui.Page{
		Title: "Change password", Up: up("Profile & security", pathAccount),
		Form: f, Body: passwordBody{Username: v.user.Username, Rule: passwordRule, Form: f},
	})
}

// changePassword requires the current password, so that an unattended browser is not enough.
// Guesses at it are limited as at the sign-in.
func (w *Web) changePassword(c *request, v session, f *form) error {
	if !w.hasLocalPassword(v.user) {
		return errNotFound
	}
	if f.checkPasswords(v.user); f.Failed() {
		return w.showPassword(c, v, f)
	}
	wait, forgive := w.attempts.trySession(v.stored.Handle(), w.config.Ledger.Now().Std())
	if wait > 0 {
		w.recordFailure(c, v.user, ledger.Throttled)
		retryAfter(c, wait)
		f.alert, f.status = alertTooMany, http.StatusTooManyRequests
		return w.showPassword(c, v, f)
	}
	changed, err := w.replacePassword(c, &v, f)
	switch {
	case err != nil:
		return fmt.Errorf("change the password: %w", err)
	case !changed:
		w.recordFailure(c, v.user, ledger.PasswordWrong)
		f.addProblem("current", "is not right")
		return w.showPassword(c, v, f)
	}
	forgive()
	return c.redirectNotice(pathAccount, accountNotices, "password")
}

func (f *form) checkPasswords(u *ledger.User) {
	current, next := f.get("current"), f.get("new")
	if current == "" {
		f.addProblem("current", "is missing")
	}
	switch fault := credential.PasswordFault(next, u.Username, u.Person.Name, u.Person.Email); {
	case next == current && current != "":
		f.addProblem("new", "is the one that you have now")
	case fault != "":
		f.addProblem("new", fault)
	case f.get("again") == "":
		f.addProblem("again", "is missing")
	case f.get("again") != next:
		f.addProblem("again", "is not the same as the new password")
	}
}

// replacePassword proposes the new password and reports whether the user has it now. If the
// same form is sent twice, the user has it already, which is not an error.
func (w *Web) replacePassword(c *request, v *session, f *form) (bool, error) {
	u, err := w.authenticate(c, v.view, v.user.Username, f.get("current"))
	if err != nil {
		return false, err
	}
	if u == nil || u.ID != v.user.ID {
		return w.hasPassword(c, v, f.get("new"))
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), waitPassword)
	defer cancel()
	hash, err := w.config.Passwords.Hash(ctx, f.get("new"))
	if err != nil {
		return false, err
	}
	wait, undo := w.limits.passwords.Try(u.ID, w.config.Ledger.Now().Std())
	if wait > 0 {
		return false, tooManyChanges(wait)
	}
	refused, err := w.propose(c, v, "replace it", &ledger.SetPassword{
		Actor: v.actor(), User: u.ID, Password: hash, VerifiedHash: sha256.Sum256([]byte(u.Password)),
	})
	switch {
	case err != nil:
		return false, err
	case refused == nil:
		w.saveDevice(c, w.newDevice(deviceOwnerOf(u.Username), devicePasswordOf(&ledger.User{Password: hash})))
		return true, nil
	}
	undo()
	return w.hasPassword(c, v, f.get("new"))
}

func (w *Web) hasPassword(c *request, v *session, password string) (bool, error) {
	u, err := w.authenticate(c, v.view, v.user.Username, password)
	return err == nil && u != nil && u.ID == v.user.ID, err
}
