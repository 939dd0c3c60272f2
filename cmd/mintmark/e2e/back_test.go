package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestBrowserBack: after a form was corrected, going back shows the form with the errors,
// not an error page of the browser. After signing out it is gone.
func TestBrowserBack(t *testing.T) {
	s := start(t, fixtures(""))
	b := newTab(t)
	b.open(s.AppURL + "/auth/sign-in")
	b.signIn("alice", "correct horse")
	b.open(s.AppURL + "/developer/new")
	b.fill("purpose", "Plans trips.")
	b.press("main button.primary")
	require.Contains(t, b.text("[role=alert]"), "Enter a name.")
	b.do(chromedp.Click(chromedp.CSS(`input[value="public"]`)))
	b.fill("name", "Trip Planner")
	b.fill(`redirect_uris\.0`, callback)
	b.choose("PROFILE_READ")
	b.press("main button.primary")
	require.Contains(t, b.text("[role=status]"), "The application was registered.")

	b.do(chromedp.NavigateBack())
	require.Contains(t, b.text("[role=alert]"), "Enter a name.")
	require.Equal(t, "Plans trips.", b.value("#f-purpose"))
	b.do(chromedp.NavigateForward())
	require.Equal(t, "Trip Planner", b.text("h1"))

	b.open(s.AppURL + "/account")
	b.signOut()
	b.do(chromedp.NavigateBack(), chromedp.NavigateBack())
	err := chromedp.Do(b.ctx, chromedp.NavigateBack())
	require.ErrorContains(t, err, "ERR_CACHE_MISS", "the next user of the browser can't see the form")
}
