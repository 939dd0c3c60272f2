package admin_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

const adaEdit = AdaPage + "/edit"

// filledIn returns a profile with a value in every field.
func filledIn() []string {
	return []string{
		"username", "ada.l", "name", " Ada <King> ", "email", "king@example.com", "bio", "I count.\r\nAlso days.",
		"avatar_url", "https://ada.example/a.png", "locale", "en-GB", "time_zone", "Europe/London", "time_format", "12",
		"week_start", "Monday", "default_schedule_id", "s-1", "organization_id", "o-1",
	}
}

func TestEditUser(t *testing.T) {
	w, root := Administration(t)
	ada := w.SignedIn()
	assert.Contains(t, root.Get(AdaPage).Text, `href="`+adaEdit+`">Edit profile</a>`)
	page := root.Get(adaEdit)
	for _, text := range []string{
		"<title>Edit the profile of Ada Lovelace · Mintmark</title>", `value="ada"`, `value="Ada Lovelace"`, `value="ada@example.com"`,
		`<option value="" selected>Not set (24 hours)</option>`, `<a href="` + AdaPage + `"><bdi>Ada Lovelace</bdi></a>`,
	} {
		assert.Contains(t, page.Text, text)
	}
	form := With(page.Form(t, adaEdit), filledIn()...)
	after := root.Done(root.Post(adaEdit, form))
	assert.Contains(t, after.Text, "Saved.")
	assert.Contains(t, after.Text, "Europe/London", "administrators must see the whole profile")
	assert.Equal(t, ledger.Person{
		Email: "king@example.com", Name: "Ada <King>", Bio: "I count.\nAlso days.", AvatarURL: "https://ada.example/a.png", Locale: "en-GB",
		TimeZone: "Europe/London", TimeFormat: 12, WeekStart: "Monday", DefaultScheduleID: "s-1", OrganizationID: "o-1",
	}, w.UserByName("ada.l").Person)

	account := ada.Get("/account")
	require.Equal(t, http.StatusOK, account.StatusCode, "an edit must not end sessions")
	for _, text := range []string{"Ada &lt;King&gt;", "Also days.", "12 hours", "Europe/London", "To change something, ask"} {
		assert.Contains(t, account.Text, text)
	}
	n := w.Browser()
	assert.Equal(t, http.StatusSeeOther, n.SignIn(n.Get("/auth/sign-in"), "ada.l", Password).StatusCode, "with the new name")

	state := w.Index
	assert.Equal(t, AdaPage+"?done=edited", LeadsTo(root.Post(adaEdit, form)), "the same form twice")
	assert.Equal(t, state, w.Index)
	assert.Contains(t, root.Get("/admin/audit?kind=user.edited").Text, "<bdi>ada.l</bdi>")

	asItIs := root.Done(root.Press(adaEdit, adaEdit, filledIn()...)).Text
	assert.Contains(t, asItIs, "There was nothing to change.")
	assert.NotContains(t, asItIs, "Saved.")
	assert.Equal(t, state, w.Index)

	page = root.Get(adaEdit)
	assert.Contains(t, page.Text, `<option value="12" selected>`)
	assert.Contains(t, page.Text, `<option value="Monday" selected>`)
	assert.Contains(t, page.Text, "I count.\nAlso days.</textarea>")
	cleared := []string{}
	for i, one := range filledIn() {
		if i%2 == 0 && one != "username" {
			cleared = append(cleared, one, "")
		}
	}
	root.Done(root.Press(adaEdit, adaEdit, append(cleared, "username", "ada")...))
	assert.Equal(t, ledger.Person{}, w.UserByName("ada").Person, "empty fields must not be set")

	// The administrator's own profile, from the account page.
	assert.Contains(t, root.Get("/account").Text, `href="/admin/users/u-root/edit"`)
	root.Done(root.Press("/admin/users/u-root/edit", "/admin/users/u-root/edit", "username", "root", "name", "The Root"))
	assert.Equal(t, "The Root", w.UserByName("root").Name)
}

