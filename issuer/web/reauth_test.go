package web_test

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

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/security"
	"github.com/mintmark-auth/mintmark/issuer/upstream/upstreamtest"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

// An act is one of the actions that need a recent sign-in.
type act struct {
	page, action string
	fields       []string
	redisplayed  string // the fields that the page shows again
	done         func(w *env) bool
}

const given = "a-password-that-was-given"

var acts = map[string]act{
	"publisher": {
		page: localPage + "/edit", action: localPage + "/edit", redisplayed: `value="BOOKING_READ" checked`, fields: []string{"scopes", "BOOKING_READ"},
		done: func(w *env) bool { return w.publisher("local") != nil },
	},
	"new publisher": {
		page: addPublisher, action: addPublisher, redisplayed: `value="agent.example"`, fields: []string{"host", "agent.example", "scopes", "BOOKING_READ"},
		done: func(w *env) bool { return w.publisher("agent.example") != nil },
	},
	"promote": {
		page: adaPage, action: adaPage + "/state", redisplayed: `value="promote"`,
		done: func(w *env) bool { return w.userByName("ada").Admin },
	},
	"new administrator": {
		page: newUserPage, action: newUserPage, redisplayed: `value="carol"`,
		fields: []string{"username", "carol", "password", given, "admin", "yes"},
		done:   func(w *env) bool { return w.userByName("carol") != nil },
	},
	"password": {
		page: adaPage + "/password", action: adaPage + "/password", redisplayed: given, fields: []string{"password", given},
		done: func(w *env) bool { return w.userByName("ada").Password == "hash of "+given },
	},
	"transfer": {
		page: givePage, action: givePage, redisplayed: `value="bob"`, fields: []string{"username", "bob"},
		done: func(w *env) bool { return w.clientRow("calendar").Owner == "u-bob" },
	},
}

const ownField = `name="own_password" type="password" autocomplete="current-password"`

// failing is administration, and counts failed sign-ins by cause.
func failing(t *testing.T) (w *env, root *browser, failures map[ledger.Cause]int) {
	t.Helper()
	failures = map[ledger.Cause]int{}
	var now func() time.Time
	w, root = administration(t, func(c *web.Config) {
		c.Security = security.New(security.Config{
			Log: c.Log, Now: func() time.Time { return now() }, Name: func(c ledger.Cause) string { return fmt.Sprint("cause-", int(c)) },
			Count: func(_ security.Kind, cause ledger.Cause) { failures[cause]++ },
		})
	})
	now = w.clock
	return w, root, failures
}

// TestActsNeedAFreshSignIn verifies that each of the actions asks an administrator whose
// sign-in is old for the password, and keeps the other input.
func TestActsNeedAFreshSignIn(t *testing.T) {
	for name, a := range acts {
		t.Run(name, func(t *testing.T) {
			w, root, failures := failing(t)
			w.advance(ledger.ReauthenticateAfter - time.Second)
			assert.NotContains(t, root.get(a.page).body, "own_password")
			w.advance(time.Second)
			page := root.get(a.page)
			assert.Contains(t, page.body, ownField)
			form := with(page.form(t, a.action), a.fields...)

			res := root.post(a.action, form)
			assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
			assert.Contains(t, res.body, "Your password is missing.")
			assert.Contains(t, res.body, a.redisplayed)
			assert.Empty(t, failures)

			form.Set("own_password", "not the password")
			res = root.post(a.action, form)
			assert.Equal(t, http.StatusUnprocessableEntity, res.StatusCode)
			assert.Contains(t, res.body, "Your password is not right.")
			assert.Contains(t, res.body, a.redisplayed)
			assert.NotContains(t, res.body, "not the password")
			assert.Equal(t, map[ledger.Cause]int{ledger.PasswordWrong: 1}, failures)
			assert.Contains(t, w.log.String(), "security.user=u-root")
			assert.NotContains(t, w.log.String(), "not the password")

			form.Set("own_password", given) // may be the password of the user concerned, not the administrator's
			assert.Equal(t, http.StatusUnprocessableEntity, root.post(a.action, form).StatusCode)
			assert.False(t, a.done(w))

			form.Set("own_password", password)
			root.done(root.post(a.action, form))
			assert.True(t, a.done(w))
			assert.NotContains(t, root.get(newUserPage).body, "own_password", "the sign-in is recent now")
			w.advance(ledger.ReauthenticateAfter)
			assert.Contains(t, root.get(newUserPage).body, "own_password")
			assert.NotContains(t, w.log.String(), password)
		})
	}
}

