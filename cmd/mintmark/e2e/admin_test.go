package e2e

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestBrowserAdministration: an administrator reviews, suspends, manages users
// and reads the audit trail, with JavaScript and without.
func TestBrowserAdministration(t *testing.T) {
	for _, mode := range []struct {
		name    string
		scripts bool
	}{{"scripts on", true}, {"scripts off", false}} {
		t.Run(mode.name, func(t *testing.T) {
			app := startApplication(t)
			s := start(t, fixturesFor(app.uri, ""))
			root, user := newTab(t), newTab(t)
			root.scripts(mode.scripts)
			user.scripts(mode.scripts)
			root.open(s.AppURL + "/")
			root.signIn("root", "administers it")
			root.press(`nav[aria-label="Main"] a[href="/admin"]`)
			user.open(s.AppURL + "/admin")
			user.signIn("alice", "correct horse")
			require.Equal(t, "Page not found", user.text("h1"), "other users can't see the page")

			reviewInBrowser(t, s, root, user, app)
			usersInBrowser(t, s, root, user)
			transferInBrowser(t, s, root)
			resourcesInBrowser(t, s, root)
			auditInBrowser(t, s, root)
		})
	}
}

// reviewInBrowser rejects and approves an application, suspends it and reinstates it.
func reviewInBrowser(t *testing.T, s *server, root, user *tab, app *application) {
	t.Helper()
	request := authorizeURL(s, "pending-app", app.uri, "scope", "PROFILE_READ")
	user.open(request)
	require.Contains(t, user.text("h1"), "has not been reviewed yet")

	root.press(`a[href="/admin/clients/pending-app"]`)
	root.press(`button[value="reject"]`)
	require.Equal(t, "Note to the owner is missing: the owner must learn what to change.", root.text("[role=alert] a"))
	require.Equal(t, "f-reason", root.focused("id"))
	root.press(`button[value="approve"]`)
	require.Contains(t, root.text("[role=status]"), "Approved. The application can be used now.")
	user.open(request)
	require.Contains(t, user.text("main"), "Pending App")
	user.open(s.AppURL + "/")

	root.press(`#danger a[href$="/suspend"]`)
	root.fill("reason", "It sends mail that nobody asked for.")
	root.press("main button.bad")
	require.Contains(t, root.text("main"), "It sends mail that nobody asked for.")
	user.open(request)
	require.Contains(t, user.text("h1"), "suspended")
	root.press(`main form[action$="/resume"] button`)
	require.Contains(t, root.text("[role=status]"), "Resumed.")
	user.open(request)
	require.Contains(t, user.text("main"), "Pending App")
	for _, text := range []string{"Resumed the application", "Suspended the application", "It sends mail that nobody asked for.", "Approved the application"} {
		require.Contains(t, root.text("#history"), text)
	}

	// Going back shows the current state, not the former one.
	root.do(chromedp.NavigateBack())
	require.Contains(t, root.text("main"), "Approved")
	require.NotContains(t, root.text("main"), "Nobody can use it.")
	root.do(chromedp.Reload())
	require.Contains(t, root.text("main"), "Approved")
}

