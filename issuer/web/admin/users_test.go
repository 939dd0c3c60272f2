package admin_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

func TestAdminUsers(t *testing.T) {
	w, root := Administration(t)
	w.Must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-bob", State: ledger.Disable})
	count := func(query string) int {
		page := root.Get("/admin/users?" + query)
		require.Equal(t, http.StatusOK, page.StatusCode)
		return strings.Count(page.Text, `<th scope="row">`)
	}
	for query, want := range map[string]int{
		"": 4, "q=LOVE": 1, "q=example.com": 2, "only=administrators": 2, "only=disabled": 1, "only=odd": 4, "q=nobody": 0, "only=disabled&q=ada": 0,
	} {
		assert.Equal(t, want, count(query), query)
	}
	page := root.Get("/admin/users?only=disabled")
	assert.Contains(t, page.Text, `<option value="disabled" selected>`)
	assert.Contains(t, page.Text, `<span class="pill bad">Disabled</span>`)
	for i := range 40 {
		w.User(fmt.Sprintf("u-many-%02d", i), fmt.Sprintf("many-%02d", i), "")
	}
	assert.Contains(t, root.Get("/admin/users?q=many").Text, `<a class="button small" href="/admin/users?after=u-many-24&amp;q=many" rel="next">`)
	assert.Equal(t, 15, count("after=u-many-24&q=many"))
}

func TestAdminUser(t *testing.T) {
	w, root := Administration(t)
	ada := w.SignedIn()
	ada.Allow()
	page := root.Get(AdaPage)
	for _, text := range []string{
		"<title>Ada Lovelace · Mintmark</title>", "<bdi>ada · ada@example.com</bdi>", `<code id="account-id">u-ada</code>`, "In 1 browser, last used ",
		"Disconnect The calendar app from Ada Lovelace?", `<a href="/admin/clients/calendar"><bdi>The calendar app</bdi></a>`,
		`href="/admin/audit?user=u-ada">All events</a>`, "Make administrator", "Disable the account of Ada Lovelace?", `href="/admin/users/u-ada/password">`,
	} {
		assert.Contains(t, page.Text, text)
	}
	for i := range 10 {
		w.Client(fmt.Sprint("more-", i), nil)
	}
	page = root.Get(AdaPage)
	assert.Contains(t, page.Text, `<a href="/admin/clients?owner=u-ada">All applications</a>`)

	self := root.Get("/admin/users/u-root")
	assert.Contains(t, self.Text, `<span class="pill">You</span>`)
	assert.Contains(t, self.Text, "Only another administrator can disable you.")
	assert.NotContains(t, self.Text, `action="/admin`)
	assert.Equal(t, "/account/password", root.Get("/admin/users/u-root/password").Header.Get("Location"))
}

// TestDisconnectUser verifies that an administrator ends the access of one application and no other.
func TestDisconnectUser(t *testing.T) {
	w, root := Administration(t)
	w.SignedIn().Allow()
	w.Must(&ledger.ReviewClient{Actor: ledger.Actor{Operator: true}, ID: "calendar", Revision: w.View().Client("calendar").Revision, Verdict: ledger.Suspend})
	assert.Contains(t, root.Get(AdaPage).Text, `The calendar app</bdi></a> <span class="pill bad">Suspended</span>`)
	sent := root.Submit(AdaPage, "/admin/users/u-ada/disconnect")
	require.Equal(t, 303, sent.StatusCode, sent.Text)
	page := root.Get(sent.Header.Get("Location"))
	assert.Contains(t, page.Text, "The app was disconnected. Access that it got just before may keep working for up to 30 minutes.")
	assert.Contains(t, page.Text, "<dt>Connected apps</dt><dd>None</dd>")
	assert.Contains(t, page.Text, "Disconnected")
	assert.Empty(t, w.View().GrantsOf("u-ada", w.Now()))
}

// TestRefusedFormOnThePageOfAUser: a form of one kind is no form of the others on the page.
func TestRefusedFormOnThePageOfAUser(t *testing.T) {
	w, root := Administration(t)
	w.Advance(16 * time.Minute) // root has to enter the password again
	w.SignedIn().Allow()
	for _, password := range []string{"", "wrong"} {
		res := root.Post(AdaPage+"/state", map[string][]string{
			"state": {"promote"}, "token": {stateToken(root, "u-ada\x00promote")}, site.OwnPassword: {password},
		})
		require.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, res.Text)
		assert.Contains(t, res.Text, "Disconnect The calendar app")
	}
	assert.False(t, w.UserByName("ada").Admin)
}