// TestEditUserKeepsTheClock verifies that an unchanged time format stays as it was.
func TestEditUserKeepsTheClock(t *testing.T) {
	w, root := Administration(t)
	chosen := regexp.MustCompile(`<select id="f-time_format"[^>]*>\n(?:<option value="\d*">.*\n)*<option value="(\d*)" selected>`)
	for _, clock := range []int{0, 12, 24} {
		u := w.UserByName("ada")
		p := u.Person
		p.TimeFormat = clock
		w.Must(&ledger.SetPerson{Actor: Operator, User: u.ID, Username: u.Username, Person: p, ExpectedLast: u.Last})
		page := root.Get(adaEdit)
		sent := chosen.FindAllStringSubmatch(page.Text, -1)
		require.Len(t, sent, 1)
		root.Done(root.Post(adaEdit, With(page.Form(t, adaEdit), "username", "ada", "name", fmt.Sprint("Ada ", clock), "time_format", sent[0][1])))
		assert.Equal(t, clock, w.UserByName("ada").TimeFormat)
		assert.Equal(t, fmt.Sprint("Ada ", clock), w.UserByName("ada").Name)
	}
}

// TestEditUserKeepsTheWeekday verifies that a first day of the week that an application has set stays
// a choice, whatever it is.
func TestEditUserKeepsTheWeekday(t *testing.T) {
	w, root := Administration(t)
	u := w.UserByName("ada")
	p := u.Person
	p.WeekStart = "mon <1>"
	w.Must(&ledger.SetPerson{Actor: Operator, User: u.ID, Username: u.Username, Person: p, ExpectedLast: u.Last})
	page := root.Get(adaEdit)
	assert.Contains(t, page.Text, `<option value="mon &lt;1&gt;" selected>mon &lt;1&gt;</option>`)
	root.Done(root.Post(adaEdit, With(page.Form(t, adaEdit), "username", "ada", "name", "Ada One", "week_start", p.WeekStart)))
	assert.Equal(t, p.WeekStart, w.UserByName("ada").WeekStart)
}

// TestEditUserKeepsWhatIsStored verifies that an address or a zone that an application has set keeps
// no other field from being saved.
func TestEditUserKeepsWhatIsStored(t *testing.T) {
	w, root := Administration(t)
	u := w.UserByName("ada")
	p := u.Person
	p.Email, p.TimeZone = "ada at example", "Nowhere/Atlantis"
	w.Must(&ledger.SetPerson{Actor: Operator, User: u.ID, Username: u.Username, Person: p, ExpectedLast: u.Last})
	root.Done(root.Press(adaEdit, adaEdit, "username", "ada", "name", "Ada One", "email", p.Email, "time_zone", p.TimeZone))
	p.Name = "Ada One"
	assert.Equal(t, p, w.UserByName("ada").Person)
	res := root.Press(adaEdit, adaEdit, "username", "ada", "name", "Ada One", "email", "ada at home", "time_zone", "Nowhere")
	assert.Contains(t, res.Text, `id="f-email-error"`)
	assert.Contains(t, res.Text, `id="f-time_zone-error"`)
}

func TestEditUserRefusals(t *testing.T) {
	w, root := Administration(t)
	for _, test := range []struct{ field, value, says string }{
		{"username", "", "Username is missing."},
		{"username", "BOB", "Username is taken."},
		{"username", "a da", "Username may not hold spaces"},
		{"name", strings.Repeat("x", 101), "Name is too long: "},
		{"email", "x@" + strings.Repeat("x", 253), "Email address is too long: "},
		{"email", "king", "Email address needs an @"},
		{"email", "@example.com", "Email address needs an @"},
		{"email", "king@", "Email address needs an @"},
		{"email", "king@example@com", "Email address needs an @"},
		{"email", "a king@example.com", "Email address needs an @"},
		{"bio", strings.Repeat("x", 1001), "About is too long: "},
		{"bio", "x\u202e", "About holds a control character."},
		{"avatar_url", "javascript:alert(1)", "Picture URL must begin with https:// or http://."},
		{"locale", strings.Repeat("x", 36), "Language is too long: "},
		{"time_zone", strings.Repeat("x", 65), "Time zone isn’t known"},
		{"time_zone", "London", "Time zone isn’t known: use a name such as Europe/London."},
		{"time_zone", "Local", "Time zone isn’t known"}, // of the node
		{"time_zone", "../zone", "Time zone isn’t known"},
		{"time_format", "13", "Clock must be 12 or 24."},
		{"time_format", "noon", "Clock must be 12 or 24."},
		{"week_start", strings.Repeat("x", 17), "First day of the week is too long: "},
		{"default_schedule_id", strings.Repeat("x", 65), "Default schedule ID is too long: "},
		{"organization_id", strings.Repeat("x", 65), "Organization ID is too long: "},
	} {
		state := w.Index
		res := root.Press(adaEdit, adaEdit, append(filledIn(), test.field, test.value)...)
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, test)
		assert.Contains(t, res.Text, fmt.Sprintf(`<p class="error" id="f-%s-error">%s`, test.field, test.says), test)
		for i, kept := range filledIn() {
			if i%2 == 1 && filledIn()[i-1] != test.field && filledIn()[i-1] != "bio" && filledIn()[i-1] != "name" {
				assert.Contains(t, res.Text, `value="`+kept+`"`, "%s: input is kept", test.field)
			}
		}
		assert.Equal(t, state, w.Index, test)
	}
	assert.Equal(t, "Ada Lovelace", w.UserByName("ada").Name)
}