// TestActsAreRefusedByTheCommand verifies that a page which considered the sign-in recent
// asks for the password after the command's refusal.
func TestActsAreRefusedByTheCommand(t *testing.T) {
	for name, a := range acts {
		t.Run(name, func(t *testing.T) {
			w, root := administration(t)
			w.advance(ledger.ReauthenticateAfter - time.Second)
			form := with(root.get(a.page).form(t, a.action), a.fields...)
			w.beforePropose = func() { w.advance(time.Second) }
			res := root.post(a.action, form)
			assert.Equal(t, http.StatusForbidden, res.StatusCode)
			assert.Contains(t, res.body, "You signed in more than 15 minutes ago, so nothing was done.")
			assert.Contains(t, res.body, ownField)
			assert.Contains(t, res.body, a.redisplayed)
			assert.False(t, a.done(w))
			root.done(root.post(a.action, with(form, "own_password", password)))
			assert.True(t, a.done(w))
		})
	}
}

// TestOtherActsNeedNoFreshSignIn verifies that other actions of administrators need no
// recent sign-in, including adding a user without the role.
func TestOtherActsNeedNoFreshSignIn(t *testing.T) {
	w, root := administration(t)
	w.advance(time.Hour)
	root.done(root.press(newUserPage, newUserPage, "username", "carol", "password", given))
	assert.NotNil(t, w.userByName("carol"))
	page := root.get(adaPage)
	_, disable, _ := strings.Cut(page.body, "When the account is disabled")
	token := regexp.MustCompile(`name="token" value="([^"]*)"`).FindStringSubmatch(disable)[1]
	root.done(root.post(adaPage+"/state", url.Values{"token": {token}, "state": {"disable"}, "sure": {"yes"}}))
	assert.True(t, w.userByName("ada").Disabled)
}

// TestReauthOutlivesAMistake verifies that the password need not be entered again after
// another field was invalid.
func TestReauthOutlivesAMistake(t *testing.T) {
	w, root := administration(t)
	w.advance(time.Hour)
	res := root.press(newUserPage, newUserPage, "username", "bob", "password", given, "admin", "yes", "own_password", password)
	assert.Contains(t, res.body, "Username is taken.")
	assert.NotContains(t, res.body, "own_password")
	root.done(root.post(newUserPage, with(res.form(t, newUserPage), "username", "carol", "password", given, "admin", "yes")))
	assert.True(t, w.userByName("carol").Admin)
}

// TestGuessesAtTheOwnPasswordAreCounted verifies that wrong passwords in this form and on
// the sign-in page have a common count by account, over all addresses.
func TestGuessesAtTheOwnPasswordAreCounted(t *testing.T) {
	w, root, failures := failing(t)
	w.advance(time.Hour)
	thief := w.browser()
	thief.setSession(root.session(), 0)
	form := with(root.get(givePage).form(t, givePage), "username", "bob")
	guess := func(b *browser, address string, typed string) int {
		b.address = address
		return b.post(givePage, with(form, "own_password", typed)).StatusCode
	}
	for i := range 100 {
		require.Equal(t, http.StatusUnprocessableEntity, guess(thief, fmt.Sprintf("203.0.113.%d", i), "a guess"), i)
	}
	assert.Equal(t, http.StatusTooManyRequests, guess(thief, "203.0.113.200", password))
	assert.Equal(t, map[ledger.Cause]int{ledger.PasswordWrong: 100, ledger.Throttled: 1}, failures)
	stranger := w.browser()
	stranger.address = "203.0.113.201"
	assert.Equal(t, http.StatusTooManyRequests, stranger.signIn(stranger.get("/auth/sign-in"), "root", password).StatusCode)
	assert.Equal(t, "u-ada", w.clientRow("calendar").Owner)
	assert.Equal(t, http.StatusSeeOther, guess(root, "192.0.2.1", password), "the administrator's own browser has a separate count")
}

