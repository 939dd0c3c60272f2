package account_test

import (
	"crypto/sha256"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/account"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

const (
	endPath = "/account/sign-out"
	firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	safari  = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1"
)

// endings returns the forms of a page that end sessions, by the session's handle.
func endings(t *testing.T, page Answer) map[string]url.Values {
	t.Helper()
	forms := map[string]url.Values{}
	for _, part := range strings.Split(page.Text, "<tr>")[1:] {
		if !strings.Contains(part, `action="`+endPath+`"`) {
			continue
		}
		form := Answer{Response: page.Response, Text: part}.Form(t, endPath)
		forms[form.Get("session")] = form
	}
	return forms
}

func TestSessions(t *testing.T) {
	w := NewEnv(t)
	phone := w.SignedInWith(safari)
	w.Advance(time.Hour)
	b := w.SignedInWith(firefox)
	w.User("u-bob", "bob", "Bob")
	bob := w.SignedInAs("bob")

	page := b.Get("/account")
	for _, text := range []string{
		`<b>Firefox on Linux</b> <span class="pill good">This browser</span>`,
		`<td data-name="Last used" data-word="Last used"><time datetime="2026-03-04T12:00:00Z" title="4 March 2026, 12:00 UTC" data-ago>1 hour ago</time></td><td data-name="Signed in" data-word="signed in"><time datetime="2026-03-04T12:00:00Z" title="4 March 2026, 12:00 UTC" data-exact>4 Mar, 12:00 UTC</time></td>`,
		`<td data-name="Last used">In use now</td>`,
		`aria-label="Sign out Safari on iPhone, signed in 4 March 2026, 12:00 UTC"`,
	} {
		assert.Contains(t, page.Text, text)
	}
	assert.Less(t, strings.Index(page.Text, "Firefox on"), strings.Index(page.Text, "Safari on"), "this browser must be first")
	other := phone.Get("/account")
	assert.Less(t, strings.Index(other.Text, "Safari on"), strings.Index(other.Text, "Firefox on"), "this browser must be first")
	for _, one := range []*Browser{b, phone, bob} {
		assert.NotContains(t, page.Text, one.Session(), "the page contains a session id")
	}
	forms := endings(t, page)
	require.Len(t, forms, 2, "the user's own sessions only")
	require.Contains(t, forms, Handle(phone))

	// Other users' sessions can't be ended.
	foreign := url.Values{"session": {Handle(phone)}, "token": {site.FormToken(bob.Session(), "end session", "u-bob", Handle(phone))}}
	assert.Equal(t, http.StatusNotFound, bob.Post(endPath, foreign).StatusCode)
	assert.Equal(t, http.StatusForbidden, b.Post(endPath, With(forms[Handle(b)], "session", Handle(phone))).StatusCode, "a form is bound to one session")
	for _, odd := range []string{"", "zz", Handle(phone)[2:], phone.Session()} {
		form := url.Values{"session": {odd}, "token": {site.FormToken(b.Session(), "end session", "u-ada", odd)}}
		assert.Equal(t, http.StatusNotFound, b.Post(endPath, form).StatusCode, odd)
	}
	w.NoLeader = true
	assert.Equal(t, http.StatusServiceUnavailable, b.Post(endPath, forms[Handle(phone)]).StatusCode)
	w.NoLeader = false
	assert.Equal(t, http.StatusOK, phone.Get("/account").StatusCode, "a refused form ended a session")

	after := b.Done(b.Post(endPath, forms[Handle(phone)]))
	assert.Contains(t, after.Text, "That browser was signed out.")
	assert.NotContains(t, after.Text, "Safari")
	assert.Equal(t, "/auth/sign-in?to=%2Faccount", phone.Get("/account").Header.Get("Location"))
	assert.Equal(t, http.StatusSeeOther, b.Post(endPath, forms[Handle(phone)]).StatusCode, "the same form twice")
	assert.Equal(t, http.StatusOK, bob.Get("/account").StatusCode)

	// Ending this browser's own session signs out.
	own := endings(t, b.Get("/account"))[Handle(b)]
	res := b.Post(endPath, own)
	assert.Regexp(t, `^/auth/sign-in\?note=signed-out\.`, res.Header.Get("Location"))
	assert.NotContains(t, b.Cookies, "mintmark")
	assert.Equal(t, http.StatusSeeOther, b.Get("/account").StatusCode)
	assert.Equal(t, "/auth/sign-in?note=undone&to=%2Faccount", b.Post(endPath, own).Header.Get("Location"), "the same form twice")
}

// TestSessionsThatLive verifies that ended sessions are not shown.
func TestSessionsThatLive(t *testing.T) {
	w := NewEnv(t)
	w.SignedInWith(safari)
	w.Advance(13 * time.Hour)
	page := w.SignedInWith(firefox).Get("/account")
	assert.NotContains(t, page.Text, "Safari")
	assert.Len(t, endings(t, page), 1)
}

// TestSessionsArePaged verifies that pages stay small, and that every session is on one.
func TestSessionsArePaged(t *testing.T) {
	w := NewEnv(t)
	w.Must(&ledger.PutUser{ID: "u-ada", Username: "ada", Password: PasswordHash(), Person: ledger.Person{
		Name: strings.Repeat("N", 100), Bio: strings.Repeat("Ada is. ", 125), Email: "ada@example.com",
	}})
	for i := range 34 {
		w.Must(&ledger.SignIn{Session: [32]byte{byte(i + 1)}, User: "u-ada", VerifiedHash: sha256.Sum256([]byte(PasswordHash())), Agent: strings.Repeat(firefox, 3)})
	}
	b := w.SignedInWith(firefox)
	seen := map[string]bool{}
	next := regexp.MustCompile(`<a class="button small" href="([^"]*)" rel="next">`)
	page := b.Get(b.Noticed("/account", "signed-out"))
	for n := 1; ; n++ {
		t.Log(len(page.Text))
		for one := range endings(t, page) {
			assert.False(t, seen[one], "once")
			seen[one] = true
		}
		m := next.FindStringSubmatch(page.Text)
		if m == nil {
			break
		}
		require.Less(t, n, 10)
		assert.Regexp(t, `^/account\?after=[0-9a-f]{64}#sessions$`, html.UnescapeString(m[1]))
		address, _, _ := strings.Cut(m[1], "#") // browsers don't send the fragment
		page = b.Get(address)
	}
	assert.Len(t, seen, 35)
	assert.Contains(t, page.Text, `#sessions" rel="prev">`)
	assert.NotContains(t, page.Text, "This browser</span>", "this browser is on the first page")
}

func TestBrowserName(t *testing.T) {
	for agent, want := range map[string]string{
		firefox: "Firefox on Linux",
		safari:  "Safari on iPhone",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36":                       "Chrome on Windows",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0":         "Edge on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36 OPR/120.0.0.0":   "Opera on macOS",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15":                 "Safari on macOS",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36":   "Samsung Internet on Android",
		"Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/138.0.7204.53 Mobile/15E148 Safari/604.1": "Chrome on iPad",
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36":                        "Chrome on ChromeOS",
		"Mozilla/5.0 (Linux; U; Odd)": "A browser on Linux", "Firefox/1": "Firefox",
		"curl/8.5.0": "curl", "": "An unknown browser", "été/1": "An unknown browser", "a\u202eb": "An unknown browser",
		strings.Repeat("x", 41): "An unknown browser", " /": "An unknown browser",
	} {
		assert.Equal(t, want, account.BrowserName(agent), agent)
	}
	for i, probe := range Probes {
		w := NewEnv(t)
		CheckProbe(t, w.SignedInWith(strings.ReplaceAll(probe, " ", "")).Get("/account"), fmt.Sprint(i, probe))
	}
}
