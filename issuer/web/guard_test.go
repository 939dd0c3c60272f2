package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// A specimen is an env with pages that use features which no page uses yet.
type specimen struct {
	*env
	name         string
	uris, scopes []string
	logo         []byte
	accepted     int
}

func newSpecimen(t *testing.T) *specimen {
	t.Helper()
	s := &specimen{env: newEnv(t)}
	s.web.AddSpecimens(func(name string, uris, scopes []string, logo []byte) {
		s.name, s.uris, s.scopes, s.logo = name, uris, scopes, logo
		s.accepted++
	})
	s.route()
	s.user("u-bob", "bob", "Bob")
	s.must(&ledger.PutUser{ID: "u-root", Username: "root", Person: ledger.Person{Name: "Root"}, Password: passwordHash(), Admin: true})
	return s
}

// TestSignInAndBack verifies that a user who is not signed in is sent to the sign-in
// page, and back to the page.
func TestSignInAndBack(t *testing.T) {
	for _, address := range []string{
		"/account", "/account/password", "/connected-apps", "/connected-apps/calendar", "/connected-apps?q=a+b&after=c%26d",
	} {
		w := newEnv(t)
		b := w.browser()
		res := b.get(address)
		require.Equal(t, http.StatusSeeOther, res.StatusCode, address)
		assert.Equal(t, "/auth/sign-in?to="+url.QueryEscape(address), res.Header.Get("Location"))
		page := b.get(res.Header.Get("Location"))
		again := b.signIn(page, "ada", "wrong")
		assert.Equal(t, http.StatusUnprocessableEntity, again.StatusCode)
		in := b.signIn(again, "ada", password)
		assert.Equal(t, address, in.Header.Get("Location"))
		assert.Equal(t, address, b.get(res.Header.Get("Location")).Header.Get("Location"), "a signed-in user must continue at once")
	}
	assert.Equal(t, "/auth/sign-in", newEnv(t).browser().get("/").Header.Get("Location"), "the home page is the default")
}

// TestSignInAfterAForm verifies that a form without a session has no effect, and that the
// page reports it.
func TestSignInAfterAForm(t *testing.T) {
	s := newSpecimen(t)
	stranger := s.browser()
	res := stranger.post("/specimens/calendar/edit", url.Values{"token": {"x"}})
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
	page := stranger.get(res.Header.Get("Location"))
	assert.Contains(t, page.body, "nothing was done")
	assert.Equal(t, "/specimens/calendar", stranger.signIn(page, "ada", password).Header.Get("Location"), "the page of the form")
	assert.Zero(t, s.accepted)
}

var notOwn = []string{
	"", "x", "account", "//evil.example/account", "/\\evil.example", "https://evil.example/account", "http:/account", "/account/", "/account/nothing",
	"/nowhere", "/auth/sign-in", "/auth/sign-out", "/auth/oauth2/authorize?client_id=x", "/assets/x", "/connected-apps/disconnect/x", "/connected-apps/",
	"/connected-apps//x", "/specimens/a/b", "/%2e%2e//evil.example", "/account\r\nLocation: https://evil.example", "/account\x00", "javascript:alert(1)",
	"/account#@evil.example", "/account/password?" + strings.Repeat("x", 2048), "/account/../../evil", "/specimens/..%2f..%2fx", "/account@evil.example", "\t/account", " /account",
}

// TestOwnPages verifies that the sign-in page leads only to a closed list of addresses.
func TestOwnPages(t *testing.T) {
	s := newSpecimen(t)
	for address, want := range map[string]string{
		"/": "/", "/account": "/account", "/account?done=x&y": "/account?done=x&y", "/specimens/x": "/specimens/x",
		"/specimens/a|b@c": "/specimens/a%7Cb@c", "/account?a= \"": "/account?a=%20\"", "/account?next=//evil.example": "/account?next=//evil.example",
	} {
		assert.Equal(t, want, s.web.OwnPage(address), "%q", address)
	}
	for _, address := range notOwn {
		if got := s.web.OwnPage(address); got != "" {
			assert.Equal(t, "/account", strings.SplitN(got, "#", 2)[0], "%q", address)
		}
		b := s.browser()
		res := b.signIn(b.get("/auth/sign-in?to="+url.QueryEscape(address)), "ada", password)
		assert.Contains(t, []string{"/", "/account"}, res.Header.Get("Location"), "%q", address)

		b = s.browser()
		form := with(b.get("/auth/sign-in").form(t, "/auth/sign-in"), "username", "ada", "password", password)
		form.Set("to", address)
		assert.Contains(t, []string{"/", "/account"}, b.post("/auth/sign-in", form).Header.Get("Location"), "%q", address)
	}
}

