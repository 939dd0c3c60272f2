package e2e

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// tour visits every kind of page, by name, and misses no route of the pages.
func tour(t *testing.T, b *tab, see func(name string)) {
	t.Helper()
	visited := visitedPages{}
	look := func(name string) {
		t.Helper()
		visited.add(t, b.location())
		see(name)
	}
	app := startApplication(t)
	s := start(t, fixturesFor(app.uri, resourceServers))
	request := authorizeURL(s, "cal-app", app.uri, "scope", "PROFILE_READ BOOKING_READ BOOKING_WRITE TEAM_BOOKING_READ ORG_PROFILE_READ")

	b.open(s.AppURL + "/auth/sign-in")
	look("sign-in")
	b.open(request)
	look("sign-in-for-a-client")
	b.signIn("alice", "wrong password")
	look("sign-in-again")
	b.signIn("alice", "correct horse")
	look("consent")
	b.open(s.AppURL + "/")
	look("home")
	b.open(s.AppURL + "/connected-apps")
	look("apps-none")
	b.open(request)
	b.press(`button[value="allow"]`)
	b.open(request)
	look("consent-again")
	b.open(authorizeURL(s, "legacy-app", app.uri))
	look("consent-legacy")
	b.press(`button[value="allow"]`)
	b.open(s.AppURL + "/connected-apps")
	look("apps")
	b.do(chromedp.Click(chromedp.CSS("main summary")))
	look("apps-all")
	b.open(s.AppURL + "/connected-apps/cal-app")
	look("app")
	b.open(s.AppURL + "/connected-apps/legacy-app")
	look("app-legacy")
	b.confirm("/connected-apps/disconnect")
	look("apps-disconnected")
	b.open(s.AppURL + "/account")
	look("account")
	for range 11 {
		signInWithoutBrowser(t, s, "alice", "correct horse")
	}
	b.open(s.AppURL + "/account")
	look("account-many-sessions")
	b.press(`nav.pager a[rel="next"]`)
	b.press(`form[action="/account/sign-out"] button`)
	look("account-signed-out")
	b.press(`main a[href="/account/password"]`)
	look("password")
	b.do(chromedp.SendKeys(chromedp.CSS("#f-new"), "short"))
	b.press("main button.primary")
	look("password-problems")
	b.open(authorizeURL(s, "cal-app", app.uri+"/other", "scope", "PROFILE_READ"))
	look("error")
	b.open(s.AppURL + "/account")
	b.confirm("/account/sign-out-everywhere")
	look("sign-in-signed-out-everywhere")
	tourDeveloper(b, s, app, look)
	b.open(s.AppURL + "/account")
	b.signOut() // the next server has the same host, and cookies ignore the port
	n := serve(t, freePort(t), app.uri, upstreamSettings("http://localhost:1")...)
	b.open(n.AppURL + "/auth/sign-in")
	look("sign-in-elsewhere")
	b.press("a.button")
	look("sign-in-elsewhere-down")
	b.open(n.AppURL + "/auth/upstream/callback?error=access_denied")
	look("sign-in-elsewhere-not-begun")
	n.OK("", "user", "admin", "alice")
	b.open(n.AppURL + "/auth/sign-in")
	b.do(chromedp.SendKeys(chromedp.CSS("#username"), "alice"), chromedp.SendKeys(chromedp.CSS("#password"), "correct horse"))
	b.press(`form[action="/auth/sign-in"] button`)
	b.open(n.AppURL + "/auth/upstream/callback/confirm")
	look("confirm-elsewhere-old-link")
	b.open(serveParts(t))
	look("parts")
	tourAdmin(b, s, look)
	tourErrors(t, b, s, look)
	tourUnavailable(t, b, look)
	tourAgents(t, b, look)
	require.Empty(t, visited.missed(pageRoutes(t)), "pages that the tour does not visit")
}

