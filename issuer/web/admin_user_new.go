package web

import (
	"context"
	"encoding/base32"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// newUserForm contains the id of the new user, so that sending it twice adds one user.
// The password is shown, since it is not the administrator's own.
var newUserForm = formKind{
	purpose: forNewUser, action: pathAdminNewUser, page: pathAdminNewUser,
	fields: []field{
		boundField("id"),
		textField("username", "Username"), textField("name", "Name"), textField("email", "Email address"),
		textField("password", "Password").confidential(), listField("admin", "Role").chosen(), ownPasswordField(),
	},
}

type newUserBody struct {
	Form *form
	Rule string
}

func (w *Web) newUserPage(c *request, v session) error {
	return w.showNewUser(c, v, v.form(&newUserForm, url.Values{
		"id": {"u_" + w.random()[:22]}, "password": {w.suggestPassword()}, // 22 characters have 132 bits
	}))
}

func (w *Web) showNewUser(c *request, v session, f *form) error {
	w.requireReauth(&v, f, "add an administrator")
	return w.showAdmin(c, v, "admin_user_new", ui.Page{
		Title: "Add a user", Up: up("Users", pathAdminUsers), Form: f, Body: newUserBody{Form: f, Rule: suggestionRule},
	})
}

// addUser adds a user who signs in by password.
func (w *Web) addUser(c *request, v session, f *form) error {
	if f.trimmed("username") == "" {
		f.addProblem("username", "is missing")
	}
	if f.checkSuggested(f.trimmed("username"), f.trimmed("name"), f.trimmed("email")); f.Failed() {
		return w.showNewUser(c, v, f)
	}
	admin := f.Has("admin", "yes")
	if admin {
		if ok, err := w.reauthenticate(c, &v, f, w.showNewUser); !ok {
			return err
		}
	}
	id := f.get("id")
	hash, err := w.hash(c, f.get("password"))
	if err != nil {
		return fmt.Errorf("hash the password of a new user: %w", err)
	}
	refused, err := w.propose(c, &v, "add a user", &ledger.AddUser{
		Actor: v.actor(), ID: id, Username: f.trimmed("username"),
		Person:   ledger.Person{Name: f.trimmed("name"), Email: f.trimmed("email")},
		Password: hash, Admin: admin,
	})
	switch {
	case err != nil:
		return err
	case refused == nil, refused.Cause == ledger.AlreadyExists: // the form contains the id: it was sent before
		return c.redirectNotice(adminUserPath(id), userNotices, "added")
	}
	return w.showNewUser(c, v, f.refused(refused))
}

var suggestionRule = fmt.Sprintf("You may take this one or another of at least %d characters. Write it down: it is not shown again. The user can change it.", credential.MinPassword)

// checkSuggested reports a problem with the password field if the password that an
// administrator chose for a user is too weak. names are the user's names and e-mail
// address, which an attacker tries.
func (f *form) checkSuggested(names ...string) {
	if fault := credential.PasswordFault(f.get("password"), names...); fault != "" {
		f.addProblem("password", fault)
	}
}

func (w *Web) hash(c *request, password string) (string, error) {
	ctx, cancel := context.WithTimeout(c.r.Context(), waitPassword)
	defer cancel()
	return w.config.Passwords.Hash(ctx, password)
}

// suggestPassword returns a password of 100 random bits that can be dictated by telephone.
func (w *Web) suggestPassword() string {
	var random [13]byte
	if _, err := io.ReadFull(w.config.Rand, random[:]); err != nil {
		panic(fmt.Errorf("read random bytes: %w", err))
	}
	letters := strings.ToLower(base32.StdEncoding.EncodeToString(random[:]))
	return strings.Join([]string{letters[:5], letters[5:10], letters[10:15], letters[15:20]}, "-")
}