func FuzzOwnPage(f *testing.F) {
	for _, address := range notOwn {
		f.Add(address)
	}
	f.Add("/connected-apps/calendar?q=x")
	f.Add("/account?" + strings.Repeat("\xff", 1000))
	var w *env
	f.Fuzz(func(t *testing.T, address string) {
		if w == nil {
			w = newEnv(t)
		}
		own := w.web.OwnPage(address)
		if own == "" {
			return
		}
		if !strings.HasPrefix(own, "/") || strings.HasPrefix(own, "//") || strings.HasPrefix(own, `/\`) {
			t.Fatalf("%q leads to %q", address, own)
		}
		for i := range len(own) {
			if own[i] <= ' ' || own[i] >= 0x7f {
				t.Fatalf("%q is not valid in a header", own)
			}
		}
		u, err := url.Parse(own)
		if err != nil || u.Scheme != "" || u.Host != "" || u.Fragment != "" {
			t.Fatalf("%q leads to %q", address, own)
		}
		if w.web.OwnPage(own) != own {
			t.Fatalf("%q is changed to %q by a second call", own, w.web.OwnPage(own))
		}
	})
}

// TestAdministrators verifies that pages of administrators are visible to them only.
func TestAdministrators(t *testing.T) {
	s := newSpecimen(t)
	root, ada := s.signedInAs("root"), s.signedIn()
	assert.Equal(t, http.StatusOK, root.get("/administration").StatusCode)
	assert.Contains(t, root.get("/").body, `<h2><a href="/admin">Reviews</a></h2>`)
	assert.Contains(t, root.get("/account").body, `<li><a href="/admin">`)

	res := ada.get("/administration")
	assert.Equal(t, http.StatusNotFound, res.StatusCode)
	assert.Equal(t, ada.get("/nothing").body, res.body)
	assert.NotContains(t, ada.get("/").body, "/admin")
	s.noLeader = true
	assert.Equal(t, http.StatusServiceUnavailable, ada.get("/administration").StatusCode, "this node may lag")
	assert.Equal(t, http.StatusOK, root.get("/administration").StatusCode)
	s.noLeader = false

	s.lag()
	s.must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-ada", State: ledger.Promote})
	assert.Equal(t, http.StatusOK, ada.get("/administration").StatusCode, "the user has just become an administrator")
	s.must(&ledger.SignOut{Session: credential.SessionDigest(ada.session())})
	assert.Equal(t, "/auth/sign-in?to=%2Fadministration", ada.get("/administration").Header.Get("Location"), "the user has just signed out")
}

// TestSessionUnavailable verifies that users are not sent to the sign-in page while it
// can't be determined whether they are signed in.
func TestSessionUnavailable(t *testing.T) {
	w := newEnv(t)
	w.lag()
	b := w.signedIn()
	w.noLeader = true
	res := b.get("/account")
	assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
	assert.NotEmpty(t, res.Header.Get("Retry-After"))
	assert.Equal(t, http.StatusServiceUnavailable, b.post(passwordPath, nil).StatusCode)
	assert.Equal(t, http.StatusSeeOther, w.browser().get("/account").StatusCode, "without a session cookie")
	w.noLeader = false
	assert.Equal(t, http.StatusOK, b.get("/account").StatusCode)
}

// TestNoLeaderContact: a node without contact to the leader may have missed the end of a
// session.
func TestNoLeaderContact(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	w.noLeaderContact = true
	assert.Equal(t, http.StatusOK, b.get("/account").StatusCode, "a fresh view is available")
	page := b.get(at(good()))
	w.lag()
	w.must(&ledger.SignOut{Session: credential.SessionDigest(b.session())})
	assert.Equal(t, "/auth/sign-in?to=%2Faccount", b.get("/account").Header.Get("Location"))
	w.noLeader = true
	for name, res := range map[string]answer{
		"page": b.get("/account"), "form": b.post(passwordPath, nil), "consent": b.get(at(good())), "decision": b.decide(page, "cancel"),
	} {
		assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode, name)
		assert.NotEmpty(t, res.Header.Get("Retry-After"), name)
		assert.NotContains(t, res.body, "Ada", name)
	}
	assert.Equal(t, http.StatusOK, w.browser().get(at(good())).StatusCode, "a sign-in can begin without a session")
}

// TestNavigation verifies that the navigation marks the current page, and counts what waits.
func TestNavigation(t *testing.T) {
	s := newSpecimen(t)
	b, root := s.signedIn(), s.signedInAs("root")
	for address, want := range map[string]string{
		"/":                     "",
		"/connected-apps":       `<a href="/connected-apps" aria-current="page">`,
		"/account":              `<a href="/account" aria-current="page">`,
		"/account/password":     `<a href="/account" aria-current="true">`,
		"/developer/new":        `<a href="/developer" aria-current="true">`,
		"/specimens/calendar":   "",
		"/admin":                `<a href="/admin" aria-current="page">`,
		"/admin/clients":        `<a href="/admin/clients" aria-current="page">`,
		"/admin/clients/native": `<a href="/admin/clients" aria-current="true">`,
		"/admin/new-user":       `<a href="/admin/users" aria-current="true">`,
	} {
		page := b.get(address)
		if strings.HasPrefix(address, "/admin") {
			assert.Equal(t, http.StatusNotFound, page.StatusCode)
			page = root.get(address)
		}
		assert.Contains(t, page.body, want)
		_, nav, _ := strings.Cut(page.body, "<nav ")
		nav, _, _ = strings.Cut(nav, "</nav>")
		assert.Equal(t, strings.Count(want, "aria-current"), strings.Count(nav, "aria-current"), address)
	}
	assert.Contains(t, b.get("/specimens/calendar").body, `<p class="up"><a href="/specimens"><bdi>Specimens</bdi></a></p>`)

	waiting, _ := s.View().ReviewQueue(ledger.QueueQuery{Limit: 10})
	for n := len(waiting); n <= 100; n++ {
		want := `<span class="unseen">, </span>` + map[bool]string{true: fmt.Sprint(n), false: "99&#43;"}[n < 100] + `<span class="unseen"> waiting for review</span>`
		assert.Equal(t, n > 0, strings.Contains(root.get("/").body, want), n)
		s.client(fmt.Sprint("waits-", n), func(c *ledger.ImportClient) { c.State = ledger.Pending })
	}
	assert.NotContains(t, b.get("/").body, "waiting for review")
}
