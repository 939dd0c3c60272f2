package admin

import (
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/parts"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// editUserForm edits what GET /v2/me returns for a user. Its fields are named as in the
// ledger; expected_last is the state of the user that the page showed.
var editUserForm = site.FormKind{
	Purpose: forEditUser, Action: pathAdminUser + "/edit", Page: pathAdminUser + "/edit",
	Fields: []site.Field{
		site.BoundField("expected_last"),
		site.TextField("username", "Username"), site.TextField("name", "Name"), site.TextField("email", "Email address"), site.TextField("bio", "About"),
		site.TextField("avatar_url", "Picture URL"), site.TextField("locale", "Language"), site.TextField("time_zone", "Time zone"),
		site.TextField("time_format", "Clock").Chosen(), site.TextField("week_start", "First day of the week").Chosen(),
		site.TextField("default_schedule_id", "Default schedule ID"), site.TextField("organization_id", "Organization ID"),
	},
}

type editUserBody struct {
	User     *ledger.User
	Path     string
	Form     *site.Form
	Clocks   []ui.Option
	Weekdays []ui.Option
}

func (w *Area) editUserPage(c *site.Request, v site.Session) error {
	u, err := w.activeUserParam(c, &v)
	if err != nil {
		return err
	}
	return w.showEditUser(c, v, u, v.Form(&editUserForm, url.Values{
		"id": {u.ID}, "expected_last": {expectedLast(u.Last)}, "username": {u.Username}, "name": {u.Name}, "email": {u.Email}, "bio": {u.Bio},
		"avatar_url": {u.AvatarURL}, "locale": {u.Locale}, "time_zone": {u.TimeZone}, "time_format": {clockValue(u.TimeFormat)},
		"week_start": {u.WeekStart}, "default_schedule_id": {u.DefaultScheduleID}, "organization_id": {u.OrganizationID},
	}))
}

// activeUserParam is userParam, for users who are not deleted.
func (w *Area) activeUserParam(c *site.Request, v *site.Session) (*ledger.User, error) {
	u, err := w.userParam(c, v)
	if err == nil && u.Deleted {
		err = site.ErrNotFound
	}
	return u, err
}

func (w *Area) showEditUser(c *site.Request, v site.Session, u *ledger.User, f *site.Form) error {
	name, path := site.PersonOf(u).Name, parts.AdminUserPath(u.ID)
	return w.showAdmin(c, v, "user_edit", ui.Page{
		Title: "Edit the profile of " + name, Up: site.Up(name, path),
		Lead: "Only the username is required. The user sees all of this, and so do applications that may see the profile.",
		Form: f, Body: editUserBody{
			User: u, Path: path, Form: f, Weekdays: weekdays(f.Get("week_start")),
			Clocks: choose(f.Get("time_format"),
				ui.Option{Text: "Not set (24 hours)"}, ui.Option{Value: "24", Text: "24 hours, 15:30"}, ui.Option{Value: "12", Text: "12 hours, 3:30 pm"}),
		},
	})
}

// clockValue returns what the form has for a user's time format.
func clockValue(format int) string {
	if format == 0 {
		return ""
	}
	return strconv.Itoa(format)
}

// weekdays returns what can be chosen as the first day of the week. The chosen value may be another
// text, since applications can set any: it stays a choice, and so saving keeps it.
func weekdays(chosen string) []ui.Option {
	days := []ui.Option{{Text: "Not set"}}
	known := chosen == ""
	for i := range 7 {
		day := ((time.Monday + time.Weekday(i)) % 7).String()
		days = append(days, ui.Option{Value: day, Text: day})
		known = known || chosen == day
	}
	if !known {
		days = append(days, ui.Option{Value: chosen, Text: chosen})
	}
	return choose(chosen, days...)
}

// editUser changes the profile only: it ends no session and changes no rights.
func (w *Area) editUser(c *site.Request, v site.Session, f *site.Form) error {
	seen, ok := parseExpectedLast(f.Get("expected_last"))
	if !ok {
		return site.ErrUnreadable
	}
	command := &ledger.SetPerson{
		Actor: v.Actor(), User: f.Get("id"), Username: f.Trimmed("username"), Person: personIn(f), ExpectedLast: seen,
	}
	var stored ledger.Person
	if u := v.View.User(command.User); u != nil {
		stored = u.Person
	}
	checkEmail(f, stored.Email)
	if zone := command.Person.TimeZone; zone != "" && zone != stored.TimeZone && site.ZoneOf(zone) == nil {
		f.AddSentence("time_zone", "Time zone isn’t known: use a name such as Europe/London.")
	}
	err := w.checkAccount(c, &v, f, command.User, &command.Person)
	var refused *ledger.Refusal
	if err == nil && !f.Failed() {
		refused, err = w.Propose(c, &v, "edit a user", command)
	}
	switch {
	case err != nil:
		return err
	case refused == nil && !f.Failed():
		if v.View, err = w.Fresh(c.R.Context()); err != nil {
			return err
		}
		if u := v.View.User(command.User); u != nil && u.Last == seen {
			return c.RedirectNotice(parts.AdminUserPath(command.User), userNotices, "unchanged")
		}
		return c.RedirectNotice(parts.AdminUserPath(command.User), userNotices, "edited")
	case refused != nil && refused.Cause == ledger.Conflict:
		if v.View, err = w.Fresh(c.R.Context()); err != nil {
			return err
		}
	}
	u, err := w.activeUserParam(c, &v)
	if err != nil {
		return err
	}
	if refused != nil {
		// The input is shown again, for the current state of the user.
		f.Refused(refused).Values.Set("expected_last", expectedLast(u.Last))
	}
	return w.showEditUser(c, v, u, f)
}

// checkEmail reports an address that can't be one, unless it is stored already: applications and
// providers can set any, and it must not keep the other fields from being saved.
func checkEmail(f *site.Form, stored string) {
	email := f.Trimmed("email")
	if email == "" || email == stored {
		return
	}
	local, domain, _ := strings.Cut(email, "@")
	if local == "" || domain == "" || strings.Contains(domain, "@") || strings.ContainsFunc(email, unicode.IsSpace) {
		f.AddSentence("email", "Email address needs an @, such as in ada@example.com.")
	}
}

// personIn returns the profile in the form.
func personIn(f *site.Form) ledger.Person {
	p := ledger.Person{
		Email: f.Trimmed("email"), Name: f.Trimmed("name"), AvatarURL: f.Trimmed("avatar_url"),
		// Browsers send line breaks as CR LF (HTML §4.10.5.4).
		Bio:               strings.ReplaceAll(f.Trimmed("bio"), "\r\n", "\n"),
		DefaultScheduleID: f.Trimmed("default_schedule_id"), WeekStart: f.Trimmed("week_start"), TimeZone: f.Trimmed("time_zone"),
		Locale: f.Trimmed("locale"), OrganizationID: f.Trimmed("organization_id"),
	}
	switch clock, err := strconv.Atoi(f.Get("time_format")); {
	case err == nil:
		p.TimeFormat = clock
	case f.Get("time_format") != "":
		f.AddProblem("time_format", "must be 12 or 24")
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