// confirmLink matches the link to the provider on a page for a signed-in user.
var confirmLink = regexp.MustCompile(`<a class="button" href="(/auth/upstream/callback/confirm\?[^"]*)"( target="_blank" rel="noopener")?>Confirm with <bdi>Example ID</bdi></a>`)

func (a answer) confirmLink(t *testing.T) (address string, aside bool) {
	t.Helper()
	m := confirmLink.FindStringSubmatch(a.body)
	require.NotNil(t, m, a.body)
	return html.UnescapeString(m[1]), m[2] != ""
}

// upstreamRoot returns an administrator who signed in at the provider an hour ago.
func upstreamRoot(t *testing.T, change ...func(*web.Config)) (*env, *upstreamtest.Provider, *browser) {
	t.Helper()
	w, p := newUpstreamEnv(t, change...)
	p.Profile = upstreamtest.Claims{"preferred_username": "zoe", "groups": []string{"root"}}
	w.agents(ledger.AgentsListed)
	w.user("u-bob", "bob", "Bob")
	root := w.browser()
	require.Equal(t, http.StatusSeeOther, root.signInUpstream(root.get("/auth/sign-in"), p, "s-zoe").StatusCode)
	w.advance(time.Hour)
	return w, p, root
}

// confirm follows the link of a page, and returns where the provider sends the browser
// after a sign-in there.
func (b *browser) confirm(p *upstreamtest.Provider, page answer, subject string) string {
	b.env.t.Helper()
	address, _ := page.confirmLink(b.env.t.(*testing.T))
	res := b.get(address)
	require.Equal(b.env.t, http.StatusSeeOther, res.StatusCode, res.body)
	location := res.Header.Get("Location")
	asked, err := url.Parse(location)
	require.NoError(b.env.t, err)
	require.Equal(b.env.t, "0", asked.Query().Get("max_age"))
	require.Equal(b.env.t, "login", asked.Query().Get("prompt"))
	return web.PathUpstreamCallback + "?" + p.SignIn(location, subject).Encode()
}

// TestConfirmElsewhere verifies that a user without a password here signs in at the
// provider again.
func TestConfirmElsewhere(t *testing.T) {
	for name, a := range acts {
		t.Run(name, func(t *testing.T) {
			w, p, root := upstreamRoot(t)
			page := root.get(a.page)
			assert.NotContains(t, page.body, "own_password")
			_, aside := page.confirmLink(t)
			assert.False(t, aside)
			form := with(page.form(t, a.action), a.fields...)
			refused := root.post(a.action, form)
			assert.Equal(t, http.StatusForbidden, refused.StatusCode)
			assert.Contains(t, refused.body, a.redisplayed)
			_, aside = refused.confirmLink(t)
			assert.True(t, aside, "the link must open in another tab to keep the input")
			assert.False(t, a.done(w))

			session := root.session()
			back := root.confirm(p, refused, "s-zoe")
			after := root.done(root.get(back))
			assert.Contains(t, after.body, "You have confirmed that it is you.")
			assert.Equal(t, session, root.session(), "a confirmation must not create a session")
			assert.NotContains(t, after.body, "Confirm with")
			assert.Equal(t, a.page, leadsToPath(root.get(back)), "a reload of the callback")

			root.done(root.post(a.action, form))
			assert.True(t, a.done(w))
			w.advance(ledger.ReauthenticateAfter)
			root.get(newUserPage).confirmLink(t)
		})
	}
}

func leadsToPath(res answer) string {
	path, _, _ := strings.Cut(res.Header.Get("Location"), "?")
	return path
}

