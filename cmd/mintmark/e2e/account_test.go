package e2e

import (
	"encoding/xml"
	"io"
	"net/http"
	"regexp"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// TestBrowserAccount: a user's own account pages, with JavaScript and without.
func TestBrowserAccount(t *testing.T) {
	for _, mode := range []struct {
		name    string
		scripts bool
	}{{"scripts on", true}, {"scripts off", false}} {
		t.Run(mode.name, func(t *testing.T) {
			s := start(t, fixtures(""))
			b, elsewhere := newTab(t), newTab(t)
			b.scripts(mode.scripts)
			for _, one := range []*tab{b, elsewhere} {
				one.open(s.AppURL + "/account")
				require.Equal(t, "Sign in to Mintmark", one.text("h1"))
				one.signIn("alice", "correct horse")
				require.Equal(t, s.AppURL+"/account", one.location(), "back to the requested page")
			}
			require.Contains(t, b.text("main"), "alice@example.com")
			b.open(s.AppURL + "/account")
			require.Contains(t, b.text("#sessions"), "Chrome on Linux")
			require.Contains(t, b.text("#sessions tbody tr"), "This browser")
			b.press(`#sessions tbody tr:last-child form[action="/account/sign-out"] button`)
			require.Contains(t, b.text("[role=status]"), "That browser was signed out.")
			elsewhere.open(s.AppURL + "/account")
			require.Equal(t, "Sign in to Mintmark", elsewhere.text("h1"))
			elsewhere.signIn("alice", "correct horse")

			b.press(`main a[href="/account/password"]`)
			b.fill("current", "correct horse")
			b.fill("new", "short")
			b.fill("again", "short")
			b.press("main button.primary")
			require.Equal(t, "New password is too short: use at least 12 characters.", b.text(`[role=alert] a`))
			require.Equal(t, "f-new", b.focused("id"))
			b.fill("current", "correct horse")
			b.fill("new", "a better pass phrase")
			b.fill("again", "a better pass phrase")
			b.press("main button.primary")
			require.Contains(t, b.text("[role=status]"), "Your password was changed.")
			elsewhere.open(s.AppURL + "/account")
			require.Equal(t, "Sign in to Mintmark", elsewhere.text("h1"), "signed out in other browsers")
			elsewhere.signIn("alice", "a better pass phrase")
			require.Equal(t, "Profile & security", elsewhere.text("h1"))

			b.confirm("/account/sign-out-everywhere")
			require.Contains(t, b.text("[role=status]"), "signed out in every browser")
			elsewhere.press(`a[href="/connected-apps"]`)
			require.Equal(t, "Sign in to Mintmark", elsewhere.text("h1"))
		})
	}
}

// TestBrowserSkipLink: the keyboard can skip the navigation, and reaches all of it (WCAG
// 2.2 §2.4.1).
func TestBrowserSkipLink(t *testing.T) {
	s := start(t, fixtures(""))
	b := newTab(t)
	b.open(s.AppURL + "/account")
	b.signIn("alice", "correct horse")
	tab := func() string {
		b.do(chromedp.KeyEvent(kb.Tab))
		return b.focused("textContent")
	}
	require.Equal(t, "Skip to content", tab())
	seen, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("document.activeElement.getBoundingClientRect().top >= 0"))
	require.NoError(t, err)
	require.True(t, seen, "a focused link is visible")
	b.do(chromedp.KeyEvent(kb.Enter))
	require.Equal(t, "main", b.focused("id"))
	require.Equal(t, "Copy account ID", tab())

	b.open(s.AppURL + "/account")
	var passed []string
	for range 6 {
		passed = append(passed, tab())
	}
	require.Equal(t, []string{"Skip to content", " Mintmark", "Connected apps", "Profile & security", "Applications", "Alice Example"}, passed)
}

// fill types into an input of a form, by the name of its field.
func (b *tab) fill(name, text string) {
	b.t.Helper()
	b.do(chromedp.SendKeys(chromedp.CSS("#f-"+name), text))
}

// focused returns a property of the focused element.
func (b *tab) focused(property string) string {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.activeElement."+property))
	require.NoError(b.t, err)
	return text
}

// TestBrowserFeed: a user makes, replaces and removes the address of a feed, which a program reads
// without a session.
func TestBrowserFeed(t *testing.T) {
	s := start(t, fixtures(""))
	for _, mode := range []struct {
		name    string
		scripts bool
	}{{"scripts on", true}, {"scripts off", false}} {
		t.Run(mode.name, func(t *testing.T) {
			b := newTab(t)
			b.scripts(mode.scripts)
			b.open(s.AppURL + "/account")
			b.signIn("alice", "correct horse")
			read := func(address string) (status int, text string) {
				res, err := http.Get(address)
				require.NoError(t, err)
				defer res.Body.Close()
				all, err := io.ReadAll(res.Body)
				require.NoError(t, err)
				return res.StatusCode, string(all)
			}
			b.press(`#feed form[action="/account/feed"] button`)
			first := b.text("#feed")
			require.Regexp(t, "^"+regexp.QuoteMeta(s.AppURL)+"/feed/mmf_[A-Za-z0-9_-]{43}$", first)
			status, text := read(first)
			require.Equal(t, http.StatusOK, status)
			var feed struct {
				XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
				Title   string   `xml:"title"`
			}
			require.NoError(t, xml.Unmarshal([]byte(text), &feed))
			require.Equal(t, "Mintmark: needs your attention", feed.Title)
			b.press("main a.primary")
			require.Contains(t, b.text("#feed"), "Address made just now")

			b.confirm("/account/feed")
			second := b.text("#feed")
			require.NotEqual(t, first, second)
			status, _ = read(first)
			require.Equal(t, http.StatusNotFound, status)
			status, _ = read(second)
			require.Equal(t, http.StatusOK, status)
			b.press("main a.primary")

			b.confirm("/account/feed/remove")
			require.Contains(t, b.text("[role=status]"), "The address of your feed was removed.")
			status, _ = read(second)
			require.Equal(t, http.StatusNotFound, status)
		})
	}
}
