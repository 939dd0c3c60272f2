package e2e

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// authorizeURL returns an authorization request: pairs of name and value in addition to
// the client and its redirection URI.
func authorizeURL(s *server, client, redirectURI string, pairs ...string) string {
	q := url.Values{"client_id": {client}, "redirect_uri": {redirectURI}, "response_type": {"code"}, "state": {"a state/+&="}}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return s.AppURL + "/auth/oauth2/authorize?" + q.Encode()
}

// TestBrowserFlow: the authorization flow of a user, with JavaScript and without (service
// document, section 4.1).
func TestBrowserFlow(t *testing.T) {
	for _, mode := range []struct {
		name    string
		scripts bool
	}{{"scripts on", true}, {"scripts off", false}} {
		t.Run(mode.name, func(t *testing.T) {
			app := startApplication(t)
			s := start(t, fixturesFor(app.uri, ""))
			separator := " "
			if mode.scripts {
				separator = ","
			}
			request := authorizeURL(s, "cal-app", app.uri, "scope", "PROFILE_READ"+separator+"BOOKING_WRITE")
			b := newTab(t)
			b.scripts(mode.scripts)

			// "Shape: a browser navigation of the user to `{app_url}/auth/oauth2/authorize` with query parameters."
			b.open(request)
			require.Equal(t, "Sign in to Mintmark", b.text("h1"))
			require.Contains(t, b.text("main"), "Calendar App")
			b.signIn("alice", "wrong password")
			require.Contains(t, b.text("[role=alert]"), "Wrong username or password.")
			b.signIn("alice", "correct horse")

			require.Contains(t, b.text("h1"), "Calendar App")
			// "Scope names separated by spaces or by commas."
			require.Equal(t, 2, b.count("main details .perms li"))
			page := b.text("main")
			require.Contains(t, page, "Alice Example")
			require.Contains(t, page, strings.TrimSuffix(strings.TrimPrefix(app.uri, "http://"), "/callback"))
			b.press(`button[value="allow"]`)
			require.Equal(t, "Thank you", b.text("h1"))
			title, err := chromedp.Run(b.ctx, chromedp.Title())
			require.NoError(t, err)
			require.Equal(t, mode.scripts, title == "Scripts ran", title)
			// "After the user clicks Allow, the user is redirected to the `redirect_uri` with URL parameters `code` and `state`."
			got := app.answer(t)
			require.Len(t, got, 3, got)
			require.NotEmpty(t, got.Get("code"))
			// "returned unchanged in the redirect."
			require.Equal(t, "a state/+&=", got.Get("state"))
			require.Equal(t, s.Issuer, got.Get("iss"))

			// A repeated request asks again, and Cancel is a valid answer.
			b.open(request)
			require.Contains(t, b.text("main"), "Nothing has changed since.")
			b.press(`button[value="cancel"]`)
			got = app.answer(t)
			require.Equal(t, "access_denied", got.Get("error"))
			require.Equal(t, "a state/+&=", got.Get("state"))
			require.Empty(t, got.Get("code"))

			b.open(s.AppURL + "/")
			b.isSignedIn("Alice Example")
			b.press(`main a[href="/connected-apps"]`)
			require.Contains(t, b.text("main ul.lines"), "Calendar App")
			b.press("main ul.lines h2 a")
			require.Equal(t, "Calendar App", b.text("h1"))
			require.Contains(t, b.text("main"), "Your name and email address")
			b.disconnect("Calendar App")
			require.Contains(t, b.text("[role=status]"), "was disconnected")
			require.Contains(t, b.text("main"), "No app is connected")

			b.signOut()
			b.open(s.AppURL + "/")
			require.Equal(t, "Sign in to Mintmark", b.text("h1"))
			require.Equal(t, s.AppURL+"/auth/sign-in", b.location())
		})
	}
}

// TestBrowserLegacy: a client without scopes, and a change of the signed-in user.
func TestBrowserLegacy(t *testing.T) {
	app := startApplication(t)
	s := start(t, fixturesFor(app.uri, ""))
	b := newTab(t)
	b.open(authorizeURL(s, "legacy-app", app.uri))
	b.signIn("bob", "battery staple")
	require.Contains(t, b.text("main"), "This app can do everything that you can do")
	b.signOut()
	require.Equal(t, "Sign in to Mintmark", b.text("h1"))
	require.Contains(t, b.text("main"), "Classic App")
	b.signIn("alice", "correct horse")
	require.Contains(t, b.text("main"), "Alice Example")
	b.press(`button[value="allow"]`)
	require.NotEmpty(t, app.answer(t).Get("code"))
}

