package admin

import (
	"cmp"
	"context"
	"encoding/base32"
	"fmt"
	"io"
	"maps"
	"net/url"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// newUserForm contains the id of the new user, so that sending it twice adds one user.
// The password is shown, since it is not the administrator's own.
var newUserForm = site.FormKind{
	Purpose: forNewUser, Action: parts.PathAdminNewUser, Page: parts.PathAdminNewUser, Undone: "The user wasn’t added.",
	Fields: []site.Field{
		site.BoundField("id"),
		site.TextField("username", "Username"), site.TextField("name", "Name"), site.TextField("email", "Email address"),
		site.TextField("password", "Password").Confidential(), site.ListField("admin", "Role").Chosen(), site.OwnPasswordField(),
	},
}

type newUserBody struct {
	Form *site.Form
	Rule string
}

func (w *Area) newUserPage(c *site.Request, v site.Session) error {
	return w.showNewUser(c, v, v.Form(&newUserForm, url.Values{
		"id": {"u_" + w.Random()[:22]}, "password": {w.suggestPassword()}, // 22 characters have 132 bits
	}))
}

func (w *Area) showNewUser(c *site.Request, v site.Session, f *site.Form) error {
	w.prover.RequireReauth(&v, f, "add an administrator")
	return w.showAdmin(c, v, "user_new", ui.Page{
		Title: "Add a user", Up: site.Up("Users", parts.PathAdminUsers), Lead: "Only the username and the password are required: the user signs in with them.",
		Form: f, Body: newUserBody{Form: f, Rule: suggestionRule},
	})
}

// addUser adds a user who signs in by password.
func (w *Area) addUser(c *site.Request, v site.Session, f *site.Form) error {
	id, person := f.Get("id"), ledger.Person{Name: f.Trimmed("name"), Email: f.Trimmed("email")}
	checkEmail(f, "")
	if err := w.checkAccount(c, &v, f, id, &person); err != nil {
		return err
	}
	w.checkSuggested(f, f.Trimmed("username"), f.Trimmed("name"), f.Trimmed("email"))
	admin := f.Has("admin", "yes")
	if admin { // also with other problems, so that the password need not be entered again
		if ok, err := w.prover.Reauthenticate(c, &v, f, w.showNewUser); !ok {
			return err
		}
	}
	if f.Failed() {
		return w.showNewUser(c, v, f)
	}
	hash, err := w.hash(c, f.Get("password"))
	if err != nil {
		return fmt.Errorf("hash the password of a new user: %w", err)
	}
	u := &ledger.User{ID: id, Username: f.Trimmed("username"), Person: person}
	refused, err := w.Propose(c, &v, "add a user", &ledger.AddUser{
		Actor: v.Actor(), ID: id, Username: u.Username, Person: u.Person, Password: hash, Admin: admin,
	})
	switch {
	case err != nil:
		return err
	case refused == nil:
		return w.showGiven(c, v, u, site.PersonOf(u).Name+" was added", f.Get("password"))
	case refused.Cause == ledger.AlreadyExists: // the form contains the id: it was sent before, maybe with another password
		return c.RedirectNotice(parts.AdminUserPath(id), userNotices, "added")
	}
	return w.showNewUser(c, v, f.Refused(refused))
}

// checkAccount adds all problems for which the command would be refused, so that they show at once. A
// field that already has a problem keeps it.
func (w *Area) checkAccount(c *site.Request, v *site.Session, f *site.Form, id string, p *ledger.Person) error {
	var faults map[string]string
	_, err := w.ConfirmFresh(c, v, func() bool {
		u := cmp.Or(v.View.User(id), &ledger.User{ID: id})
		faults = maps.Collect(v.View.AccountFaults(u, f.Trimmed("username"), p))
		return len(faults) == 0
	})
	if f.Trimmed("username") == "" {
		faults["username"] = "is missing"
	}
	for field, note := range faults {
		if f.Error(field) == "" {
			f.AddProblem(field, note)
		}
	}
	return err
}

var suggestionRule = fmt.Sprintf("Keep the generated one, or type at least %d characters.", credential.MinPassword)

// checkSuggested reports a problem with the password field if the password that an
// administrator chose for a user is too weak, and replaces it. names are the user's names and
// e-mail address, which an attacker tries.
func (w *Area) checkSuggested(f *site.Form, names ...string) {
	if fault := credential.PasswordFault(f.Get("password"), names...); fault != "" {
		f.AddProblem("password", fault+". A new one was generated")
		f.Values.Set("password", w.suggestPassword())
	}
}

func (w *Area) hash(c *site.Request, password string) (string, error) {
	ctx, cancel := context.WithTimeout(c.R.Context(), authn.WaitPassword)
	defer cancel()
	return w.prover.Passwords.Hash(ctx, password)
}

// suggestPassword returns a password of 100 random bits that can be dictated by telephone.
func (w *Area) suggestPassword() string {
	var random [13]byte
	if _, err := io.ReadFull(w.Rand, random[:]); err != nil {
		panic(fmt.Errorf("read random bytes: %w", err))
	}
	letters := strings.ToLower(base32.StdEncoding.EncodeToString(random[:]))
	return strings.Join([]string{letters[:5], letters[5:10], letters[10:15], letters[15:20]}, "-")
}
