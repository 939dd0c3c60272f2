package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// A migration is the change of a legacy client to scopes (service document, section 9).
// Bob owns the client; alice and root use it.
type migration struct {
	t           *testing.T
	s           *server
	app         *application
	bob, alice  *tab
	old, scoped string   // the authorization URLs
	lines       []string // to copy from "How to connect"
}

// TestBrowserMigration: a developer migrates a legacy client, in the right order of steps
// and in the wrong one. If requests without scope are known, the page asks for a
// confirmation. With JavaScript and without.
func TestBrowserMigration(t *testing.T) {
	for _, mode := range []struct {
		name                  string
		right, known, scripts bool
	}{
		{"right order, nothing to confirm", true, false, true},
		{"right order, confirmed", true, true, false},
		{"wrong order, nothing to confirm", false, false, false},
		{"wrong order, confirmed", false, true, true},
	} {
		t.Run(mode.name, func(t *testing.T) {
			app := startApplication(t)
			s := start(t, fixturesFor(app.uri, ""))
			m := &migration{t: t, s: s, app: app, bob: newTab(t), alice: newTab(t), old: authorizeURL(s, "legacy-app", app.uri)}
			m.bob.scripts(mode.scripts)
			m.alice.scripts(mode.scripts)
			m.alice.open(s.AppURL + "/")
			m.alice.signIn("alice", "correct horse")
			m.begin()
			var before map[string]any
			var root *tab
			if mode.known {
				root = newTab(t)
				root.open(m.old)
				root.signIn("root", "administers it")
				before = m.tokens(root, m.old)
				require.Empty(t, before["scope"])
				m.requireAccess(before)
			}
			m.choose()
			if mode.right {
				m.useNewURL()
			}
			m.selectScopes(mode.right, mode.known)
			m.after()
			if mode.known {
				m.oldTokens(root, before)
			}
		})
	}
}

// begin opens the page.
func (m *migration) begin() {
	t, b := m.t, m.bob
	b.open(m.s.AppURL + "/developer/clients/legacy-app")
	b.signIn("bob", "battery staple")
	// "A client created before scopes were introduced is a legacy client (see section 9)."
	require.Contains(t, b.text(".head"), "Legacy")
	b.press(`.tabs a[href$="/connect"]`)
	m.lines = b.connectLines()
	require.NotContains(t, m.lines[0], "scope=")
	b.open(m.s.AppURL + "/developer/clients/native-app")
	// "Other clients are scoped clients."
	require.NotContains(t, b.text("main"), "Legacy")
	b.open(m.s.AppURL + "/developer/clients/legacy-app")
	b.press(`main a[href$="/migration"]`)
}

// tokens returns the tokens of the application after a user allowed a request.
func (m *migration) tokens(who *tab, request string) map[string]any {
	m.t.Helper()
	who.open(request)
	who.press(`button[value="allow"]`)
	code := m.app.answer(m.t).Get("code")
	issued := pasted(m.t, m.lines[1], "CODE="+code, "MINTMARK_CLIENT_SECRET=legacy-app-secret")
	require.Nil(m.t, issued["error"], issued)
	return issued
}

// requireAccess uses the access token.
func (m *migration) requireAccess(tokens map[string]any) {
	m.t.Helper()
	// "Its tokens access any resource on behalf of the authorizing user without scope restrictions."
	me := pasted(m.t, m.lines[2], "ACCESS_TOKEN="+tokens["access_token"].(string))
	require.Equal(m.t, "success", me["status"], me)
}

func (m *migration) refresh(tokens map[string]any) map[string]any {
	m.t.Helper()
	return pasted(m.t, m.lines[3], "REFRESH_TOKEN="+tokens["refresh_token"].(string), "MINTMARK_CLIENT_SECRET=legacy-app-secret")
}

// choose makes the page show the new URL. That alone changes nothing for users.
func (m *migration) choose() {
	m.bob.choose("PROFILE_READ")
	m.bob.press("main form button.primary")
	m.scoped = m.bob.copied()[0]
	require.Contains(m.t, m.scoped, "client_id=legacy-app&")
	require.Contains(m.t, m.scoped, "&scope=PROFILE_READ&")
	m.alice.open(m.old)
	require.Contains(m.t, m.alice.text("main"), "everything that you can do")
}