func TestConfirmElsewhereProblems(t *testing.T) {
	for name, test := range map[string]struct {
		subject string
		id      func(w *env, c upstreamtest.Claims)
		play    func(w *env, p *upstreamtest.Provider, root *browser)
		change  func(url.Values)
		status  int
		says    string
	}{
		"no auth_time": {
			id:     func(_ *env, c upstreamtest.Claims) { delete(c, "auth_time") },
			status: 403, says: "did not ask you to sign in again",
		},
		"an auth_time before the request": {
			id:     func(w *env, c upstreamtest.Claims) { c["auth_time"] = w.clock().Add(-2 * time.Minute).Unix() },
			status: 403, says: "did not ask you to sign in again",
		},
		"somebody else": {subject: "s-eve", status: 403, says: "signed in another person"},
		"late":          {play: func(w *env, _ *upstreamtest.Provider, _ *browser) { w.advance(10 * time.Minute) }, status: 400, says: "took too long"},
		"cancelled":     {change: func(v url.Values) { v.Set("error", "access_denied") }, status: 403, says: "cancelled there"},
		"down": {play: func(_ *env, p *upstreamtest.Provider, _ *browser) {
			p.Answer["/token"] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
		}, status: 503, says: "can’t be reached"},
		"another code": {change: func(v url.Values) { v.Set("code", "x") }, status: 502, says: "could not be accepted"},
	} {
		t.Run(name, func(t *testing.T) {
			w, p, root := upstreamRoot(t)
			if test.id != nil {
				p.ID = func(c upstreamtest.Claims) { test.id(w, c) }
			}
			if test.subject == "" {
				test.subject = "s-zoe"
			}
			back := root.confirm(p, root.get(givePage), test.subject)
			if test.change != nil {
				u, err := url.Parse(back)
				require.NoError(t, err)
				q := u.Query()
				test.change(q)
				back = web.PathUpstreamCallback + "?" + q.Encode()
			}
			if test.play != nil {
				test.play(w, p, root)
			}
			session := root.session()
			res := root.get(back)
			assert.Equal(t, test.status, res.StatusCode)
			assert.Contains(t, res.body, test.says)
			assert.Contains(t, res.body, `href="`+givePage+`">Go back and try again</a>`)
			assert.Equal(t, session, root.session())
			root.get(givePage).confirmLink(t)
			assert.Equal(t, http.StatusForbidden, root.press(givePage, givePage, "username", "bob").StatusCode)
			assert.Nil(t, w.upstreamUser(p, "s-eve"), "a confirmation must not create an account")
		})
	}
}

// TestConfirmElsewhereIsForOneSession verifies that only the link of a page of this
// session begins a confirmation, which is valid for this session only.
func TestConfirmElsewhereIsForOneSession(t *testing.T) {
	w, p, root := upstreamRoot(t)
	address, _ := root.get(givePage).confirmLink(t)
	other := w.browser()
	other.signInUpstream(other.get("/auth/sign-in"), p, "s-zoe")
	w.advance(time.Hour)
	assert.Equal(t, http.StatusForbidden, other.get(address).StatusCode)
	u, err := url.Parse(address)
	require.NoError(t, err)
	elsewhere := u.Query()
	elsewhere.Set("to", newUserPage)
	assert.Equal(t, http.StatusForbidden, root.get(u.Path+"?"+elsewhere.Encode()).StatusCode)

	back := root.confirm(p, root.get(givePage), "s-zoe")
	root.setSession(other.sessionCookie())
	assert.Equal(t, givePage, root.get(back).Header.Get("Location"))
	root.get(givePage).confirmLink(t)
}

// TestSilentSignInElsewhereIsNotFresh verifies that an old auth_time of the provider
// makes the sign-in here an old one.
func TestSilentSignInElsewhereIsNotFresh(t *testing.T) {
	w, p, root := upstreamRoot(t)
	p.ID = func(c upstreamtest.Claims) { c["auth_time"] = w.clock().Add(-time.Hour).Unix() }
	again := w.browserFrom(root)
	require.Equal(t, http.StatusSeeOther, again.signInUpstream(again.get("/auth/sign-in"), p, "s-zoe").StatusCode)
	again.get(givePage).confirmLink(t)
}

// TestReauthenticationWithoutMeans covers a user with neither a password here nor a provider.
func TestReauthenticationWithoutMeans(t *testing.T) {
	w, _, _ := upstreamRoot(t, func(c *web.Config) { c.NoPasswords = true })
	w.must(&ledger.PutUser{ID: "u-root", Username: "root", Password: passwordHash(), Admin: true})
	root := w.browser()
	w.must(&ledger.SignIn{Session: credential.SessionDigest("left"), User: "u-root", VerifiedHash: sha256.Sum256([]byte(passwordHash()))})
	root.setSession("left", 0)
	w.advance(time.Hour)
	page := root.get(givePage)
	assert.Contains(t, page.body, "Sign out and sign in again")
	assert.Equal(t, http.StatusForbidden, root.post(givePage, with(page.form(t, givePage), "username", "bob")).StatusCode)
}
