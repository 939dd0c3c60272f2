package web_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

const (
	newUserPage = "/admin/new-user"
	adaPage     = "/admin/users/u-ada"
)

func (w *env) userByName(name string) *ledger.User {
	return ledger.At(w.memory.View()).UserByName(name)
}

func TestAdminUsers(t *testing.T) {
	w, root := administration(t)
	w.must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-bob", State: ledger.Disable})
	count := func(query string) int {
		page := root.get("/admin/users?" + query)
		require.Equal(t, http.StatusOK, page.StatusCode)
		return strings.Count(page.body, `<th scope="row">`)
	}
	for query, want := range map[string]int{
		"": 4, "q=LOVE": 1, "q=example.com": 2, "only=administrators": 2, "only=disabled": 1, "only=odd": 4, "q=nobody": 0, "only=disabled&q=ada": 0,
	} {
		assert.Equal(t, want, count(query), query)
	}
	page := root.get("/admin/users?only=disabled")
	assert.Contains(t, page.body, `<option value="disabled" selected>`)
	assert.Contains(t, page.body, `<span class="pill bad">Disabled</span>`)
	for i := range 40 {
		w.user(fmt.Sprintf("u-many-%02d", i), fmt.Sprintf("many-%02d", i), "")
	}
	assert.Contains(t, root.get("/admin/users?q=many").body, `<a class="button small" href="/admin/users?after=u-many-24&amp;q=many" rel="next">`)
	assert.Equal(t, 15, count("after=u-many-24&q=many"))
}

func TestAdminUser(t *testing.T) {
	w, root := administration(t)
	ada := w.signedIn()
	ada.allow()
	page := root.get(adaPage)
	for _, text := range []string{
		"<title>Ada Lovelace · Mintmark</title>", "<dd><bdi>ada@example.com</bdi></dd>", "<dd><bdi>u-ada</bdi></dd>", "In 1 browser",
		"<dt>Connected apps</dt><dd>1</dd>", `<a href="/admin/clients/calendar"><bdi>The calendar app</bdi></a>`,
		`<a href="/admin/audit?user=u-ada">`, "Make administrator", "Disable the account", `href="/admin/users/u-ada/password">`,
	} {
		assert.Contains(t, page.body, text)
	}
	for i := range 10 {
		w.client(fmt.Sprint("more-", i), nil)
	}
	page = root.get(adaPage)
	assert.Contains(t, page.body, `<a href="/admin/clients?owner=u-ada">All of them</a>`)

	self := root.get("/admin/users/u-root")
	assert.Contains(t, self.body, "This is you")
	assert.NotContains(t, self.body, `action="/admin`)
	assert.Equal(t, "/account/password", root.get("/admin/users/u-root/password").Header.Get("Location"))
}

