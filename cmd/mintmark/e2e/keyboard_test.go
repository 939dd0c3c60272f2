package e2e

import (
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// TestBrowserKeyboard: everything works without a mouse (WCAG 2.2 §2.1.1). The sign-in
// page has its first field focused, and Tab reaches Cancel before Allow.
func TestBrowserKeyboard(t *testing.T) {
	app := startApplication(t)
	s := start(t, fixturesFor(app.uri, ""))
	b := newTab(t)
	enter := func(keys string) {
		t.Helper()
		_, err := chromedp.RunResponse(b.ctx, chromedp.KeyEvent(keys+kb.Enter))
		require.NoError(t, err)
	}
	b.open(authorizeURL(s, "cal-app", app.uri, "scope", "PROFILE_READ"))
	// A page gets its focus when it is first drawn.
	_, err := chromedp.Run(b.ctx, chromedp.Poll[bool]("document.activeElement.name === 'username'"))
	require.NoError(t, err)
	enter("alice" + kb.Tab + "correct horse")
	var passed []string
	for !slices.Contains(passed, "Allow") {
		b.do(chromedp.KeyEvent(kb.Tab))
		focused, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.activeElement.textContent.trim()"))
		require.NoError(t, err)
		passed = append(passed, focused)
		require.Less(t, len(passed), 20, passed)
	}
	require.Equal(t, []string{"calendar.example", "Switch account", "Show the exact permission", "Cancel", "Allow"}, passed)
	enter("")
	require.NotEmpty(t, app.answer(t).Get("code"))
}

// keys presses keys in order.
func (b *tab) keys(keys string) { b.t.Helper(); b.do(chromedp.KeyEvent(keys)) }

// tabTo presses Tab until the element is focused.
func (b *tab) tabTo(selector string) {
	b.t.Helper()
	for range 150 {
		b.keys(kb.Tab)
		if evaluate[bool](b, "document.activeElement.matches("+quoted(selector)+")") {
			return
		}
	}
	require.Fail(b.t, "Tab does not reach "+selector, "%s", b.location())
}

// enter moves to an element by Tab, presses a key there, and waits for the next page.
func (b *tab) enter(selector, key string) {
	b.t.Helper()
	b.tabTo(selector)
	b.follow(key)
}

// follow presses keys, and waits for the next page.
func (b *tab) follow(keys string) {
	b.t.Helper()
	_, err := chromedp.RunResponse(b.ctx, chromedp.KeyEvent(keys))
	require.NoError(b.t, err)
}

// signInByKeys types into the page without moving the focus, which the page has set.
func (b *tab) signInByKeys(address, name, password string) {
	b.t.Helper()
	b.open(address)
	_, err := chromedp.Run(b.ctx, chromedp.Poll[bool]("document.activeElement.name === 'username'"))
	require.NoError(b.t, err)
	b.follow(name + kb.Tab + password + kb.Enter)
}

// TestBrowserKeyboardDeveloper: an application is registered, reviewed, given secrets and
// deleted with Tab, Enter, Space and the arrow keys. Only the file is chosen in the
// browser's own dialog.
func TestBrowserKeyboardDeveloper(t *testing.T) {
	s := start(t, fixtures(""))
	b, root := newTab(t), newTab(t)
	b.signInByKeys(s.AppURL+"/developer", "alice", "correct horse")
	b.enter(`main a[href="/developer/new"]`, kb.Enter)

	checked := func() string {
		return evaluate[string](b, `[...document.querySelectorAll("input:checked")].map(e => e.value).join(" ")`)
	}
	b.tabTo(`input[name="type"]`)
	b.keys(" ")
	require.Equal(t, "confidential", checked())
	b.keys(kb.ArrowDown)
	require.Equal(t, "public", checked())
	b.keys(kb.ArrowUp + kb.Tab)
	require.Equal(t, "f-name", b.focused("id"), "one Tab passes the radio buttons")
	b.keys("Keys Only" + kb.Tab + "Tells what keys can do." + kb.Tab + "https://keys.example.com")
	b.tabTo(`#f-logo`)
	b.tabTo(`#f-redirect_uris\.0`)
	b.keys("https://keys.example.com/1")
	b.tabTo("[data-add]")
	b.keys(kb.Enter)
	require.Equal(t, "redirect_uris", b.focused("name"))
	b.keys("https://keys.example.com/2")
	b.enter("main button.primary", kb.Enter)
	require.Contains(t, b.text("[role=alert]"), "Choose at least one scope.")
	require.Equal(t, "confidential", checked())
	for _, scope := range []string{"BOOKING_READ", "BOOKING_WRITE", "TEAM_PROFILE_READ"} {
		b.tabTo(`input[value="` + scope + `"]`)
		b.keys(" ")
	}
	b.keys(" ") // clear the last one again
	require.Equal(t, "confidential BOOKING_READ BOOKING_WRITE", checked())
	b.enter("main button.primary", " ")
	require.Equal(t, "Keys Only", b.text("h1"))
	b.enter(`.tabs a[href$="/scopes"]`, kb.Enter)
	require.Contains(t, b.text("main"), "https://keys.example.com/2")

	root.signInByKeys(s.AppURL+"/", "root", "administers it")
	judge := func(verdict, reason string) {
		t.Helper()
		root.enter(`nav[aria-label="Main"] a[href="/admin"]`, kb.Enter)
		root.enter(`main table a[href^="/admin/clients/c_"]`, kb.Enter)
		root.tabTo("#f-reason")
		root.keys(reason)
		root.enter(`button[value="`+verdict+`"]`, " ")
	}
	judge("reject", "Which keys?")
	require.Contains(t, root.text("[role=status]"), "Rejected. ")
	b.enter(`.head a[href$="/edit"]`, kb.Enter)
	b.tabTo("#f-purpose")
	b.keys(kb.End + " All of them.")
	b.enter("main button.primary", kb.Enter)
	b.enter(`.tabs a[href$="/scopes"]`, kb.Enter)
	require.Contains(t, b.text("main"), "All of them.")
	judge("approve", "")
	require.Contains(t, root.text("[role=status]"), "Approved.")

	b.enter(`.tabs a[href$="/secrets"]`, kb.Enter)
	b.enter("main button.primary", kb.Enter)
	b.enter("main a.primary", kb.Enter)
	b.enter(`.tabs a[href$="/secrets"]`, kb.Enter)
	b.enter("main button.primary", " ")
	b.tabTo(`[data-copy="secret"]`)
	require.Regexp(t, "^mms_", b.text("#secret"))
	b.enter(`main a[href$="/secrets"]`, kb.Enter)
	b.tabTo("tbody tr:nth-child(2) summary.bad")
	b.keys(" " + kb.Tab)
	require.Contains(t, b.focused("textContent"), "Revoke secret")
	b.follow(kb.Enter)
	require.Contains(t, b.text("[role=status]"), " was revoked.")

	b.enter(`.tabs a[href$="/settings"]`, kb.Enter)
	require.Equal(t, "Keys Only", b.text("h1"))
	b.enter(`main a[href$="/delete"]`, kb.Enter)
	b.tabTo("#f-name")
	b.keys("Keys Only")
	b.follow(kb.Enter)
	require.Contains(t, b.text("[role=status]"), " was deleted.")
}

// TestBrowserKeyboardResourceServer: a resource server is registered, given a secret and
// removed by keys.
func TestBrowserKeyboardResourceServer(t *testing.T) {
	s := start(t, fixtures(""))
	b := newTab(t)
	b.signInByKeys(s.AppURL+"/admin", "root", "administers it")
	b.enter(`nav[aria-label="Main"] a[href="/admin/resource-servers"]`, kb.Enter)
	b.enter(`main a[href="/admin/new-resource-server"]`, kb.Enter)
	b.tabTo("#f-id")
	b.keys("https://keys.example" + kb.Tab + "keys")
	b.tabTo(`input[name="only"]`)
	b.keys(kb.ArrowDown)
	b.tabTo(`input[value="BOOKING_READ"]`)
	b.keys(" ")
	b.enter("main button.primary", kb.Enter)
	require.Contains(t, b.text("[role=status]"), "Registered. Generate a secret")
	b.enter(".notice button", " ")
	b.tabTo(`[data-copy="secret"]`)
	require.Regexp(t, "^mms_", b.text("#secret"))
	b.enter(`main a[href="/admin/resource-servers/keys"]`, kb.Enter)
	b.tabTo("tbody summary")
	b.keys(" " + kb.Tab)
	require.Contains(t, b.focused("textContent"), "Revoke secret")
	b.follow(kb.Enter)
	require.Contains(t, b.text("[role=status]"), "Revoked. The secret is refused")
	b.enter(`main a[href$="/remove"]`, kb.Enter)
	b.tabTo("#f-name")
	b.keys("keys")
	b.follow(kb.Enter)
	require.Contains(t, b.text("[role=status]"), "Removed keys. Its secrets are refused")
}

// TestBrowserKeyboardPublisher: the programs on users' computers are turned on and off by keys.
func TestBrowserKeyboardPublisher(t *testing.T) {
	s, operator := startWithPublisher(t, fixtures(""), newPublisher(t, nil))
	operator.OK("", "settings", "set", "agents=listed")
	b := newTab(t)
	b.signInByKeys(s.AppURL+"/admin", "root", "administers it")
	b.enter(`nav[aria-label="Main"] a[href="/admin/publishers"]`, kb.Enter)
	b.enter(`main table a[href="/admin/publishers/local"]`, kb.Enter)
	b.enter(`main a[href$="/edit"]`, kb.Enter)
	b.tabTo(`input[name="scopes"][value="BOOKING_READ"]`)
	b.keys(" ")
	b.tabTo("main form details summary")
	b.keys(" ")
	b.tabTo(`input[name="defaults"][value="BOOKING_READ"]`)
	b.keys(" ")
	b.tabTo("#f-redirect_uris")
	b.keys("agent://callback/here")
	b.enter("main button.primary", kb.Enter)
	require.Contains(t, b.text("[role=status]"), "It was turned on.")
	require.Contains(t, b.text("main"), "agent://callback/here")
	b.enter(`main a[href$="/reject"]`, kb.Enter)
	b.enter("main button.bad", kb.Enter)
	require.Contains(t, b.text("[role=status]"), "It was turned off")
}

// TestBrowserKeyboardAudit: a filter is set and submitted by keys.
func TestBrowserKeyboardAudit(t *testing.T) {
	s := start(t, fixtures(""))
	b := newTab(t)
	b.signInByKeys(s.AppURL+"/admin/audit", "root", "administers it")
	b.tabTo("#f-kind")
	b.keys("Signing in and out: all")
	require.Equal(t, "session", b.focused("value"))
	b.enter("form.filter button", kb.Enter)
	require.Equal(t, "1 event", b.text("[role=status]"))
	require.Equal(t, 1, b.count("tbody tr:not(.day)"), "only root has signed in")
}
