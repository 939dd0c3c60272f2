package site_test

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
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// A specimen is an env with pages that use features which no page uses yet.
type specimen struct {
	*Env
	name         string
	uris, scopes []string
	logo         []byte
	accepted     int
}

func newSpecimen(t *testing.T) *specimen {
	t.Helper()
	s := &specimen{Env: NewEnv(t)}
	s.Web.AddSpecimens(func(name string, uris, scopes []string, logo []byte) {
		s.name, s.uris, s.scopes, s.logo = name, uris, scopes, logo
		s.accepted++
	})
	s.Route()
	s.User("u-bob", "bob", "Bob")
	s.Must(&ledger.PutUser{ID: "u-root", Username: "root", Person: ledger.Person{Name: "Root"}, Password: PasswordHash(), Admin: true})
	return s
}

// TestSignInAndBack verifies that a user who is not signed in is sent to the sign-in
// page, and back to the page.
func TestSignInAndBack(t *testing.T) {
	for _, address := range []string{
		"/account", "/account/password", "/connected-apps", "/connected-apps/calendar", "/connected-apps?q=a+b&after=c%26d",
	} {
		w := NewEnv(t)
		b := w.Browser()
		res := b.Get(address)
		require.Equal(t, http.StatusSeeOther, res.StatusCode, address)
		assert.Equal(t, "/auth/sign-in?to="+url.QueryEscape(address), res.Header.Get("Location"))
		page := b.Get(res.Header.Get("Location"))
		again := b.SignIn(page, "ada", "wrong")
		assert.Equal(t, http.StatusUnprocessableEntity, again.StatusCode)
		in := b.SignIn(again, "ada", Password)
		assert.Equal(t, address, in.Header.Get("Location"))
		assert.Equal(t, address, b.Get(res.Header.Get("Location")).Header.Get("Location"), "a signed-in user must continue at once")
	}
	assert.Equal(t, "/auth/sign-in", NewEnv(t).Browser().Get("/").Header.Get("Location"), "the home page is the default")
}

// TestSignInAfterAForm verifies that a form without a session has no effect, and that the
// page reports it.
func TestSignInAfterAForm(t *testing.T) {
	s := newSpecimen(t)
	stranger := s.Browser()
	res := stranger.Post("/specimens/calendar/edit", url.Values{"token": {"x"}})
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
	page := stranger.Get(res.Header.Get("Location"))
	assert.Contains(t, page.Text, "so nothing was saved")
	assert.Equal(t, "/specimens/calendar", stranger.SignIn(page, "ada", Password).Header.Get("Location"), "the page of the form")
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
		assert.Equal(t, want, s.Web.OwnPage(address), "%q", address)
	}
	for _, address := range notOwn {
		if got := s.Web.OwnPage(address); got != "" {
			assert.Equal(t, "/account", strings.SplitN(got, "#", 2)[0], "%q", address)
		}
		b := s.Browser()
		res := b.SignIn(b.Get("/auth/sign-in?to="+url.QueryEscape(address)), "ada", Password)
		assert.Contains(t, []string{"/", "/account"}, res.Header.Get("Location"), "%q", address)

		b = s.Browser()
		form := With(b.Get("/auth/sign-in").Form(t, "/auth/sign-in"), "username", "ada", "password", Password)
		form.Set("to", address)
		assert.Contains(t, []string{"/", "/account"}, b.Post("/auth/sign-in", form).Header.Get("Location"), "%q", address)
	}
}

func FuzzOwnPage(f *testing.F) {
	for _, address := range notOwn {
		f.Add(address)
	}
	f.Add("/connected-apps/calendar?q=x")
	f.Add("/account?" + strings.Repeat("\xff", 1000))
	var w *Env
	f.Fuzz(func(t *testing.T, address string) {
		if w == nil {
			w = NewEnv(t)
		}
		own := w.Web.OwnPage(address)
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
		if w.Web.OwnPage(own) != own {
			t.Fatalf("%q is changed to %q by a second call", own, w.Web.OwnPage(own))
		}
	})
}