func TestUserStates(t *testing.T) {
	w, root := administration(t)
	ada := w.signedIn()
	ada.allow()
	state := func(state string) map[string][]string {
		require.Contains(t, root.get(adaPage).body, `name="state" value="`+state+`"`)
		return map[string][]string{"state": {state}, "sure": {"yes"}, "token": {stateToken(root, "u-ada\x00"+state)}}
	}
	press := func(name string) answer {
		form := state(name)
		page := root.done(root.post(adaPage+"/state", form))
		state := w.index
		assert.Equal(t, adaPage+"?done="+name, leadsTo(root.post(adaPage+"/state", form)), "the same form twice")
		assert.Equal(t, state, w.index)
		return page
	}
	assert.Contains(t, press("promote").body, "The user is an administrator now.")
	assert.Equal(t, http.StatusOK, ada.get("/admin").StatusCode)
	assert.Contains(t, press("demote").body, "no longer an administrator")
	assert.Equal(t, http.StatusNotFound, ada.get("/admin").StatusCode)

	unsure, before := state("disable"), w.index
	delete(unsure, "sure")
	asked := root.post(adaPage+"/state", unsure)
	assert.Equal(t, http.StatusUnprocessableEntity, asked.StatusCode)
	assert.Contains(t, asked.body, `<li><a href="#f-sure">Confirmation is missing: tick the box if the account is to be disabled.</a></li>`)
	assert.Contains(t, asked.body, `<p class="error" id="f-sure-error">Confirmation is missing`)
	assert.Equal(t, before, w.index, "a refused form made a proposal")
	assert.Equal(t, http.StatusOK, ada.get("/account").StatusCode)
	_, account, _ := strings.Cut(asked.body, `id="danger"`)
	again := answer{asked.Response, account}.form(t, adaPage+"/state")
	assert.Equal(t, stateToken(root, "u-ada\x00disable"), again.Get("token"), "the redisplayed form must work")
	assert.Contains(t, press("disable").body, "The account was disabled. The user is signed out, and every application that was connected to the account is disconnected.")
	assert.Equal(t, http.StatusSeeOther, ada.get("/account").StatusCode)
	assert.Empty(t, w.grants())
	assert.Contains(t, press("enable").body, "The account was enabled.")
	audit := root.get("/admin/audit?kind=user.state").body
	for _, words := range []string{"made an administrator", "no longer an administrator", "disabled", "enabled"} {
		assert.Contains(t, audit, "<bdi>"+words+"</bdi>")
	}
	assert.Equal(t, http.StatusSeeOther, ada.get("/account").StatusCode, "enabling must not restore sessions")
	w.signedIn()
	assert.NotContains(t, root.get(root.noticed(adaPage, "disable")).body, "was disabled", "the notice is out of date")

	// Forms that no page has.
	for _, test := range []struct {
		user, state string
		status      int
	}{{"u-ada", "delete", 403}, {"u-rita", "odd", 403}, {"u-root", "demote", 422}, {"u-root", "disable", 422}, {"u-nobody", "disable", 404}} {
		res := root.post("/admin/users/"+test.user+"/state", map[string][]string{
			"state": {test.state}, "sure": {"yes"}, "token": {stateToken(root, test.user+"\x00"+test.state)},
		})
		assert.Equal(t, test.status, res.StatusCode, test)
		if test.status == http.StatusUnprocessableEntity {
			assert.Contains(t, res.body, "<p>Administrators do not disable or delete their own account")
		}
	}
	assert.True(t, w.userByName("root").Admin)
	assert.NotNil(t, w.userByName("ada"))
}

func TestAddUser(t *testing.T) {
	w, root := administration(t)
	page := root.get(newUserPage)
	suggested := regexp.MustCompile(`name="password" type="text" value="([a-z2-7]{5}(?:-[a-z2-7]{5}){3})"`).FindStringSubmatch(page.body)
	require.NotNil(t, suggested, page.body)
	assert.NotContains(t, root.get(newUserPage).body, suggested[1], "each page must suggest another password")

	form := with(page.form(t, newUserPage), "username", " eve ", "name", "Eve <b>", "email", "eve@example.com", "password", suggested[1], "admin", "yes")
	after := root.done(root.post(newUserPage, form))
	assert.Contains(t, after.body, "The user was added.")
	assert.Contains(t, after.body, "Eve &lt;b&gt;")
	assert.NotContains(t, after.body, suggested[1])
	eve := w.userByName("eve")
	require.NotNil(t, eve)
	assert.Equal(t, "eve@example.com", eve.Email)
	assert.True(t, eve.Admin)
	assert.Regexp(t, `^u_[A-Za-z0-9_-]{22}$`, eve.ID)
	n := w.browser()
	assert.Equal(t, http.StatusSeeOther, n.signIn(n.get("/auth/sign-in"), "eve", suggested[1]).StatusCode)
	assert.NotContains(t, w.log.String(), suggested[1])

	state := w.index
	assert.Equal(t, "/admin/users/"+eve.ID+"?done=added", leadsTo(root.post(newUserPage, form)), "the same form twice")
	assert.Equal(t, state, w.index, "the same form twice must add one user")
}