// usersInBrowser adds a user, makes them an administrator, and disables them.
func usersInBrowser(t *testing.T, s *server, root, user *tab) {
	t.Helper()
	root.press(`nav[aria-label="Main"] a[href="/admin/users"]`)
	root.press(`a[href="/admin/new-user"]`)
	password, err := chromedp.Run(root.ctx, chromedp.Value(chromedp.CSS("#f-password")))
	require.NoError(t, err)
	root.fill("name", "Alice Two")
	root.press("main button.primary")
	require.Equal(t, "Username is missing.", root.text("[role=alert] a"))
	root.fill("username", "alice-two")
	root.press("main button.primary")
	require.Equal(t, "Alice Two was added", root.text("h1"))
	require.Equal(t, password, root.text("#password"))
	root.press("main a.primary")
	require.Equal(t, "Alice Two", root.text("h1"))

	root.press(`main a[href$="/edit"]`)
	root.fill("name", "Dr. ")
	root.fill("avatar_url", "nowhere")
	root.press("main button.primary")
	require.Equal(t, "Picture URL must begin with https:// or http://.", root.text("[role=alert] a"))
	require.Equal(t, "f-avatar_url", root.focused("id"))
	root.do(chromedp.Clear(chromedp.CSS("#f-avatar_url")))
	root.press("main button.primary")
	require.Contains(t, root.text("[role=status]"), "Saved.")
	require.Equal(t, "Dr. Alice Two", root.text("h1"))

	user.open(s.AppURL + "/account")
	user.signOut()
	user.open(s.AppURL + "/")
	user.signIn("alice-two", password)
	user.isSignedIn("Dr. Alice Two")
	root.press(`#role button`)
	require.Contains(t, root.text("[role=status]"), "is an administrator now")
	user.open(s.AppURL + "/admin")
	require.Equal(t, "Reviews", user.text("h1"))
	root.press(`#role button`)
	user.open(s.AppURL + "/admin")
	require.Equal(t, "Page not found", user.text("h1"))

	root.do(chromedp.Click(chromedp.CSS("#role summary")))
	root.press("#role button.bad")
	require.Contains(t, root.text("[role=status]"), "The user was signed out everywhere.")

	root.press(`#role a`)
	root.press("main button.primary")
	require.Contains(t, root.text("main"), "Shown once.")
	root.press("main a.primary")
	user.open(s.AppURL + "/")
	require.Equal(t, "Sign in to Mintmark", user.text("h1"))
	root.do(chromedp.Click(chromedp.CSS("#danger summary")))
	require.Contains(t, root.text("#danger"), "Disable the account of Dr. Alice Two?")
	root.press("#danger button.bad")
	require.Contains(t, root.text("main"), "Disabled")
}

// transferInBrowser disables the owner of an application, and transfers it to another
// user, who then edits it.
func transferInBrowser(t *testing.T, s *server, root *tab) {
	t.Helper()
	root.open(s.AppURL + "/admin/users/u-bob")
	root.confirm("/admin/users/u-bob/state")
	root.open(s.AppURL + "/admin/clients/legacy-app")
	require.Contains(t, root.text("main .callout.warn"), "The owner's account is disabled.")
	root.press(`main .callout.warn a`)
	root.fill("username", "bob")
	root.press("main button.bad")
	require.Equal(t, "Username is that of a disabled account.", root.text("[role=alert] a"))
	root.do(chromedp.Clear(chromedp.CSS("#f-username")))
	root.fill("username", "alice")
	root.press("main button.bad")
	require.Contains(t, root.text("[role=status]"), "The application has a new owner.")
	require.Zero(t, root.count("main .callout.warn"))
	alice := newTab(t)
	alice.open(s.AppURL + "/developer/clients/legacy-app/edit")
	alice.signIn("alice", "correct horse")
	alice.press("main button.primary")
	require.Equal(t, "Classic App", alice.text("h1"))
}

// resourcesInBrowser registers a resource server, gives it a secret by which it introspects,
// revokes the secret, and removes the resource server.
func resourcesInBrowser(t *testing.T, s *server, root *tab) {
	t.Helper()
	root.open(s.AppURL + "/admin")
	root.press(`nav[aria-label="Main"] a[href="/admin/resource-servers"]`)
	require.Contains(t, root.text("main"), "There are no resource servers yet")
	root.press(`a[href="/admin/new-resource-server"]`)
	root.fill("id", "http://rooms.example")
	root.fill("name", "rooms")
	root.do(chromedp.Click(chromedp.CSS(`input[name="only"][value="yes"]`)))
	root.do(chromedp.Click(chromedp.CSS(`input[value="BOOKING_READ"]`)))
	root.press("main button.primary")
	require.Contains(t, root.text("[role=alert] a"), "Identifier URI must be https")
	require.Equal(t, "f-id", root.focused("id"))
	root.do(chromedp.Clear(chromedp.CSS("#f-id")))
	root.fill("id", "https://rooms.example")
	root.press("main button.primary")
	require.Contains(t, root.text("[role=status]"), "Registered. Generate a secret")
	require.Contains(t, root.text("main"), "BOOKING_READ")

	page := root.location()
	root.press(".notice button")
	secret := root.text("#secret")
	require.Equal(t, "rooms", root.text("#name"))
	require.Equal(t, http.StatusOK, introspectAs(t, s, "rooms", secret))
	root.press(`main a[href="/admin/resource-servers/rooms"]`)
	require.Contains(t, root.text("tbody"), "••••"+secret[len(secret)-4:])
	root.do(chromedp.Click(chromedp.CSS("tbody summary")))
	root.press("tbody button.bad")
	require.Contains(t, root.text("[role=status]"), "Revoked. The secret is refused")
	require.Equal(t, http.StatusUnauthorized, introspectAs(t, s, "rooms", secret))
	root.do(chromedp.NavigateBack())
	require.NotContains(t, root.text("main"), secret, "going back does not show the secret again")

	root.open(page)
	root.press(`main a[href$="/edit"]`)
	root.do(chromedp.Clear(chromedp.CSS("#f-name")))
	root.fill("name", "rooms-2")
	root.press("main button.primary")
	require.Contains(t, root.text("[role=status]"), "Saved.")
	require.Equal(t, "rooms-2", root.text("h1"))
	root.press(`main a[href$="/remove"]`)
	root.fill("name", "rooms")
	root.press("main button.bad")
	require.Contains(t, root.text("[role=alert] a"), "Type “rooms-2”.")
	root.do(chromedp.Clear(chromedp.CSS("#f-name")))
	root.fill("name", "rooms-2")
	root.press("main button.bad")
	require.Contains(t, root.text("[role=status]"), "Removed rooms-2. Its secrets are refused")
}