// TestAdministrators verifies that pages of administrators are visible to them only.
func TestAdministrators(t *testing.T) {
	s := newSpecimen(t)
	root, ada := s.SignedInAs("root"), s.SignedIn()
	assert.Equal(t, http.StatusOK, root.Get("/administration").StatusCode)
	assert.Contains(t, root.Get("/").Text, `<li><a href="/admin">`)
	assert.Contains(t, root.Get("/account").Text, `<li><a href="/admin">`)

	res := ada.Get("/administration")
	assert.Equal(t, http.StatusNotFound, res.StatusCode)
	assert.Equal(t, ada.Get("/nothing").Text, res.Text)
	assert.NotContains(t, ada.Get("/").Text, "/admin")
	s.NoLeader = true
	assert.Equal(t, http.StatusServiceUnavailable, ada.Get("/administration").StatusCode, "this node may lag")
	assert.Equal(t, http.StatusOK, root.Get("/administration").StatusCode)
	s.NoLeader = false

	s.Lag()
	s.Must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-ada", State: ledger.Promote})
	assert.Equal(t, http.StatusOK, ada.Get("/administration").StatusCode, "the user has just become an administrator")
	s.Must(&ledger.SignOut{Session: credential.SessionDigest(ada.Session())})
	assert.Equal(t, "/auth/sign-in?to=%2Fadministration", ada.Get("/administration").Header.Get("Location"), "the user has just signed out")
}

// TestSessionUnavailable verifies that users are not sent to the sign-in page while it
// can't be determined whether they are signed in.
func TestSessionUnavailable(t *testing.T) {
	w := NewEnv(t)
	w.Lag()
	b := w.SignedIn()
	w.NoLeader = true
	res := b.Get("/account")
	assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
	assert.NotEmpty(t, res.Header.Get("Retry-After"))
	assert.Equal(t, http.StatusServiceUnavailable, b.Post(PasswordPath, nil).StatusCode)
	assert.Equal(t, http.StatusSeeOther, w.Browser().Get("/account").StatusCode, "without a session cookie")
	w.NoLeader = false
	assert.Equal(t, http.StatusOK, b.Get("/account").StatusCode)
}

// TestNoLeaderContact: a node without contact to the leader may have missed the end of a
// session.
func TestNoLeaderContact(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	w.NoLeaderContact = true
	assert.Equal(t, http.StatusOK, b.Get("/account").StatusCode, "a fresh view is available")
	assert.Zero(t, w.PacedViews.Load(), "a session doesn't share the views of requests without one")
	page := b.Get(At(Good()))
	w.Lag()
	w.Must(&ledger.SignOut{Session: credential.SessionDigest(b.Session())})
	assert.Equal(t, "/auth/sign-in?to=%2Faccount", b.Get("/account").Header.Get("Location"))
	w.NoLeader = true
	for name, res := range map[string]Answer{
		"page": b.Get("/account"), "form": b.Post(PasswordPath, nil), "consent": b.Get(At(Good())), "decision": b.Decide(page, "cancel"),
	} {
		assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode, name)
		assert.NotEmpty(t, res.Header.Get("Retry-After"), name)
		assert.NotContains(t, res.Text, "Ada", name)
	}
	assert.Equal(t, http.StatusOK, w.Browser().Get(At(Good())).StatusCode, "a sign-in can begin without a session")
}

// TestNavigation verifies that the navigation marks the current page, and counts what waits.
func TestNavigation(t *testing.T) {
	s := newSpecimen(t)
	b, root := s.SignedIn(), s.SignedInAs("root")
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
		page := b.Get(address)
		if strings.HasPrefix(address, "/admin") {
			assert.Equal(t, http.StatusNotFound, page.StatusCode)
			page = root.Get(address)
		}
		assert.Contains(t, page.Text, want)
		_, nav, _ := strings.Cut(page.Text, "<nav ")
		nav, _, _ = strings.Cut(nav, "</nav>")
		assert.Equal(t, strings.Count(want, "aria-current"), strings.Count(nav, "aria-current"), address)
	}
	assert.Contains(t, b.Get("/specimens/calendar").Text, `<p class="up"><a href="/specimens"><bdi>Specimens</bdi></a></p>`)

	waiting, _ := s.View().ReviewQueue(ledger.QueueQuery{Limit: 10})
	for n := len(waiting); n <= 100; n++ {
		want := `<span class="unseen">, </span>` + map[bool]string{true: fmt.Sprint(n), false: "99&#43;"}[n < 100] + `<span class="unseen"> waiting for review</span>`
		assert.Equal(t, n > 0, strings.Contains(root.Get("/").Text, want), n)
		s.Client(fmt.Sprint("waits-", n), func(c *ledger.ImportClient) { c.State = ledger.Pending })
	}
	assert.NotContains(t, b.Get("/").Text, "waiting for review")
	assert.Contains(t, root.Get("/admin/clients/waits-99").Text, `<a href="/admin" aria-current="true">`, "a review belongs to the queue")
}