// useNewURL does the first step of the right order.
func (m *migration) useNewURL() {
	// "Add a `scope` parameter to the authorization URL first."
	m.alice.open(m.scoped)
	require.Contains(m.t, m.alice.text(".perms"), "Your name and email address")
	m.alice.press(`button[value="allow"]`)
	code := m.app.answer(m.t).Get("code")
	issued := pasted(m.t, m.lines[1], "CODE="+code, "MINTMARK_CLIENT_SECRET=legacy-app-secret")
	// "New tokens carry only the scopes given."
	require.Equal(m.t, "PROFILE_READ", issued["scope"], issued)
}

// selectScopes does the second step, which asks for a confirmation if requests without
// scope are known.
func (m *migration) selectScopes(right, known bool) {
	t, b := m.t, m.bob
	const form = `form[method="post"][action$="/migration"]`
	b.do(chromedp.Reload())
	// "in this order:"
	require.Contains(t, b.text("main"), "in this order")
	without := `^0\s*$`
	if known {
		// After midnight the last request was yesterday.
		without = `^[1-9]\d*, the last (today|yesterday), on \d+ [A-Z][a-z]+ \d{4}$`
	}
	require.Regexp(t, without, b.text("main dl.facts dd"))
	if right {
		require.Contains(t, b.text("main"), "Selected and asked for\nPROFILE_READ")
	} else {
		require.Contains(t, b.text("main"), "Selected, not asked for so far\nPROFILE_READ")
	}
	// "Then select the matching scopes in the client settings."
	b.press(form + " button")
	if known {
		require.Contains(t, b.text("[role=alert]"), "Confirm that requests without scope will be refused")
		require.Contains(t, b.text("main .callout.warn"), "After this, people who follow such a link meet an error.")
		m.alice.open(m.old) // nothing has changed
		require.Contains(t, m.alice.text("main"), "everything that you can do")
		b.do(chromedp.Click(chromedp.CSS(`#f-confirm input`)))
		b.press(form + " button")
	}
	require.Contains(t, b.text("[role=status]"), "The application is limited to these scopes.")
	require.Contains(t, b.text("main"), "This application has moved to scopes.")
	b.open(m.s.AppURL + "/developer/clients/legacy-app/scopes")
	// "Migration of a legacy client to explicit scopes, without creating a new client"
	require.Equal(t, "legacy-app", b.text("#client-id"))
	require.Contains(t, b.text("#scopes"), "PROFILE_READ")
}

// after checks the state after the migration.
func (m *migration) after() {
	refused := func(request string) {
		m.t.Helper()
		m.alice.open(request)
		require.Equal(m.t, "invalid_scope", m.app.answer(m.t).Get("error"))
	}
	// "breaks the flow for users who visit the old URL without a `scope` parameter."
	refused(m.old)
	// "After saving, scope validation is enforced for all new authorization requests."
	refused(authorizeURL(m.s, "legacy-app", m.app.uri, "scope", "PROFILE_READ BOOKING_READ"))
	require.Equal(m.t, "PROFILE_READ", m.tokens(m.alice, m.scoped)["scope"])
}

// oldTokens checks the tokens of a user who has not authorized again, until that user
// does.
func (m *migration) oldTokens(who *tab, before map[string]any) {
	t := m.t
	// "Tokens issued before the migration continue to work until users re-authorize."
	m.requireAccess(before)
	before = m.refresh(before)
	require.Nil(t, before["error"], before)
	require.Empty(t, before["scope"])
	who.open(m.s.AppURL + "/connected-apps/legacy-app")
	require.Contains(t, who.text("main"), "everything")
	require.Equal(t, "PROFILE_READ", m.tokens(who, m.scoped)["scope"])
	require.Equal(t, "invalid_grant", m.refresh(before)["error"])
	who.open(m.s.AppURL + "/connected-apps/legacy-app")
	require.NotContains(t, who.text("main"), "everything that you can do")
}