// TestBrowserNative: a public client with a port of its own choice (RFC 8252 §7.3), to
// which the content policy must allow the form to redirect.
func TestBrowserNative(t *testing.T) {
	app := startApplication(t)
	s := start(t, fixtures(""))
	b := newTab(t)
	// "PKCE code challenge, method S256."
	b.open(authorizeURL(s, "native-app", app.uri, "scope", "PROFILE_READ",
		"code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "code_challenge_method", "S256"))
	b.signIn("alice", "correct horse")
	b.press(`button[value="allow"]`)
	require.NotEmpty(t, app.answer(t).Get("code"))
	b.open(authorizeURL(s, "native-app", app.uri, "scope", "PROFILE_READ"))
	require.Equal(t, "invalid_request", app.answer(t).Get("error"))
}

// TestBrowserErrors: an error that ends at a page does not redirect, before and after
// signing in.
func TestBrowserErrors(t *testing.T) {
	app := startApplication(t)
	s := start(t, fixturesFor(app.uri, ""))
	b := newTab(t)
	for _, signedIn := range []bool{false, true} {
		if signedIn {
			b.open(s.AppURL + "/auth/sign-in")
			b.signIn("alice", "correct horse")
		}
		for _, c := range []struct{ name, address, title string }{
			// "Must equal one of the client's registered redirect URIs."
			{"an unregistered redirect_uri", authorizeURL(s, "cal-app", app.uri+"/", "scope", "PROFILE_READ"), "Calendar App sent a wrong return address"},
			// "The OAuth client id."
			{"an unknown client", authorizeURL(s, "nobody", app.uri, "scope", "PROFILE_READ"), "App not found"},
			{"a client that was not reviewed", authorizeURL(s, "pending-app", app.uri, "scope", "PROFILE_READ"), "This app has not been reviewed yet"},
			{"no such page", s.AppURL + "/nothing", "Page not found"},
		} {
			b.open(c.address)
			require.Equal(t, c.title, b.text("h1"), c.name)
			require.Equal(t, c.address, b.location(), c.name)
		}
	}
	require.Empty(t, app.received)
	for _, pairs := range [][]string{nil, {"scope", ""}, {"scope", "NOT_A_SCOPE"}, {"scope", "PROFILE_READ PROFILE_WRITE"}} {
		b.open(authorizeURL(s, "cal-app", app.uri, pairs...))
		require.Equal(t, "invalid_scope", app.answer(t).Get("error"), pairs)
	}
}

// TestConsoleIsHeard: a page that violates its content policy fails a test.
func TestConsoleIsHeard(t *testing.T) {
	app := startApplication(t)
	b := newUncheckedTab(t)
	b.open(strings.Replace(app.uri, "/callback", "/breach", 1))
	require.Equal(t, "Breach", b.text("body"))
	require.Contains(t, strings.Join(b.complaints(), "\n"), "Content Security Policy")
}

// TestConsentFits: with 17 scopes the buttons of the consent page, equally large, are in a
// window of 1280×800 before anything is scrolled.
func TestConsentFits(t *testing.T) {
	const scopes = "EVENT_TYPE_READ EVENT_TYPE_WRITE BOOKING_READ BOOKING_WRITE SCHEDULE_READ SCHEDULE_WRITE APPS_READ APPS_WRITE PROFILE_READ PROFILE_WRITE " +
		"TEAM_EVENT_TYPE_READ TEAM_BOOKING_READ TEAM_SCHEDULE_READ TEAM_MEMBERSHIP_WRITE ORG_PROFILE_READ ORG_MEMBERSHIP_READ ORG_MEMBERSHIP_WRITE"
	app := startApplication(t)
	s := start(t, strings.Replace(fixturesFor(app.uri, ""), "[PROFILE_READ, BOOKING_READ, BOOKING_WRITE, TEAM_BOOKING_READ, ORG_PROFILE_READ]",
		"["+strings.ReplaceAll(scopes, " ", ", ")+"]", 1))
	b := newTab(t)
	b.setDisplay(1280, "light")
	b.open(authorizeURL(s, "cal-app", app.uri, "scope", scopes))
	b.signIn("alice", "correct horse")
	require.Equal(t, 17, b.count("main details .perms li"))
	require.Equal(t, 2, b.count(".tier li"))
	b.truth(`(() => {
		const [cancel, allow] = [...document.querySelectorAll(".decide button")].map(e => e.getBoundingClientRect())
		return scrollY === 0 && innerHeight === 800 && allow.bottom <= 800 && cancel.bottom <= 800 && Math.abs(allow.width - cancel.width) < 1 && allow.height === cancel.height
	})()`)
}