// tourAdmin visits the pages of administrators.
func tourAdmin(b *tab, s *server, look func(name string)) {
	b.open(s.AppURL + "/admin")
	b.signIn("root", "administers it")
	look("admin-queue")
	for range 25 {
		signInWithoutBrowser(b.t, s, "bob", "battery staple")
	}
	for _, page := range []struct{ path, name string }{
		{"?q=nothing", "admin-queue-nothing-found"},
		{"/clients", "admin-clients"},
		{"/clients?q=nothing&state=approved", "admin-clients-none"},
		{"/clients/pending-app", "admin-client-pending"},
		{"/clients/legacy-app", "admin-client-legacy"},
		{"/clients/cal-app/transfer", "admin-transfer"},
		{"/users", "admin-users"},
		{"/users/u-alice", "admin-user"},
		{"/users/u-root", "admin-user-self"},
		{"/users/u-alice/password", "admin-user-password"},
		{"/users/u-alice/edit", "admin-user-edit"},
		{"/new-user", "admin-user-new"},
		{"/branding", "admin-branding"},
		{"/resource-servers", "admin-resources"},
		{"/resource-servers?q=nothing", "admin-resources-nothing-found"},
		{"/resource-servers/bookings", "admin-resource"},
		{"/resource-servers/calendar", "admin-resource-without-secret"},
		{"/resource-servers/bookings/edit", "admin-resource-edit"},
		{"/resource-servers/bookings/remove", "admin-resource-remove"},
		{"/new-resource-server", "admin-resource-new"},
		{"/audit", "admin-audit"},
		{"/audit?user=alice&kind=session&from=2026-01-01", "admin-audit-filtered"},
		{"/audit?from=yesterday", "admin-audit-problem"},
	} {
		b.open(s.AppURL + "/admin" + page.path)
		look(page.name)
	}
	b.open(s.AppURL + "/admin/audit?kind=session")
	b.press(`nav.pager a[rel="next"]`)
	look("admin-audit-second")
	b.open(s.AppURL + "/admin/users/u-alice/edit")
	b.fill("avatar_url", "javascript:alert(1)")
	b.press("main button.primary")
	look("admin-user-edit-problem")
	b.open(s.AppURL + "/admin/clients/pending-app")
	b.press(`button[value="reject"]`)
	look("admin-client-problem")
	b.open(s.AppURL + "/admin/new-user")
	b.press("main button.primary")
	look("admin-user-new-problem")
	tourResources(b, s, look)
	b.open(s.AppURL + "/admin/clients/cal-app")
	look("admin-client")
	b.press(`#danger a[href$="/suspend"]`)
	look("admin-suspend")
	b.fill("reason", "It sends mail that nobody asked for.")
	b.press("main button.bad")
	look("admin-client-suspended")
	b.open(s.AppURL + "/admin/users/u-bob")
	b.do(chromedp.Click(chromedp.CSS("#danger summary")))
	look("admin-user-disable")
	b.press("#danger button.bad")
	look("admin-user-disabled")
	b.open(s.AppURL + "/admin/clients/legacy-app")
	look("admin-client-owner-gone")
	b.press(`.callout.warn a[href$="/transfer"]`)
	b.fill("username", "bob")
	b.press("main button.bad")
	look("admin-transfer-problem")
	b.do(chromedp.Clear(chromedp.CSS("#f-username")))
	b.fill("username", "alice")
	b.press("main button.bad")
	look("admin-client-transferred")
}

// tourResources visits what the forms of resource servers lead to.
func tourResources(b *tab, s *server, look func(name string)) {
	b.open(s.AppURL + "/admin/new-resource-server")
	b.fill("id", "http://bookings.example")
	b.press("main button.primary")
	look("admin-resource-new-problem")
	b.open(s.AppURL + "/admin/resource-servers/bookings")
	b.press("main button.primary")
	look("admin-resource-secret")
	b.press(`main a[href="/admin/resource-servers/bookings"]`)
	b.do(chromedp.Click(chromedp.CSS("tbody tr:nth-child(2) summary")))
	look("admin-resource-two-secrets")
	b.press("tbody tr:nth-child(2) button.bad")
	look("admin-resource-revoked")
	b.press(`main a[href$="/remove"]`)
	b.press("main button.bad")
	look("admin-resource-remove-problem")
	b.fill("name", "bookings")
	b.press("main button.bad")
	look("admin-resource-removed")
}

// serveParts returns the address of a page with every component of the pages, as written
// by the pages' tests.
func serveParts(t *testing.T) string {
	t.Helper()
	files := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(root, "issuer", "web", "ui"))))
	t.Cleanup(files.Close)
	return files.URL + "/testdata/golden/specimen.html"
}

// eachDisplay runs check on every page of the tour, wide and narrow, light and
// dark.
func eachDisplay(t *testing.T, b *tab, check func(t *testing.T, page string, width int64, theme string)) {
	t.Helper()
	tour(t, b, func(page string) {
		t.Run(page, func(t *testing.T) {
			for _, width := range []int64{1280, 390} {
				for _, theme := range []string{"light", "dark"} {
					b.setDisplay(width, theme)
					check(t, page, width, theme)
				}
			}
		})
	})
}