func TestEditUserTellsAll(t *testing.T) {
	_, root := Administration(t)
	res := root.Press(adaEdit, adaEdit, append(filledIn(), "username", "a da", "email", "king", "avatar_url", "javascript:alert(1)", "time_zone", "London", "locale", strings.Repeat("x", 36))...)
	for _, field := range []string{"username", "email", "avatar_url", "time_zone", "locale"} {
		assert.Contains(t, res.Text, `<a href="#f-`+field+`">`, "all problems at once")
	}
	assert.Equal(t, 5, strings.Count(res.Text, `<p class="error" id="f-`))
}

// TestEditUserMeanwhile verifies that two administrators don't undo each other.
func TestEditUserMeanwhile(t *testing.T) {
	w, root := Administration(t)
	form := With(root.Get(adaEdit).Form(t, adaEdit), "username", "ada", "name", "Ada One")
	rita := w.SignedInAs("rita")
	rita.Done(rita.Press(adaEdit, adaEdit, "username", "ada", "name", "Ada Two"))
	w.Lag()
	res := root.Post(adaEdit, form)
	w.Lagging = nil
	assert.Equal(t, http.StatusConflict, res.StatusCode)
	assert.Contains(t, res.Text, "Something changed while the page was open")
	assert.Contains(t, res.Text, `value="Ada One"`, "input is kept")
	assert.Equal(t, "Ada Two", w.UserByName("ada").Name)
	root.Done(root.Post(adaEdit, With(res.Form(t, adaEdit), "username", "ada", "name", "Ada One")))
	assert.Equal(t, "Ada One", w.UserByName("ada").Name, "the redisplayed form must work")

	again := With(root.Get(adaEdit).Form(t, adaEdit), "username", "ada", "name", "Ada Three")
	assert.Equal(t, http.StatusForbidden, root.Post(adaEdit, With(maps.Clone(again), "expected_last", AnySeen)).StatusCode, "expected_last must be bound to the form")
	odd := url.Values{"expected_last": {"odd"}, "username": {"ada"}, "token": {userToken(root, "edit user", "u-ada\x00odd")}}
	assert.Equal(t, http.StatusBadRequest, root.Post(adaEdit, odd).StatusCode)

	w.Must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-ada", State: ledger.DeleteUser})
	assert.Equal(t, http.StatusNotFound, root.Post(adaEdit, again).StatusCode)
	assert.Equal(t, http.StatusNotFound, root.Get(adaEdit).StatusCode)
	assert.NotContains(t, root.Get(AdaPage).Text, adaEdit)
	w.NoLeader = true
	assert.Equal(t, http.StatusServiceUnavailable, root.Press("/admin/users/u-bob/edit", "/admin/users/u-bob/edit", "username", "bob", "name", "B").StatusCode)
}

// TestEditUserOfAProvider verifies that the page states that the next sign-in overwrites
// the profile, and that the page of the user names the provider.
func TestEditUserOfAProvider(t *testing.T) {
	w, root := Administration(t)
	w.Must(&ledger.SignInUpstream{
		Session: [32]byte{1}, Issuer: "https://idp.example.com", Subject: "s", ID: "u-idp", Username: "ida", Person: ledger.Person{Name: "Ida"},
	})
	assert.Contains(t, root.Get("/admin/users/u-idp/edit").Text, "The user signs in at <bdi>https://idp.example.com</bdi>")
	assert.NotContains(t, root.Get(adaEdit).Text, "signs in at")

	page := root.Get("/admin/users/u-idp").Text
	assert.Contains(t, page, "<dt>Signs in at</dt><dd><bdi>https://idp.example.com</bdi></dd>")
	assert.Contains(t, page, "<dt>Known there as</dt><dd><bdi>s</bdi></dd>")
	assert.NotContains(t, root.Get(AdaPage).Text, "Signs in at")
}
