package web_test

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
)

const adaEdit = adaPage + "/edit"

// filledIn returns a profile with a value in every field.
func filledIn() []string {
	return []string{
		"username", "ada.l", "name", " Ada <King> ", "email", "king@example.com", "bio", "I count.\r\nAlso days.",
		"avatar_url", "https://ada.example/a.png", "locale", "en-GB", "time_zone", "Europe/London", "time_format", "12",
		"week_start", "Monday", "default_schedule_id", "s-1", "organization_id", "o-1",
	}
}

func TestEditUser(t *testing.T) {
	w, root := administration(t)
	ada := w.signedIn()
	assert.Contains(t, root.get(adaPage).body, `href="`+adaEdit+`">Edit profile</a>`)
	page := root.get(adaEdit)
	for _, text := range []string{
		"<title>Edit the profile of Ada Lovelace · Mintmark</title>", `value="ada"`, `value="Ada Lovelace"`, `value="ada@example.com"`,
		`name="time_format" value="" checked`, `<a href="` + adaPage + `"><bdi>Ada Lovelace</bdi></a>`,
	} {
		assert.Contains(t, page.body, text)
	}
	form := with(page.form(t, adaEdit), filledIn()...)
	after := root.done(root.post(adaEdit, form))
	assert.Contains(t, after.body, "Saved.")
	assert.Contains(t, after.body, "Europe/London", "administrators must see the whole profile")
	assert.Equal(t, ledger.Person{
		Email: "king@example.com", Name: "Ada <King>", Bio: "I count.\nAlso days.", AvatarURL: "https://ada.example/a.png", Locale: "en-GB",
		TimeZone: "Europe/London", TimeFormat: 12, WeekStart: "Monday", DefaultScheduleID: "s-1", OrganizationID: "o-1",
	}, w.userByName("ada.l").Person)

	account := ada.get("/account")
	require.Equal(t, http.StatusOK, account.StatusCode, "an edit must not end sessions")
	for _, text := range []string{"Ada &lt;King&gt;", "Also days.", "12 hours", "Europe/London", "To change something, ask"} {
		assert.Contains(t, account.body, text)
	}
	n := w.browser()
	assert.Equal(t, http.StatusSeeOther, n.signIn(n.get("/auth/sign-in"), "ada.l", password).StatusCode, "with the new name")

	state := w.index
	assert.Equal(t, adaPage+"?done=edited", leadsTo(root.post(adaEdit, form)), "the same form twice")
	assert.Equal(t, state, w.index)
	assert.Contains(t, root.get("/admin/audit?kind=user.edited").body, "<bdi>ada.l</bdi>")

	asItIs := root.done(root.press(adaEdit, adaEdit, filledIn()...)).body
	assert.Contains(t, asItIs, "There was nothing to change.")
	assert.NotContains(t, asItIs, "Saved.")
	assert.Equal(t, state, w.index)

	page = root.get(adaEdit)
	assert.Contains(t, page.body, `name="time_format" value="12" checked`)
	assert.Contains(t, page.body, "I count.\nAlso days.</textarea>")
	cleared := []string{}
	for i, one := range filledIn() {
		if i%2 == 0 && one != "username" {
			cleared = append(cleared, one, "")
		}
	}
	root.done(root.press(adaEdit, adaEdit, append(cleared, "username", "ada")...))
	assert.Equal(t, ledger.Person{}, w.userByName("ada").Person, "empty fields must not be set")

	// The administrator's own profile, from the account page.
	assert.Contains(t, root.get("/account").body, `<a href="/admin/users/u-root/edit">Change your profile</a>`)
	root.done(root.press("/admin/users/u-root/edit", "/admin/users/u-root/edit", "username", "root", "name", "The Root"))
	assert.Equal(t, "The Root", w.userByName("root").Name)
}

// TestEditUserKeepsTheClock verifies that an unchanged time format stays as it was.
func TestEditUserKeepsTheClock(t *testing.T) {
	w, root := administration(t)
	chosen := regexp.MustCompile(`name="time_format" value="(\d*)" checked`)
	for _, clock := range []int{0, 12, 24} {
		u := w.userByName("ada")
		p := u.Person
		p.TimeFormat = clock
		w.must(&ledger.SetPerson{Actor: operator, User: u.ID, Username: u.Username, Person: p, ExpectedLast: u.Last})
		page := root.get(adaEdit)
		sent := chosen.FindAllStringSubmatch(page.body, -1)
		require.Len(t, sent, 1)
		root.done(root.post(adaEdit, with(page.form(t, adaEdit), "username", "ada", "name", fmt.Sprint("Ada ", clock), "time_format", sent[0][1])))
		assert.Equal(t, clock, w.userByName("ada").TimeFormat)
		assert.Equal(t, fmt.Sprint("Ada ", clock), w.userByName("ada").Name)
	}
}

