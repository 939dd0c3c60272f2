package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// another opens a further tab in the same browser.
func (b *tab) another() *tab {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	other := &tab{t: b.t, ctx: ctx}
	require.NoError(b.t, chromedp.Listen(ctx, other.listen))
	return other
}

// TestBrowserFormAfterItsSession: a user fills in a new application while the session
// ends elsewhere. The input is kept, and is registered after the user has signed in again
// in another tab.
func TestBrowserFormAfterItsSession(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, address string, beside *tab){
		"signed out in another tab": func(_ *testing.T, address string, beside *tab) {
			beside.open(address)
			beside.signOut()
		},
		"revoked in another browser": func(t *testing.T, address string, _ *tab) {
			b := newTab(t)
			b.open(address + "/auth/sign-in")
			b.signIn("alice", "correct horse")
			b.open(address + "/account")
			b.confirm("/account/sign-out-everywhere")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, fixtures(""))
			b := newTab(t)
			b.open(s.AppURL + "/auth/sign-in")
			b.signIn("alice", "correct horse")
			b.open(s.AppURL + "/developer/new")
			b.do(chromedp.Click(chromedp.CSS(`input[value="public"]`)))
			b.fill("name", "Trip Planner")
			b.fill("purpose", "Plans trips.")
			b.fill(`redirect_uris\.0`, callback)
			b.choose("PROFILE_READ")
			beside := b.another()
			end(t, s.AppURL, beside)

			b.press("main button.primary")
			require.Contains(t, b.text("[role=alert]"), "Two steps are left.")
			require.Equal(t, "Trip Planner", b.value("#f-name"))
			require.Equal(t, "Plans trips.", b.value("#f-purpose"))
			require.Equal(t, callback, b.value(`#f-redirect_uris\.0`))
			require.Contains(t, b.text("main form"), "See your profile")
			require.Equal(t, "_blank", b.attribute("main p a", "target"))

			beside.open(s.AppURL + b.attribute("main p a", "href"))
			beside.signIn("alice", "correct horse")
			b.press("main form > .buttons button")
			require.Contains(t, b.text("[role=status]"), "The application was registered.")
			require.Equal(t, "Trip Planner", b.text("h1"))
			address, _, _ := strings.Cut(b.location(), "?")
			b.open(address + "/edit")
			require.Equal(t, "Plans trips.", b.value("#f-purpose"))
			require.Equal(t, callback, b.value(`#f-redirect_uris\.0`))
			require.Equal(t, 1, b.count(`input[value="PROFILE_READ"]:checked`))
		})
	}
}