// introspectAs returns the status of an introspection by a resource server.
func introspectAs(t *testing.T, s *server, name, secret string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.BaseURL+"/v2/auth/oauth2/introspect", strings.NewReader("token=none"))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(name, secret)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	return answer.StatusCode
}

// TestBrowserFilter: the inputs of a filter stay aligned when one of them is wrong.
func TestBrowserFilter(t *testing.T) {
	s := start(t, fixtures(""))
	b := newTab(t)
	b.open(s.AppURL + "/admin/audit")
	b.signIn("root", "administers it")
	b.setDisplay(1280, "light")
	type box struct{ Left, Width, Top float64 }
	boxes := func(query string) (list []box) {
		b.open(s.AppURL + "/admin/audit" + query)
		list, err := chromedp.Run(b.ctx, chromedp.Evaluate[[]box](`(() => {
			const top = document.querySelector("form.filter").getBoundingClientRect().top
			return [...document.querySelectorAll("form.filter input, form.filter select")].map(e => e.getBoundingClientRect())
				.map(r => ({Left: r.left, Width: r.width, Top: r.top - top}))
		})()`))
		require.NoError(t, err)
		require.Len(t, list, 5)
		return list
	}
	right, wrong := boxes(""), boxes("?from=yesterday")
	require.Contains(t, b.text(".filter .error"), "must be a day such as")
	for i := range right {
		require.Equal(t, right[i].Left, wrong[i].Left, "input %d", i)
		require.Equal(t, right[i].Width, wrong[i].Width, "input %d", i)
		if i < 3 { // of the first row
			require.Equal(t, right[i].Top, wrong[i].Top, "input %d", i)
			require.Equal(t, right[0].Top, right[i].Top, "input %d", i)
		}
	}
}

// auditInBrowser finds events, and downloads them.
func auditInBrowser(t *testing.T, s *server, root *tab) {
	t.Helper()
	root.press(`nav[aria-label="Main"] a[href="/admin/audit"]`)
	root.fill("user", "root")
	root.press("form.filter button")
	require.Contains(t, root.location(), "user=root")
	root.open(s.AppURL + "/admin/audit?user=root&from=never") // an input for times takes no such text
	require.Contains(t, root.text("[role=alert] a"), "must be a day such as")
	root.open(s.AppURL + "/admin/audit?" + url.Values{"user": {"root"}, "kind": {"client.reviewed"}}.Encode())
	require.Contains(t, strings.Join(strings.Fields(root.text("table")), " "), "Approved Pending App")
	file, _ := root.downloads(`a[href^="/admin/audit.jsonl"]`)
	var details []string
	for _, row := range downloaded(t, file) {
		require.Equal(t, "pending-app", row[2])
		details = append(details, row[4])
	}
	require.Equal(t, []string{"resume", "suspend: It sends mail that nobody asked for.", "approve"}, details)
}