func TestAddUserRefusals(t *testing.T) {
	w, root := administration(t)
	for _, test := range []struct{ name, field, value, says string }{
		{"no name", "username", "", "Username is missing."},
		{"a taken name", "username", "ADA", "Username is taken."},
		{"a space", "username", "e ve", "Username may not hold spaces"},
		{"a long name", "username", strings.Repeat("x", 65), "Username is too long."},
		{"a long full name", "name", strings.Repeat("x", 101), "Name is too long."},
		{"a direction", "name", "x\u202e", "Name holds a control character."},
		{"a long address", "email", strings.Repeat("x", 255), "Email address is too long."},
		{"a short password", "password", "elevenchars", "Password is too short: use at least 12 characters."},
		{"no password", "password", "", "Password is too short"},
		{"a long password", "password", strings.Repeat("x", 1025), "Password is too long."},
	} {
		state := w.index
		res := root.press(newUserPage, newUserPage, append([]string{"username", "eve", "name", "Eve", "email", "e@example.com", "password", another}, test.field, test.value)...)
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, test.name)
		assert.Contains(t, res.body, fmt.Sprintf(`<p class="error" id="f-%s-error">%s`, test.field, test.says), test.name)
		for _, kept := range []string{"eve", "Eve", "e@example.com", another} {
			if test.field != "username" && kept == "eve" || test.field == "username" && kept == "Eve" {
				assert.Contains(t, res.body, `value="`+kept+`"`, "%s: input is kept", test.name)
			}
		}
		assert.Equal(t, state, w.index, test.name)
	}
	w.beforePropose = func() { w.user("u-eve", "eve", "Eve") }
	res := root.press(newUserPage, newUserPage, "username", "eve", "password", another)
	assert.Contains(t, res.body, "Username is taken.", "another administrator added the user meanwhile")
}

func TestSetUserPassword(t *testing.T) {
	w, root := administration(t)
	ada := w.signedIn()
	ada.allow()
	const page = adaPage + "/password"
	res := root.press(page, page, "password", "short")
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.body, "New password is too short: use at least 12 characters.")

	form := with(root.get(page).form(t, page), "password", another)
	assert.Contains(t, root.done(root.post(page, form)).body, "The new password counts from now on")
	assert.Equal(t, http.StatusSeeOther, ada.get("/account").StatusCode, "sessions must end")
	assert.Len(t, w.grants(), 1, "grants must stay")
	n := w.browser()
	assert.Equal(t, http.StatusUnprocessableEntity, n.signIn(n.get("/auth/sign-in"), "ada", password).StatusCode)
	assert.Equal(t, http.StatusSeeOther, n.signIn(n.get("/auth/sign-in"), "ada", another).StatusCode)

	assert.Equal(t, adaPage+"?done=password", leadsTo(root.post(page, form)), "the same form twice")
	assert.Equal(t, http.StatusOK, n.get("/account").StatusCode, "the same form twice must not end sessions again")
	assert.NotContains(t, w.log.String(), another)

	own := root.post("/admin/users/u-root/password", map[string][]string{
		"password": {another}, "token": {passwordToken(root, "u-root")},
	})
	assert.Equal(t, http.StatusNotFound, own.StatusCode, "changing one's own password needs the current one")
	w.beforePropose = func() {
		w.must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-ada", State: ledger.DeleteUser})
	}
	assert.Equal(t, http.StatusNotFound, root.press(page, page, "password", "yet another one").StatusCode)
	assert.Equal(t, http.StatusNotFound, root.get(page).StatusCode, "a deleted user has no password")
	assert.Contains(t, root.get(adaPage).body, `<span class="pill">Deleted</span>`)
	assert.NotContains(t, root.get(adaPage).body, `action="/admin`)
}

// stateToken and passwordToken return the tokens of forms that no page has.
func stateToken(b *browser, about string) string { return userToken(b, "user state", about) }

func passwordToken(b *browser, about string) string { return userToken(b, "user password", about) }

func userToken(b *browser, p web.Purpose, about string) string {
	return web.FormToken(b.session(), p, b.userID, about)
}
