package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// upstreamSettings returns the settings for a provider at a port.
func upstreamSettings(issuer string, more ...string) []string {
	return append([]string{
		"--upstream-issuer", issuer, "--upstream-name", "Example ID", "--upstream-client-id", "mintmark",
		"--upstream-scope", "profile", "--upstream-scope", "email", "--upstream-scope", "groups",
		"--upstream-admin-claim", "groups", "--upstream-admin-value", "mintmark-administrators",
		"--upstream-admin-email", "Grace@Example.com", "--upstream-admin-email", "alice@example.org",
	}, more...)
}

// signInUpstream follows the link to the provider, enters the account there, and
// continues.
func (b *tab) signInUpstream(account string) {
	b.t.Helper()
	b.press("a.button")
	require.Equal(b.t, "Who are you?", b.text("h1"))
	b.do(chromedp.SendKeys(chromedp.CSS("input"), account))
	b.press(`button[value="on"]`)
}

// shownUser is a user in the output of "user list -o json".
type shownUser struct {
	ID, Username, Email, Upstream string
	Admin                         bool
}

// users returns the users of the node, by user name.
func (n *node) users() map[string]shownUser {
	n.t.Helper()
	var answer struct{ Users []shownUser }
	require.NoError(n.t, json.Unmarshal([]byte(n.OK("", "user", "list", "-o", "json")), &answer))
	list := map[string]shownUser{}
	for _, u := range answer.Users {
		list[u.Username] = u
	}
	return list
}

// TestBrowserUpstream: users sign in with an account at the provider, with JavaScript and
// without.
func TestBrowserUpstream(t *testing.T) {
	app := startApplication(t)
	port := freePort(t)
	p := startProvider(t, 0, local(port)+"/auth/upstream/callback")
	n := serve(t, port, app.uri, upstreamSettings(p.Issuer)...)
	request := authorizeURL(&n.server, "cal-app", app.uri, "scope", "PROFILE_READ")
	n.waitProviderKnown(p.Issuer)

	t.Run("the first time, and again", func(t *testing.T) {
		b := newTab(t)
		b.scripts(false)
		b.open(n.AppURL + "/account")
		require.Equal(t, "Sign in with Example ID", b.text("a.button"))
		b.signInUpstream("s-ada")
		require.Equal(t, n.AppURL+"/account", b.location(), "back to the requested page")
		require.Contains(t, b.text("main"), "Ada Elsewhere")
		first := n.users()["ada"]
		require.Equal(t, p.Issuer, first.Upstream)
		require.False(t, first.Admin)

		b.signOut()
		b.open(n.AppURL + "/auth/sign-in")
		b.press("a.button") // the provider has a session, and asks for nothing
		b.isSignedIn("Ada Elsewhere")

		b.signOut()
		b.open(n.AppURL + "/auth/sign-in")
		b.press(`a[href*="account=other"]`)
		require.Equal(t, "Who are you?", b.text("h1"), "another user may sign in now")
		b.do(chromedp.SendKeys(chromedp.CSS("input"), "s-ada"))
		b.press(`button[value="on"]`)
		b.isSignedIn("Ada Elsewhere")

		other := newTab(t)
		other.open(n.AppURL + "/account")
		other.signInUpstream("s-ada")
		require.Contains(t, other.text("main"), first.ID)
		require.Equal(t, first, n.users()["ada"], "the same account")
		audit := n.OK("", "audit", "--user", first.ID)
		require.Contains(t, audit, "user.added")
		require.Contains(t, audit, "by "+p.Issuer)
	})
	t.Run("in the middle of an authorization request", func(t *testing.T) {
		b := newTab(t)
		b.open(request)
		require.Contains(t, b.text("main"), "Calendar App")
		b.signInUpstream("s-ada")
		require.Contains(t, b.text("h1"), "Calendar App")
		require.Equal(t, request, b.location())
		_, err := chromedp.Run(b.ctx, chromedp.Evaluate[any]("history.back()"))
		require.NoError(t, err)
		_, err = chromedp.Run(b.ctx, chromedp.Poll[bool](`document.title === "Example ID"`))
		require.NoError(t, err, "the back button leads to the provider's page, as before")
		b.open(request)
		require.Contains(t, b.text("main"), "Ada Elsewhere")
		b.press(`button[value="allow"]`)
		require.Equal(t, "Thank you", b.text("h1"))
		got := app.answer(t)
		require.NotEmpty(t, got.Get("code"))
		require.Equal(t, "a state/+&=", got.Get("state"))
	})
	t.Run("administrators", func(t *testing.T) {
		for _, account := range []string{"s-root", "s-grace", "s-mallory", "s-alice"} {
			b := newTab(t)
			b.open(n.AppURL + "/auth/sign-in")
			b.signInUpstream(account)
			require.Equal(t, "Needs your attention", b.text("h1"))
		}
		users := n.users()
		require.True(t, users["root"].Admin, "administrator by the claim")
		require.True(t, users["grace"].Admin, "administrator by a verified address")
		require.False(t, users["mallory"].Admin, "an unverified address makes no administrator")
		require.Empty(t, users["mallory"].Email, "an unverified address is not stored")
		require.False(t, users["alice"].Admin)
		require.Empty(t, users["alice"].Upstream, "an e-mail address does not link two accounts")
		require.Equal(t, "alice@example.com", users["alice-2"].Email)
	})
	t.Run("cancelled there", func(t *testing.T) {
		b := newTab(t)
		b.open(request)
		b.press("a.button")
		b.press(`button[value="back"]`)
		require.Contains(t, b.text("[role=alert]"), "Example ID did not sign you in: it was cancelled there")
		require.NotContains(t, b.text("main"), "555-EVIL")
		require.Contains(t, b.text("main"), "Calendar App", "the authorization request is kept")
		b.signInUpstream("s-ada")
		require.Equal(t, request, b.location())
	})
	t.Run("disabled here", func(t *testing.T) {
		n.OK("", "user", "disable", "root")
		b := newTab(t)
		b.open(n.AppURL + "/auth/sign-in")
		b.signInUpstream("s-root")
		require.Contains(t, b.text("[role=alert]"), "Your account is disabled.")
	})
	t.Run("an answer for another browser", func(t *testing.T) {
		b := newTab(t)
		b.open(n.AppURL + "/auth/upstream/callback?code=x&state=" + strings.Repeat("s", 43))
		require.Contains(t, b.text("[role=alert]"), "started in another browser")
		b.signInUpstream("s-ada")
		b.isSignedIn("Ada Elsewhere")
	})
}