func TestUserStates(t *testing.T) {
	w, root := Administration(t)
	ada := w.SignedIn()
	ada.Allow()
	state := func(state string) map[string][]string {
		require.Contains(t, root.Get(AdaPage).Text, `name="state" value="`+state+`"`)
		return map[string][]string{"state": {state}, "token": {stateToken(root, "u-ada\x00"+state)}}
	}
	again := map[string]int{"sign-out": 1} // commands by the second form: sessions may have begun meanwhile
	press := func(name string) Answer {
		form := state(name)
		page := root.Done(root.Post(AdaPage+"/state", form))
		state := w.Index
		assert.Equal(t, AdaPage+"?done="+name, LeadsTo(root.Post(AdaPage+"/state", form)), "the same form twice")
		assert.Equal(t, state, w.Index-uint64(again[name]))
		return page
	}
	assert.Contains(t, press("promote").Text, "The user is an administrator now.")
	assert.Equal(t, http.StatusOK, ada.Get("/admin").StatusCode)
	assert.Contains(t, press("demote").Text, "no longer an administrator")
	assert.Equal(t, http.StatusNotFound, ada.Get("/admin").StatusCode)

	assert.Contains(t, root.Get(AdaPage).Text, "<b>Sign Ada Lovelace out everywhere?</b> The user has to sign in again.")
	assert.Contains(t, press("sign-out").Text, "The user was signed out everywhere.")
	assert.Equal(t, http.StatusSeeOther, ada.Get("/account").StatusCode)
	assert.NotContains(t, root.Get(AdaPage).Text, "Sign out everywhere")
	assert.Len(t, w.Grants(), 1)

	_, asked, _ := strings.Cut(root.Get(AdaPage).Text, `id="danger"`)
	assert.Contains(t, asked, `<details class="confirm"><summary class="button bad">Disable account</summary>`)
	disabled := press("disable").Text
	assert.Contains(t, disabled, "The account was disabled. The user is signed out, and no application can use the account.")
	assert.NotContains(t, disabled, "<b>Disabled by", "one notice is enough")
	assert.Contains(t, root.Get(AdaPage).Text, `<b>Disabled by <a href="/admin/users/u-root"><bdi>root</bdi></a> <time`)
	assert.Equal(t, http.StatusSeeOther, ada.Get("/account").StatusCode)
	assert.Empty(t, w.Grants())
	assert.Contains(t, press("enable").Text, "The account was enabled.")
	audit := root.Get("/admin/audit?kind=user.state").Text
	for _, words := range []string{"Made %s an administrator", "Withdrew the role of administrator from %s", "Disabled the account of %s", "Signed %s out everywhere", "Enabled the account of %s"} {
		assert.Contains(t, audit, fmt.Sprintf(words, `<a href="/admin/users/u-ada"><bdi>ada</bdi></a>`))
	}
	assert.Equal(t, http.StatusSeeOther, ada.Get("/account").StatusCode, "enabling must not restore sessions")
	w.SignedIn()
	assert.NotContains(t, root.Get(root.Noticed(AdaPage, "disable")).Text, "was disabled", "the notice is out of date")

	// Forms that no page has.
	for _, test := range []struct {
		user, state string
		status      int
	}{{"u-ada", "delete", 403}, {"u-rita", "odd", 403}, {"u-root", "demote", 422}, {"u-root", "disable", 422}, {"u-nobody", "disable", 404}} {
		res := root.Post("/admin/users/"+test.user+"/state", map[string][]string{
			"state": {test.state}, "token": {stateToken(root, test.user+"\x00"+test.state)},
		})
		assert.Equal(t, test.status, res.StatusCode, test)
		if test.status == http.StatusUnprocessableEntity {
			assert.Contains(t, res.Text, "<p>Administrators do not disable or delete their own account")
		}
	}
	assert.True(t, w.UserByName("root").Admin)
	assert.NotNil(t, w.UserByName("ada"))
}

