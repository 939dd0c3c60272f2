package admin

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/url"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

var userPasswordForm = site.FormKind{
	Purpose: forUserPassword, Action: pathAdminUser + "/password", Page: pathAdminUser + "/password",
	Fields: []site.Field{site.BoundField("mark"), site.TextField("password", "New password").Confidential(), site.OwnPasswordField()},
}

type userPasswordBody struct {
	User *ledger.User
	Path string
	Form *site.Form
	Rule string
}

// userPasswordPage sets another user's password. Administrators change their own with the
// current one, like everybody.
func (w *Area) userPasswordPage(c *site.Request, v site.Session) error {
	if c.Param("id") == v.User.ID {
		return c.Redirect(parts.PathPassword)
	}
	return w.showUserPassword(c, v, v.Form(&userPasswordForm, url.Values{
		"id": {c.Param("id")}, "password": {w.suggestPassword()},
	}))
}

func (w *Area) showUserPassword(c *site.Request, v site.Session, f *site.Form) error {
	u, err := w.userParam(c, &v)
	switch {
	case err != nil:
		return err
	case u.Password == "":
		return site.ErrNotFound // the user signs in through a provider
	}
	f.Values.Set("mark", authn.PasswordMark(u))
	w.prover.RequireReauth(&v, f, "")
	path := parts.AdminUserPath(u.ID)
	return w.showAdmin(c, v, "user_password", ui.Page{
		Title: "Set a new password for " + site.PersonOf(u).Name, Lead: "The current one stops working, and the user is signed out everywhere. Connected apps stay connected.",
		Up:   site.Up(site.PersonOf(u).Name, path),
		Form: f, Body: userPasswordBody{User: u, Path: path, Form: f, Rule: suggestionRule},
	})
}

// setUserPassword sets a password, which also ends the user's sessions. The form of a page that was
// shown before the last change of the password is refused: sent again, as by a reload, it would undo
// what the user has changed since.
func (w *Area) setUserPassword(c *site.Request, v site.Session, f *site.Form) error {
	u, err := w.userParam(c, &v)
	switch {
	case err != nil:
		return err
	case u.Password == "" || u.ID == v.User.ID:
		return site.ErrNotFound
	}
	if w.checkSuggested(f, u.Username, u.Person.Name, u.Person.Email); f.Failed() {
		return w.showUserPassword(c, v, f)
	}
	if ok, err := w.prover.Reauthenticate(c, &v, f, w.showUserPassword); !ok {
		return err
	}
	refused, err := w.replaceUserPassword(c, &v, f)
	if err != nil {
		return err
	}
	if refused != nil && refused.Cause == ledger.Conflict {
		if u, err = w.userParam(c, &v); err != nil {
			return err
		}
		has, err := w.isPassword(c, u, f.Get("password"))
		switch {
		case err != nil:
			return fmt.Errorf("compare a password: %w", err)
		case has:
			refused = nil // the same form was sent twice: later sessions must stay
		}
	}
	if refused != nil {
		return w.showUserPassword(c, v, f.Refused(refused))
	}
	return w.showGiven(c, v, u, "New password of "+site.PersonOf(u).Name, f.Get("password"))
}

// replaceUserPassword proposes the password of a form. If it is refused, v gets a fresh view.
func (w *Area) replaceUserPassword(c *site.Request, v *site.Session, f *site.Form) (*ledger.Refusal, error) {
	var u *ledger.User
	same, err := w.ConfirmFresh(c, v, func() bool {
		u = v.View.User(c.Param("id"))
		return authn.PasswordMark(u) == f.Get("mark")
	})
	switch {
	case err != nil:
		return nil, err
	case !same:
		return &ledger.Refusal{Cause: ledger.Conflict}, nil
	}
	hash, err := w.hash(c, f.Get("password"))
	if err != nil {
		return nil, fmt.Errorf("hash a password: %w", err)
	}
	refused, err := w.Propose(c, v, "set a password", &ledger.SetPassword{
		Actor: v.Actor(), User: u.ID, Password: hash, VerifiedHash: sha256.Sum256([]byte(u.Password)),
	})
	if err == nil && refused != nil {
		v.View, err = w.Fresh(c.R.Context())
	}
	return refused, err
}

type givenBody struct {
	Username, Password ui.Copy
	Path               string
}

// showGiven shows what an administrator has to hand over to a user, once. It is the answer to the form
// itself, so the password is in no address. Only the same form, sent again, shows it again.
func (w *Area) showGiven(c *site.Request, v site.Session, u *ledger.User, title, password string) error {
	return w.showAdmin(c, v, "user_given", ui.Page{
		Title: title, Up: site.Up(site.PersonOf(u).Name, parts.AdminUserPath(u.ID)), Body: givenBody{
			Username: ui.Copy{ID: "username", Label: "username", Value: u.Username, Wide: true},
			Password: ui.Copy{ID: "password", Label: "password", Value: password, Wide: true}, Path: parts.AdminUserPath(u.ID),
		},
	})
}

func (w *Area) isPassword(c *site.Request, u *ledger.User, password string) (bool, error) {
	ctx, cancel := context.WithTimeout(c.R.Context(), authn.WaitPassword)
	defer cancel()
	return w.prover.Matches(ctx, c, w.Ledger.View(), u.Password, password)
}