// waitProviderKnown waits until the node knows its provider.
func (n *node) waitProviderKnown(issuer string) {
	n.t.Helper()
	require.Eventually(n.t, func() bool {
		return strings.Contains(n.LogText(), `msg="upstream provider reached" issuer=`+issuer)
	}, 2*time.Minute, 10*time.Millisecond)
}

// TestBrowserUpstreamDown: while the provider is down, nodes start and users sign in by
// password; once it is up it is used.
func TestBrowserUpstreamDown(t *testing.T) {
	app := startApplication(t)
	port, providerPort := freePort(t), freePort(t)
	issuer := strings.Replace(local(providerPort), "127.0.0.1", "localhost", 1)
	n := serve(t, port, app.uri, upstreamSettings(issuer)...)
	request := authorizeURL(&n.server, "cal-app", app.uri, "scope", "PROFILE_READ")
	b := newTab(t)
	b.open(request)
	b.press("a.button")
	require.Contains(t, b.text("[role=alert]"), "Example ID can’t be reached at the moment.")
	b.fillIn("alice", "correct horse")
	b.press("main form button")
	require.Contains(t, b.text("main"), "Alice Example")
	require.Equal(t, request, b.location())

	p := startProvider(t, providerPort, local(port)+"/auth/upstream/callback")
	require.Equal(t, issuer, p.Issuer)
	n.waitProviderKnown(issuer)
	b.signOut()
	b.signInUpstream("s-ada")
	require.Contains(t, b.text("main"), "Ada Elsewhere")
}

// fillIn fills in the form of the sign-in page.
func (b *tab) fillIn(name, password string) {
	b.t.Helper()
	b.do(chromedp.SendKeys(chromedp.CSS("#username"), name), chromedp.SendKeys(chromedp.CSS("#password"), password))
}