func TestAddUser(t *testing.T) {
	w, root := Administration(t)
	page := root.Get(NewUserPage)
	suggested := regexp.MustCompile(`name="password" type="text" value="([a-z2-7]{5}(?:-[a-z2-7]{5}){3})"`).FindStringSubmatch(page.Text)
	require.NotNil(t, suggested, page.Text)
	assert.NotContains(t, root.Get(NewUserPage).Text, suggested[1], "each page must suggest another password")

	form := With(page.Form(t, NewUserPage), "username", " eve ", "name", "Eve <b>", "email", "eve@example.com", "password", suggested[1], "admin", "yes")
	after := root.Post(NewUserPage, form)
	require.Equal(t, http.StatusOK, after.StatusCode, after.Text)
	assert.Equal(t, "no-store", after.Header.Get("Cache-Control"))
	for _, text := range []string{"Eve &lt;b&gt; was added", "<b>Shown once.</b>", `<code id="username">eve</code>`, `<code id="password">` + suggested[1] + "</code>"} {
		assert.Contains(t, after.Text, text)
	}
	eve := w.UserByName("eve")
	require.NotNil(t, eve)
	assert.Equal(t, "eve@example.com", eve.Email)
	assert.True(t, eve.Admin)
	assert.Regexp(t, `^u_[A-Za-z0-9_-]{22}$`, eve.ID)
	n := w.Browser()
	assert.Equal(t, http.StatusSeeOther, n.SignIn(n.Get("/auth/sign-in"), "eve", suggested[1]).StatusCode)
	assert.NotContains(t, w.Log.String(), suggested[1])

	both := root.Press(NewUserPage, NewUserPage, "username", "EVE", "password", "short").Text
	for _, text := range []string{"The user wasn’t added.", "Username is taken.", "Password is too short"} {
		assert.Contains(t, both, text, "all problems at once")
	}

	state := w.Index
	again := root.Post(NewUserPage, form)
	assert.Equal(t, "/admin/users/"+eve.ID+"?done=added", LeadsTo(again), "the same form twice")
	assert.Contains(t, root.Done(again).Text, "The user was added.")
	assert.Equal(t, state, w.Index, "the same form twice must add one user")
}

func TestAddUserRefusals(t *testing.T) {
	w, root := Administration(t)
	for _, test := range []struct{ name, field, value, says string }{
		{"no name", "username", "", "Username is missing."},
		{"a taken name", "username", "ADA", "Username is taken."},
		{"a space", "username", "e ve", "Username may not hold spaces"},
		{"a long name", "username", strings.Repeat("x", 65), "Username is too long: "},
		{"a long full name", "name", strings.Repeat("x", 101), "Name is too long: "},
		{"a direction", "name", "x\u202e", "Name holds a control character."},
		{"a long address", "email", "x@" + strings.Repeat("x", 253), "Email address is too long: "},
		{"no address", "email", "x", "Email address needs an @, such as in ada@example.com."},
		{"a short password", "password", "elevenchars", "Password is too short: use at least 12 characters."},
		{"no password", "password", "", "Password is too short"},
		{"a long password", "password", strings.Repeat("x", 1025), "Password is too long: "},
	} {
		state := w.Index
		res := root.Press(NewUserPage, NewUserPage, append([]string{"username", "eve", "name", "Eve", "email", "e@example.com", "password", Another}, test.field, test.value)...)
		assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode, test.name)
		assert.Contains(t, res.Text, fmt.Sprintf(`<p class="error" id="f-%s-error">%s`, test.field, test.says), test.name)
		for _, kept := range []string{"eve", "Eve", "e@example.com", Another} {
			if test.field != "username" && kept == "eve" || test.field == "username" && kept == "Eve" {
				assert.Contains(t, res.Text, `value="`+kept+`"`, "%s: input is kept", test.name)
			}
		}
		assert.Equal(t, state, w.Index, test.name)
	}
	w.BeforePropose = func() { w.User("u-eve", "eve", "Eve") }
	res := root.Press(NewUserPage, NewUserPage, "username", "eve", "password", Another)
	assert.Contains(t, res.Text, "Username is taken.", "another administrator added the user meanwhile")
}

