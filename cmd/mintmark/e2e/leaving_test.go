package e2e

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// startRelay starts an application whose callback redirects to another origin, like one
// with programs and pages on different origins. The redirect passes the query on.
func startRelay(t testing.TB, to string) (uri string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to+"?"+r.URL.RawQuery, http.StatusFound)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/callback"
}

// TestBrowserThirdOrigin: Chromium checks every redirect after a form against the
// form-action of its page. The users of an application whose callback redirects to
// another origin nevertheless get back to its page.
func TestBrowserThirdOrigin(t *testing.T) {
	app := startApplication(t)
	relay := startRelay(t, app.uri)
	s := start(t, fixturesFor(relay, ""))
	good := authorizeURL(s, "cal-app", relay, "scope", "PROFILE_READ")
	arrives := func(t *testing.T, b *tab, name, value string) {
		t.Helper()
		require.Equal(t, "Thank you", b.text("#thanks"))
		got := app.answer(t)
		require.NotEmpty(t, got.Get(name))
		require.Contains(t, got.Get(name), value)
		require.Equal(t, "a state/+&=", got.Get("state"))
	}
	for _, scripts := range []bool{true, false} {
		t.Run(map[bool]string{true: "scripts on", false: "scripts off"}[scripts], func(t *testing.T) {
			person := func(address string) *tab {
				b := newTab(t)
				b.scripts(scripts)
				b.open(address)
				b.signIn("alice", "correct horse")
				return b
			}
			b := person(good)
			b.press(`button[value="allow"]`)
			arrives(t, b, "code", "")
			b.open(good)
			b.press(`button[value="cancel"]`)
			arrives(t, b, "error", "access_denied")
			b = person(authorizeURL(s, "cal-app", relay, "scope", "NOT_A_SCOPE"))
			arrives(t, b, "error", "invalid_scope")
		})
	}
}

// TestBrowserCustomScheme: a program on the user's device gets its response if its
// callback has a scheme of its own or redirects to one.
func TestBrowserCustomScheme(t *testing.T) {
	const scheme = "com.example.app:/callback"
	relay := startRelay(t, scheme)
	s := start(t, fixtures("")+`  - {id: phone-app, name: Phone App, owner: bob, type: public, redirect_uris: ["`+scheme+`", "`+relay+`"], scopes: [PROFILE_READ]}
`)
	challenge := []string{"scope", "PROFILE_READ", "code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}
	for _, uri := range []string{scheme, relay} {
		asks := func(pairs ...string) string { return authorizeURL(s, "phone-app", uri, append(challenge, pairs...)...) }
		b := newTab(t)
		asked := make(chan string, 16)
		require.NoError(t, chromedp.Listen(b.ctx, func(event any) {
			if e, ok := event.(*network.EventRequestWillBeSent); ok && strings.HasPrefix(e.Request.URL, scheme) {
				asked <- e.Request.URL
			}
		}))
		b.open(asks())
		b.signIn("alice", "correct horse")
		b.do(chromedp.Click(chromedp.CSS(`button[value="allow"]`)))
		require.Contains(t, <-asked, "?code=")
		b.open(asks())
		b.do(chromedp.Click(chromedp.CSS(`button[value="cancel"]`)))
		require.Contains(t, <-asked, "?error=access_denied")

		b = newTab(t)
		b.open(asks("scope", "NOT_A_SCOPE"))
		b.signIn("alice", "correct horse")
		require.Contains(t, b.attribute("a.button", "href"), "error=invalid_scope")
	}
}