func TestEditUserRefusals(t *testing.T) {
	w, root := administration(t)
	for _, test := range []struct{ field, value, says string }{
		{"username", "", "Username is missing."},
		{"username", "BOB", "Username is taken."},
		{"username", "a da", "Username may not hold spaces"},
		{"name", strings.Repeat("x", 101), "Name is too long."},
		{"email", strings.Repeat("x", 255), "Email address is too long."},
		{"bio", strings.Repeat("x", 1001), "About is too long."},
		{"bio", "x\u202e", "About holds a control character."},
		{"avatar_url", "javascript:alert(1)", "Picture must begin with https:// or http://."},
		{"locale", strings.Repeat("x", 36), "Language is too long."},
		{"time_zone", strings.Repeat("x", 65), "Time zone is too long."},
		{"time_format", "13", "Clock must be 12 or 24."},
		{"time_format", "noon", "Clock must be 12 or 24."},
		{"week_start", strings.Repeat("x", 17), "First day of the week is too long."},
		{"default_schedule_id", strings.Repeat("x", 65), "Default schedule is too long."},
		{"organization_id", strings.Repeat("x", 65), "Organization is too long."},
	} {
		state := w.index
		res := root.press(adaEdit, adaEdit, append(filledIn(), test.field, test.value)...)
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, test)
		assert.Contains(t, res.body, fmt.Sprintf(`<p class="error" id="f-%s-error">%s`, test.field, test.says), test)
		for i, kept := range filledIn() {
			if i%2 == 1 && filledIn()[i-1] != test.field && filledIn()[i-1] != "bio" && filledIn()[i-1] != "name" {
				assert.Contains(t, res.body, `value="`+kept+`"`, "%s: input is kept", test.field)
			}
		}
		assert.Equal(t, state, w.index, test)
	}
	assert.Equal(t, "Ada Lovelace", w.userByName("ada").Name)
}

// TestEditUserMeanwhile verifies that two administrators don't undo each other.
func TestEditUserMeanwhile(t *testing.T) {
	w, root := administration(t)
	form := with(root.get(adaEdit).form(t, adaEdit), "username", "ada", "name", "Ada One")
	rita := w.signedInAs("rita")
	rita.done(rita.press(adaEdit, adaEdit, "username", "ada", "name", "Ada Two"))
	w.lag()
	res := root.post(adaEdit, form)
	w.lagging = nil
	assert.Equal(t, http.StatusConflict, res.StatusCode)
	assert.Contains(t, res.body, "Something changed while the page was open")
	assert.Contains(t, res.body, `value="Ada One"`, "input is kept")
	assert.Equal(t, "Ada Two", w.userByName("ada").Name)
	root.done(root.post(adaEdit, with(res.form(t, adaEdit), "username", "ada", "name", "Ada One")))
	assert.Equal(t, "Ada One", w.userByName("ada").Name, "the redisplayed form must work")

	again := with(root.get(adaEdit).form(t, adaEdit), "username", "ada", "name", "Ada Three")
	assert.Equal(t, http.StatusForbidden, root.post(adaEdit, with(maps.Clone(again), "expected_last", anySeen)).StatusCode, "expected_last must be bound to the form")
	odd := url.Values{"expected_last": {"odd"}, "username": {"ada"}, "token": {userToken(root, "edit user", "u-ada\x00odd")}}
	assert.Equal(t, http.StatusBadRequest, root.post(adaEdit, odd).StatusCode)

	w.must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-ada", State: ledger.DeleteUser})
	assert.Equal(t, http.StatusNotFound, root.post(adaEdit, again).StatusCode)
	assert.Equal(t, http.StatusNotFound, root.get(adaEdit).StatusCode)
	assert.NotContains(t, root.get(adaPage).body, adaEdit)
	w.noLeader = true
	assert.Equal(t, http.StatusServiceUnavailable, root.press("/admin/users/u-bob/edit", "/admin/users/u-bob/edit", "username", "bob", "name", "B").StatusCode)
}

// TestEditUserOfAProvider verifies that the page states that the next sign-in overwrites
// the profile.
func TestEditUserOfAProvider(t *testing.T) {
	w, root := administration(t)
	w.must(&ledger.SignInUpstream{
		Session: [32]byte{1}, Issuer: "https://idp.example.com", Subject: "s", ID: "u-idp", Username: "ida", Person: ledger.Person{Name: "Ida"},
	})
	assert.Contains(t, root.get("/admin/users/u-idp/edit").body, "The user signs in at <bdi>https://idp.example.com</bdi>")
	assert.NotContains(t, root.get(adaEdit).body, "signs in at")
}