func TestSetUserPassword(t *testing.T) {
	w, root := Administration(t)
	ada := w.SignedIn()
	ada.Allow()
	const page = AdaPage + "/password"
	res := root.Press(page, page, "password", "short")
	assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
	assert.Contains(t, res.Text, "New password is too short: use at least 12 characters.")

	form := With(root.Get(page).Form(t, page), "password", Another)
	given := root.Post(page, form)
	require.Equal(t, http.StatusOK, given.StatusCode, given.Text)
	assert.Equal(t, "no-store", given.Header.Get("Cache-Control"))
	assert.Contains(t, given.Text, `<code id="password">`+Another+"</code>")
	assert.Equal(t, http.StatusSeeOther, ada.Get("/account").StatusCode, "sessions must end")
	assert.Len(t, w.Grants(), 1, "grants must stay")
	n := w.Browser()
	assert.Equal(t, http.StatusUnprocessableEntity, n.SignIn(n.Get("/auth/sign-in"), "ada", Password).StatusCode)
	assert.Equal(t, http.StatusSeeOther, n.SignIn(n.Get("/auth/sign-in"), "ada", Another).StatusCode)

	assert.Contains(t, root.Post(page, form).Text, "<b>Shown once.</b>", "the same form twice")
	assert.Equal(t, http.StatusOK, n.Get("/account").StatusCode, "the same form twice must not end sessions again")
	assert.NotContains(t, w.Log.String(), Another)

	own := root.Post("/admin/users/u-root/password", map[string][]string{
		"password": {Another}, "token": {passwordToken(root, "u-root\x00")},
	})
	assert.Equal(t, http.StatusNotFound, own.StatusCode, "changing one's own password needs the current one")
	w.BeforePropose = func() {
		w.Must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-ada", State: ledger.DeleteUser})
	}
	assert.Equal(t, http.StatusNotFound, root.Press(page, page, "password", "yet another one").StatusCode)
	assert.Equal(t, http.StatusNotFound, root.Get(page).StatusCode, "a deleted user has no password")
	assert.Contains(t, root.Get(AdaPage).Text, `<span class="pill">Deleted</span>`)
	assert.NotContains(t, root.Get(AdaPage).Text, `action="/admin`)
}

// TestSetUserPasswordAgain verifies that the form of a page, sent again, does not undo what the
// user has changed since.
func TestSetUserPasswordAgain(t *testing.T) {
	w, root := Administration(t)
	const page = AdaPage + "/password"
	form := With(root.Get(page).Form(t, page), "password", Another)
	require.Equal(t, http.StatusOK, root.Post(page, form).StatusCode)
	ada := w.Browser()
	require.Equal(t, http.StatusSeeOther, ada.SignIn(ada.Get("/auth/sign-in"), "ada", Another).StatusCode)
	const own = "a phrase of her own"
	require.Equal(t, http.StatusSeeOther, ada.ChangePassword(Another, own, own).StatusCode)

	again := root.Post(page, form)
	assert.Equal(t, http.StatusConflict, again.StatusCode)
	assert.Contains(t, again.Text, site.NoticeMoved)
	assert.Equal(t, http.StatusOK, ada.Get("/account").StatusCode, "the user's session must stay")
	for password, status := range map[string]int{own: http.StatusSeeOther, Another: http.StatusUnprocessableEntity} {
		b := w.Browser()
		assert.Equal(t, status, b.SignIn(b.Get("/auth/sign-in"), "ada", password).StatusCode, password)
	}

	form = With(again.Form(t, page), "password", "yet another phrase")
	w.BeforePropose = func() {
		w.Must(&ledger.SetPassword{Actor: Operator, User: "u-ada", Password: "hash of what an operator chose"})
	}
	assert.Equal(t, http.StatusConflict, root.Post(page, form).StatusCode, "changed meanwhile")
	w.BeforePropose = func() {
		w.Must(&ledger.SetPassword{Actor: Operator, User: "u-ada", Password: "hash of yet another phrase"})
	}
	form = With(root.Get(page).Form(t, page), "password", "yet another phrase")
	given := root.Post(page, form)
	assert.Contains(t, given.Text, "<b>Shown once.</b>", "two clicks at the same time")
}

