package web

import (
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// editUserForm edits what GET /v2/me returns for a user. Its fields are named as in the
// ledger; expected_last is the state of the user that the page showed.
var editUserForm = formKind{
	purpose: forEditUser, action: pathAdminUser + "/edit", page: pathAdminUser + "/edit",
	fields: []field{
		boundField("expected_last"),
		textField("username", "Username"), textField("name", "Name"), textField("email", "Email address"), textField("bio", "About"),
		textField("avatar_url", "Picture"), textField("locale", "Language"), textField("time_zone", "Time zone"),
		textField("time_format", "Clock").chosen(), textField("week_start", "First day of the week"),
		textField("default_schedule_id", "Default schedule"), textField("organization_id", "Organization"),
	},
}

type editUserBody struct {
	User *ledger.User
	Path string
	Form *form
}

func editUserPath(id string) string { return adminUserPath(id) + "/edit" }

func (w *Web) editUserPage(c *request, v session) error {
	u, err := w.activeUserParam(c, &v)
	if err != nil {
		return err
	}
	return w.showEditUser(c, v, u, v.form(&editUserForm, url.Values{
		"id": {u.ID}, "expected_last": {expectedLast(u.Last)}, "username": {u.Username}, "name": {u.Name}, "email": {u.Email}, "bio": {u.Bio},
		"avatar_url": {u.AvatarURL}, "locale": {u.Locale}, "time_zone": {u.TimeZone}, "time_format": {strconv.Itoa(u.TimeFormat)},
		"week_start": {u.WeekStart}, "default_schedule_id": {u.DefaultScheduleID}, "organization_id": {u.OrganizationID},
	}))
}

// activeUserParam is userParam, for users who are not deleted.
func (w *Web) activeUserParam(c *request, v *session) (*ledger.User, error) {
	u, err := w.userParam(c, v)
	if err == nil && u.Deleted {
		err = errNotFound
	}
	return u, err
}

func (w *Web) showEditUser(c *request, v session, u *ledger.User, f *form) error {
	name, path := personOf(u).Name, adminUserPath(u.ID)
	return w.showAdmin(c, v, "admin_user_edit", ui.Page{
		Title: "Edit the profile of " + name, Up: up(name, path),
		Form: f, Body: editUserBody{User: u, Path: path, Form: f},
	})
}

// editUser changes the profile only: it ends no session and changes no rights.
func (w *Web) editUser(c *request, v session, f *form) error {
	seen, ok := parseExpectedLast(f.get("expected_last"))
	if !ok {
		return errUnreadable
	}
	command := &ledger.SetPerson{
		Actor: v.actor(), User: f.get("id"), Username: f.trimmed("username"), Person: f.person(), ExpectedLast: seen,
	}
	if command.Username == "" {
		f.addProblem("username", "is missing")
	}
	var refused *ledger.Refusal
	var err error
	if !f.Failed() {
		refused, err = w.propose(c, &v, "edit a user", command)
	}
	switch {
	case err != nil:
		return err
	case refused == nil && !f.Failed():
		if v.view, err = w.fresh(c.r.Context()); err != nil {
			return err
		}
		if u := v.view.User(command.User); u != nil && u.Last == seen {
			return c.redirectNotice(adminUserPath(command.User), userNotices, "unchanged")
		}
		return c.redirectNotice(adminUserPath(command.User), userNotices, "edited")
	case refused != nil && refused.Cause == ledger.Conflict:
		if v.view, err = w.fresh(c.r.Context()); err != nil {
			return err
		}
	}
	u, err := w.activeUserParam(c, &v)
	if err != nil {
		return err
	}
	if refused != nil {
		// The input is shown again, for the current state of the user.
		f.refused(refused).values.Set("expected_last", expectedLast(u.Last))
	}
	return w.showEditUser(c, v, u, f)
}

// person returns the profile in the form.
func (f *form) person() ledger.Person {
	p := ledger.Person{
		Email: f.trimmed("email"), Name: f.trimmed("name"), AvatarURL: f.trimmed("avatar_url"),
		// Browsers send line breaks as CR LF (HTML §4.10.5.4).
		Bio:               strings.ReplaceAll(f.trimmed("bio"), "\r\n", "\n"),
		DefaultScheduleID: f.trimmed("default_schedule_id"), WeekStart: f.trimmed("week_start"), TimeZone: f.trimmed("time_zone"),
		Locale: f.trimmed("locale"), OrganizationID: f.trimmed("organization_id"),
	}
	switch clock, err := strconv.Atoi(f.get("time_format")); {
	case err == nil:
		p.TimeFormat = clock
	case f.get("time_format") != "":
		f.addProblem("time_format", "must be 12 or 24")
	}
	return p
}

// expectedLast returns the form of a row's state in a form: the id of the last command.
func expectedLast(last command.ID) string { return hex.EncodeToString(last[:]) }

// parseExpectedLast parses the result of expectedLast.
func parseExpectedLast(text string) (id command.ID, ok bool) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(id) {
		return id, false
	}
	return command.ID(b), true
}
