package web

import (
	"context"
	"fmt"
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var userPasswordForm = formKind{
	purpose: forUserPassword, action: pathAdminUser + "/password", page: pathAdminUser + "/password",
	fields: []field{textField("password", "New password").confidential(), ownPasswordField()},
}

type userPasswordBody struct {
	User *ledger.User
	Path string
	Form *form
	Rule string
}

// userPasswordPage sets another user's password. Administrators change their own with the
// current one, like everybody.
func (w *Web) userPasswordPage(c *request, v session) error {
	if c.param("id") == v.user.ID {
		return c.redirect(passwordForm.page)
	}
	return w.showUserPassword(c, v, v.form(&userPasswordForm, url.Values{
		"id": {c.param("id")}, "password": {w.suggestPassword()},
	}))
}

func (w *Web) showUserPassword(c *request, v session, f *form) error {
	u, err := w.userParam(c, &v)
	switch {
	case err != nil:
		return err
	case u.Password == "":
		return errNotFound // the user signs in through a provider
	}
	w.requireReauth(&v, f, "")
	path := adminUserPath(u.ID)
	return w.showAdmin(c, v, "admin_user_password", ui.Page{
		Title: "Give " + personOf(u).Name + " a new password", Up: up(personOf(u).Name, path),
		Form: f, Body: userPasswordBody{User: u, Path: path, Form: f, Rule: suggestionRule},
	})
}

// setUserPassword sets a password, which also ends the user's sessions.
func (w *Web) setUserPassword(c *request, v session, f *form) error {
	u, err := w.userParam(c, &v)
	switch {
	case err != nil:
		return err
	case u.Password == "" || u.ID == v.user.ID:
		return errNotFound
	}
	if f.checkSuggested(u.Username, u.Person.Name, u.Person.Email); f.Failed() {
		return w.showUserPassword(c, v, f)
	}
	if ok, err := w.reauthenticate(c, &v, f, w.showUserPassword); !ok {
		return err
	}
	done := func() error { return c.redirectNotice(adminUserPath(u.ID), userNotices, "password") }
	has, err := w.isPassword(c, u, f.get("password"))
	switch {
	case err != nil:
		return fmt.Errorf("compare a password: %w", err)
	case has:
		return done() // the same form was sent twice: later sessions must stay
	}
	hash, err := w.hash(c, f.get("password"))
	if err != nil {
		return fmt.Errorf("hash a password: %w", err)
	}
	refused, err := w.propose(c, &v, "set a password", &ledger.SetPassword{Actor: v.actor(), User: u.ID, Password: hash})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return w.showUserPassword(c, v, f.refused(refused))
	}
	return done()
}

func (w *Web) isPassword(c *request, u *ledger.User, password string) (bool, error) {
	ctx, cancel := context.WithTimeout(c.r.Context(), waitPassword)
	defer cancel()
	return w.matches(ctx, c, w.config.Ledger.View(), u.Password, password)
}