// stateToken and passwordToken return the tokens of forms that no page has.
func stateToken(b *Browser, about string) string { return userToken(b, "user state", about) }

func passwordToken(b *Browser, about string) string { return userToken(b, "user password", about) }

func userToken(b *Browser, p site.Purpose, about string) string {
	return site.FormToken(b.Session(), p, b.UserID, about)
}

// TestListsAreSorted verifies the order, the position and the heads of lists.
func TestListsAreSorted(t *testing.T) {
	w, root := Administration(t)
	for i := range 30 {
		w.Advance(time.Minute)
		w.User(fmt.Sprintf("u-%02d", i), fmt.Sprintf("zed%02d", 29-i), "Zed")
		w.Client(fmt.Sprintf("z%02d", i), func(c *ledger.ImportClient) { c.Profile.Name = fmt.Sprintf("Zed %02d", 29-i) })
	}
	for path, want := range map[string][]string{
		"/admin/clients?q=zed":              {"Zed 00", `aria-sort="ascending"><a href="/admin/clients?q=zed">Application`, `<a href="/admin/clients?q=zed&amp;sort=changed">Changed`},
		"/admin/clients?q=zed&sort=changed": {"Zed 00", `aria-sort="descending"><a href="/admin/clients?q=zed&amp;sort=changed">Changed`},
		"/admin/users?q=zed":                {"zed00", `aria-sort="ascending"><a href="/admin/users?q=zed">Username`},
		"/admin/users?q=zed&sort=created":   {"zed00", `aria-sort="descending"><a href="/admin/users?q=zed&amp;sort=created">Added`},
	} {
		page := root.Get(path)
		_, first, _ := strings.Cut(page.Text, `<th scope="row">`)
		first, _, _ = strings.Cut(first, "</a>")
		assert.Contains(t, first, want[0], path)
		for _, text := range append(want[1:], `<p role="status">1–25 of 30</p>`) {
			assert.Contains(t, page.Text, text, path)
		}
		_, next, _ := strings.Cut(page.Text, `<a class="button small" href="`)
		next, _, _ = strings.Cut(next, `"`)
		assert.Contains(t, root.Get(html.UnescapeString(next)).Text, `<p role="status">26–30 of 30</p>`, path)
	}
}

// TestJumpToALetter: a list with several pages has a link for each letter that begins a name, and
// the page behind it has the others before it.
func TestJumpToALetter(t *testing.T) {
	w, root := Administration(t)
	assert.NotContains(t, root.Get("/admin/users").Text, "Jump to a letter")
	for i := range 30 {
		name := fmt.Sprintf("%c-many-%02d", 'f'+i%2*7, i)
		w.User("u-"+name, name, "")
		w.Client(name, func(c *ledger.ImportClient) { c.Profile.Name = strings.ToUpper(name) })
	}
	for path, want := range map[string]struct{ first, letters, count string }{
		"/admin/users?jump=m":                  {"m-many-01", "ABFMR", `18–34 of 34`},
		"/admin/users?jump=g":                  {"m-many-01", "ABFMR", `18–34 of 34`},
		"/admin/clients?jump=F":                {"F-MANY-00", "FMT", `1–25 of 36`},
		"/admin/clients?jump=m&state=approved": {"M-MANY-01", "FMT", `16–33 of 33`},
	} {
		page := root.Get(path)
		letters := regexp.MustCompile(`<a href="/admin/[^"]*jump=[^"]*">([A-Z])</a>`).FindAllStringSubmatch(page.Text, -1)
		var all string
		for _, one := range letters {
			all += one[1]
		}
		assert.Equal(t, want.letters, all, path)
		_, rows, _ := strings.Cut(page.Text, `<th scope="row">`)
		first, _, _ := strings.Cut(rows, "</bdi>")
		assert.True(t, strings.HasSuffix(first, "<bdi>"+want.first), "%s: %s", path, first)
		assert.Contains(t, page.Text, `<p role="status">`+want.count+`</p>`, path)
		assert.Contains(t, page.Text, ">First</a>", path)
	}
	assert.NotContains(t, root.Get("/admin/users?q=many").Text, "Jump to a letter")
	assert.NotContains(t, root.Get("/admin/users?sort=created").Text, "Jump to a letter")
}
