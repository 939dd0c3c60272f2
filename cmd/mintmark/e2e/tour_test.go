package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// tour shows every kind of page to look, by name.
func tour(t *testing.T, b *tab, look func(name string)) {
	t.Helper()
	app := startApplication(t)
	s := start(t, fixturesFor(app.uri, ""))
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
	look("home-empty")
	b.open(request)
	b.press(`button[value="allow"]`)
	b.open(request)
	look("consent-again")
	b.open(authorizeURL(s, "legacy-app", app.uri))
	look("consent-legacy")
	b.press(`button[value="allow"]`)
	b.open(s.AppURL + "/")
	look("home")
	b.do(chromedp.Click(chromedp.CSS("summary")))
	look("home-details")
	b.press(`form[action="/connected-apps/disconnect"] button`)
	look("home-disconnected")
	b.open(authorizeURL(s, "cal-app", app.uri+"/other", "scope", "PROFILE_READ"))
	look("error")
	b.open(s.AppURL + "/nothing")
	look("error-not-found")
}

// eachLook runs check on every page of the tour, wide and narrow, light and
// dark.
func eachLook(t *testing.T, b *tab, check func(t *testing.T, page string, width int64, theme string)) {
	t.Helper()
	tour(t, b, func(page string) {
		t.Run(page, func(t *testing.T) {
			for _, width := range []int64{1280, 320} {
				for _, theme := range []string{"light", "dark"} {
					b.looks(width, theme)
					check(t, page, width, theme)
				}
			}
		})
	})
}
