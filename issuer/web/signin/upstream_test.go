package signin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/upstream/upstreamtest"
	"github.com/mintmark-auth/mintmark/issuer/web"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

func TestSignInElsewhere(t *testing.T) {
	w, p := NewUpstreamEnv(t)
	p.Profile = upstreamtest.Claims{"preferred_username": "ada", "name": "Ada of Elsewhere", "email": "ada@example.com", "email_verified": true}
	b := w.Browser()
	page := b.Get(At(Good()))
	require.Contains(t, page.Text, "Sign in with <bdi>Example ID</bdi>")
	require.Contains(t, page.Text, `name="password"`)
	back := b.GoUpstream(page, p, "s-1")
	require.Len(t, b.AttemptCookies(), 1)
	res := b.Get(back)
	require.Equal(t, http.StatusSeeOther, res.StatusCode, res.Text)
	require.Equal(t, At(Good()), res.Header.Get("Location"), "the application's request must be unchanged")
	require.Contains(t, b.Get(res.Header.Get("Location")).Text, "Ada of Elsewhere")

	made := w.UpstreamUser(p, "s-1")
	require.NotNil(t, made)
	assert.NotEqual(t, "u-ada", made.ID, "an e-mail address must not link accounts")
	assert.Equal(t, "ada-2", made.Username)
	assert.Equal(t, "ada@example.com", made.Email)
	assert.False(t, made.Admin)
	assert.Regexp(t, `^u_[A-Za-z0-9_-]+$`, made.ID)
	again := w.Browser()
	require.Equal(t, "/", again.SignInUpstream(again.Get("/auth/sign-in"), p, "s-1").Header.Get("Location"))
	assert.Equal(t, made.ID, w.View().Session(credential.SessionDigest(again.Session())).User, "the same account")

	p.Profile["groups"] = []string{"root"}
	again.SignInUpstream(w.BrowserFrom(again).Get("/auth/sign-in"), p, "s-1")
	assert.True(t, w.UpstreamUser(p, "s-1").Admin)
	assert.NotContains(t, w.Log.String(), upstreamtest.ClientSecret)
	code, _ := url.Parse(back)
	assert.NotContains(t, w.Log.String(), code.Query().Get("code"))
}

func TestSignInElsewhereGoesOn(t *testing.T) {
	for to, want := range map[string]string{
		"/account": "/account", "/connected-apps?q=a+b": "/connected-apps?q=a+b",
		"//evil.example/": "/", "https://evil.example": "/", "/auth/sign-in": "/", "": "/",
	} {
		w, p := NewUpstreamEnv(t)
		b := w.Browser()
		res := b.SignInUpstream(b.Get("/auth/sign-in?"+url.Values{"to": {to}}.Encode()), p, "1")
		assert.Equal(t, want, res.Header.Get("Location"), to)
	}
}

// TestElsewhereCookie verifies that the cookie is short-lived, for this host only, hidden
// from scripts, and neither readable nor modifiable.
func TestElsewhereCookie(t *testing.T) {
	w, _ := NewUpstreamEnv(t, func(c *web.Config) { c.Secure = true })
	b := w.Browser()
	res := b.Get(b.Get(At(Good())).UpstreamLink(t))
	require.Equal(t, http.StatusSeeOther, res.StatusCode, res.Text)
	var c *http.Cookie
	for _, one := range res.Cookies() {
		if strings.HasPrefix(one.Name, "__Secure-mintmark-upstream-") {
			c = one
		}
	}
	require.NotNil(t, c)
	assert.True(t, c.HttpOnly && c.Secure && c.Path == authn.PathUpstreamCallback && c.Domain == "" && c.SameSite == http.SameSiteLaxMode)
	assert.Positive(t, c.MaxAge)
	assert.LessOrEqual(t, c.MaxAge, 3600)
	location, err := url.Parse(res.Header.Get("Location"))
	require.NoError(t, err)
	for _, told := range []string{location.Query().Get("state"), location.Query().Get("nonce"), "calendar"} {
		assert.NotContains(t, c.Value, told)
	}
	assert.NotEqual(t, location.Query().Get("state"), location.Query().Get("nonce"))
}

// TestAnyNodeFinishes verifies that a node can finish a sign-in that another one began.
func TestAnyNodeFinishes(t *testing.T) {
	w, p := NewUpstreamEnv(t)
	b := w.Browser()
	back := b.GoUpstream(b.Get("/auth/sign-in?to=/account"), p, "1")
	config := w.Config
	config.Upstream = Relying(t, p, &config)
	another, err := web.New(config)
	require.NoError(t, err)
	w.Web = another
	w.Route()
	res := b.Get(back)
	require.Equal(t, http.StatusSeeOther, res.StatusCode, res.Text)
	require.Equal(t, "/account", res.Header.Get("Location"))
}

// TestElsewhereTwice covers the back button, a double click and a reload.
func TestElsewhereTwice(t *testing.T) {
	w, p := NewUpstreamEnv(t)
	b := w.Browser()
	page := b.Get(At(Good()))
	first, second := b.GoUpstream(page, p, "1"), b.GoUpstream(page, p, "1")
	require.Len(t, b.AttemptCookies(), 2, "after following the link twice")
	require.Equal(t, At(Good()), b.Get(second).Header.Get("Location"))
	session, state := b.Session(), w.Index

	res := b.Get(second)
	require.Equal(t, At(Good()), res.Header.Get("Location"), "the same response again: %s", res.Text)
	require.Equal(t, session, b.Session())
	require.Equal(t, state, w.Index, "a repeated response created a session")
	require.Equal(t, At(Good()), b.Get(page.UpstreamLink(t)).Header.Get("Location"), "the link, after the back button")

	// The other tab finishes as well, with a new session.
	require.Equal(t, At(Good()), b.Get(first).Header.Get("Location"))
	require.NotEqual(t, session, b.Session())
	require.Nil(t, w.View().Session(credential.SessionDigest(session)), "the browser must have one session")

	delete(b.Cookies, "mintmark")
	res = b.Get(second)
	require.Equal(t, http.StatusBadRequest, res.StatusCode)
	require.Contains(t, res.Text, "is complete already")
	require.Contains(t, res.Text, "The calendar app", "the pending request must be kept")
}

// TestElsewhereRefusals covers requests of the browser that don't finish this sign-in.
func TestElsewhereRefusals(t *testing.T) {
	for name, row := range map[string]struct {
		play   func(w *Env, p *upstreamtest.Provider, b *Browser)
		change func(url.Values)
		status int
		says   string
		lost   bool // the pending request is unknown
	}{
		"another browser": {play: func(_ *Env, _ *upstreamtest.Provider, b *Browser) { clear(b.Cookies) }, status: 400, says: "started in another browser", lost: true},
		"another state":   {change: func(v url.Values) { v.Set("state", v.Get("state")[:20]+strings.Repeat("x", 23)) }, status: 400, says: "started in another browser", lost: true},
		"no state":        {change: func(v url.Values) { v.Del("state") }, status: 400, says: "started in another browser", lost: true},
		"a strange state": {change: func(v url.Values) { v.Set("state", "; Path=/\r\nX: y\x00") }, status: 400, says: "started in another browser", lost: true},
		"a short state":   {change: func(v url.Values) { v.Set("state", "x") }, status: 400, says: "started in another browser", lost: true},
		"two codes":       {change: func(v url.Values) { v.Add("code", "x") }, status: 400, says: "started in another browser"},
		"two states":      {change: func(v url.Values) { v.Add("state", v.Get("state")) }, status: 400, says: "started in another browser"},
		"a changed cookie": {play: func(_ *Env, _ *upstreamtest.Provider, b *Browser) {
			name := b.AttemptCookies()[0]
			b.Cookies[name] = b.Cookies[name][:100] + "AAAA" + b.Cookies[name][104:]
		}, status: 400, says: "started in another browser", lost: true},
		"late":             {play: func(w *Env, _ *upstreamtest.Provider, _ *Browser) { w.Advance(10 * time.Minute) }, status: 400, says: "took too long"},
		"no code":          {change: func(v url.Values) { v.Del("code") }, status: 502, says: "could not be accepted"},
		"another code":     {change: func(v url.Values) { v.Set("code", "x") }, status: 502, says: "could not be accepted"},
		"another provider": {change: func(v url.Values) { v.Set("iss", "https://evil.example") }, status: 502, says: "could not be accepted"},
		"cancelled":        {change: func(v url.Values) { v.Set("error", "access_denied"); v.Set("error_description", "Call 555-EVIL") }, status: 403, says: "Example ID did not sign you in: it was cancelled there"},
		"busy":             {change: func(v url.Values) { v.Set("error", "temporarily_unavailable") }, status: 503, says: "has a problem at the moment"},
		"broken":           {change: func(v url.Values) { v.Set("error", "server_error") }, status: 502, says: "has a problem at the moment"},
		"more is needed":   {change: func(v url.Values) { v.Set("error", "interaction_required") }, status: 403, says: "needs something of you"},
		"misconfigured":    {change: func(v url.Values) { v.Set("error", "unauthorized_client") }, status: 403, says: "does not accept the requests"},
		"an odd error":     {change: func(v url.Values) { v.Set("error", `"><script>alert(1)</script>`) }, status: 403, says: "does not accept the requests"},
		"another nonce": {play: func(_ *Env, p *upstreamtest.Provider, _ *Browser) {
			p.ID = func(c upstreamtest.Claims) { c["nonce"] = "x" }
		}, status: 502, says: "could not be accepted"},
		"down meanwhile": {play: func(_ *Env, p *upstreamtest.Provider, _ *Browser) {
			p.Answer["/token"] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
		}, status: 503, says: "Example ID can’t be reached at the moment"},
		"disabled here": {play: func(w *Env, p *upstreamtest.Provider, _ *Browser) {
			w.Must(&ledger.SignInUpstream{Session: [32]byte{1}, Issuer: p.URL, Subject: "s", ID: "u-s"})
			w.Must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-s", State: ledger.Disable})
		}, status: 403, says: "Your account is disabled"},
		"deleted here": {play: func(w *Env, p *upstreamtest.Provider, _ *Browser) {
			w.Must(&ledger.SignInUpstream{Session: [32]byte{1}, Issuer: p.URL, Subject: "s", ID: "u-s"})
			w.Must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-s", State: ledger.DeleteUser})
		}, status: 403, says: "Your account is disabled"},
		"a subject that can't be kept": {play: func(_ *Env, p *upstreamtest.Provider, _ *Browser) {
			p.ID = func(c upstreamtest.Claims) { c["sub"] = "s" + strings.Repeat("x", 255) }
			p.Profile = upstreamtest.Claims{"sub": "s" + strings.Repeat("x", 255)}
		}, status: 403, says: "can’t be stored"},
	} {
		t.Run(name, func(t *testing.T) {
			w, p := NewUpstreamEnv(t)
			b := w.Browser()
			address, err := url.Parse(b.GoUpstream(b.Get(At(Good())), p, "s"))
			require.NoError(t, err)
			if row.play != nil {
				row.play(w, p, b)
			}
			query := address.Query()
			if row.change != nil {
				row.change(query)
			}
			sessions, down := b.Session(), w.UpstreamUser(p, "s")
			res := b.Get(authn.PathUpstreamCallback + "?" + query.Encode())
			assert.Equal(t, row.status, res.StatusCode)
			assert.Contains(t, res.Text, row.says)
			assert.Contains(t, res.Text, `role="alert"`)
			assert.Equal(t, !row.lost, strings.Contains(res.Text, "The calendar app"), "the pending request")
			assert.Contains(t, res.Text, `name="password"`, "signing in by password must be possible")
			assert.Equal(t, row.status == 503, res.Header.Get("Retry-After") != "")
			for _, hidden := range []string{"555-EVIL", "<script>", "evil.example", address.Query().Get("code")} {
				assert.NotContains(t, res.Text, hidden)
				assert.NotContains(t, w.Log.String(), hidden)
			}
			assert.Equal(t, sessions, b.Session())
			if down == nil {
				assert.Nil(t, w.UpstreamUser(p, "s"), "an account was created")
			}
			if row.status == 503 && row.change == nil { // the same address works once the provider is reachable
				delete(p.Answer, "/token")
				assert.Equal(t, At(Good()), b.Get(authn.PathUpstreamCallback+"?"+query.Encode()).Header.Get("Location"))
			}
		})
	}
}

// TestElsewhereBegins verifies that only the link of a page of this browser begins a sign-in.
func TestElsewhereBegins(t *testing.T) {
	w, _ := NewUpstreamEnv(t)
	b := w.Browser()
	link := b.Get(At(Good())).UpstreamLink(t)
	u, err := url.Parse(link)
	require.NoError(t, err)
	for name, change := range map[string]func(url.Values){
		"no token":        func(v url.Values) { v.Del("token") },
		"another token":   func(v url.Values) { v.Set("token", site.FormToken("x", "sign-in upstream", "", v.Get("next"))) },
		"another request": func(v url.Values) { v.Set("next", "client_id=native") },
	} {
		query := u.Query()
		change(query)
		res := b.Get(u.Path + "?" + query.Encode())
		assert.Equal(t, http.StatusForbidden, res.StatusCode, name)
		assert.Contains(t, res.Text, "open too long", name)
		assert.Empty(t, b.AttemptCookies(), name)
	}
	other := w.Browser()
	other.Get(At(Good()))
	assert.Equal(t, http.StatusForbidden, other.Get(link).StatusCode, "in another browser")
	assert.Equal(t, http.StatusSeeOther, b.Get(link).StatusCode)
}

// TestElsewhereInManyTabs verifies that the number and the size of the cookies are bounded.
func TestElsewhereInManyTabs(t *testing.T) {
	w, p := NewUpstreamEnv(t)
	b := w.Browser()
	var last string
	for range 20 {
		last = b.GoUpstream(b.Get(At(Good())), p, "1")
		require.LessOrEqual(t, len(b.AttemptCookies()), 3)
		require.LessOrEqual(t, b.AttemptBytes(), 4000)
	}
	require.Equal(t, At(Good()), b.Get(last).Header.Get("Location"))

	to := "/account?" + strings.Repeat(`\`, 1500)
	b = w.Browser()
	odd := b.Get("/auth/sign-in?" + url.Values{"to": {to}}.Encode())
	require.Equal(t, "/", b.SignInUpstream(odd, p, "1").Header.Get("Location"), "an address that is too long must be dropped")
}

// TestElsewhereIsLimited verifies that responses that sign nobody in are counted by
// address, and others are not.
func TestElsewhereIsLimited(t *testing.T) {
	t.Parallel()
	w, p := NewUpstreamEnv(t)
	b := w.Browser()
	back := b.GoUpstream(b.Get("/auth/sign-in"), p, "1")
	tried := 0
	for ; tried < 100 && b.Get(strings.Replace(back, "code=", "code=x", 1)).StatusCode != http.StatusTooManyRequests; tried++ {
	}
	require.Equal(t, 60, tried)
	require.Equal(t, 60, p.Requests("/token"))
	elsewhere := w.Browser()
	elsewhere.Address = "198.51.100.7"
	n := 0
	for ; n < 300; n++ {
		delete(elsewhere.Cookies, "mintmark")
		elsewhere.Address = fmt.Sprintf("198.51.100.%d", n/70)
		if elsewhere.SignInUpstream(elsewhere.Get("/auth/sign-in"), p, "1").StatusCode != http.StatusSeeOther {
			break
		}
	}
	require.Equal(t, 200, n, "sign-ins of one user must be limited over all addresses")
	require.Equal(t, http.StatusSeeOther, elsewhere.SignInUpstream(elsewhere.Get("/auth/sign-in"), p, "2").StatusCode)
}

// TestProviderThatWasNeverUp verifies that the sign-in page and passwords work.
func TestProviderThatWasNeverUp(t *testing.T) {
	w := NewEnv(t, WithProvider)
	b := w.Browser()
	page := b.Get(At(Good()))
	require.Contains(t, page.Text, "Sign in with <bdi>id.example.com</bdi>")
	res := b.Get(page.UpstreamLink(t))
	require.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
	require.NotEmpty(t, res.Header.Get("Retry-After"))
	require.Contains(t, res.Text, "id.example.com can’t be reached at the moment. Try again in 10 seconds, or sign in with a password")
	require.Equal(t, At(Good()), b.SignIn(res, "ada", Password).Header.Get("Location"))
}

// TestNoPasswords verifies that a user can't sign in by password.
func TestNoPasswords(t *testing.T) {
	w, p := NewUpstreamEnv(t, func(c *web.Config) { c.NoPasswords = true })
	b := w.Browser()
	page := b.Get("/auth/sign-in")
	require.NotContains(t, page.Text, "<form")
	require.NotContains(t, strings.ToLower(page.Text), "password")
	res := b.Post("/auth/sign-in", url.Values{"token": {site.FormToken(b.Cookies["mintmark-form"], "sign-in", "", "")}, "username": {"ada"}, "password": {Password}})
	require.Equal(t, http.StatusForbidden, res.StatusCode)
	require.Empty(t, b.Session())
	require.Empty(t, w.Hashed)

	require.Equal(t, http.StatusSeeOther, b.SignInUpstream(page, p, "1").StatusCode)
	w.Must(&ledger.SetPassword{Actor: ledger.Actor{Operator: true}, User: w.UpstreamUser(p, "1").ID, Password: PasswordHash()})
	b.SignInUpstream(w.BrowserFrom(b).Get("/auth/sign-in"), p, "1")
	require.Equal(t, http.StatusNotFound, b.Get("/account/password").StatusCode)
	require.Contains(t, b.Get("/account").Text, "there is no password here")

	nobody, unsealed := w.Config, w.Config
	nobody.Upstream, unsealed.Attempts = nil, nil
	for _, bad := range []web.Config{nobody, unsealed} {
		_, err := web.New(bad)
		require.Error(t, err)
	}
}

// TestElsewhereNeedsNoBody verifies that a HEAD request spends no code.
func TestElsewhereNeedsNoBody(t *testing.T) {
	w, p := NewUpstreamEnv(t)
	b := w.Browser()
	back := b.GoUpstream(b.Get("/auth/sign-in"), p, "1")
	require.Equal(t, http.StatusMethodNotAllowed, b.Send(http.MethodHead, back, nil, nil).StatusCode)
	require.Zero(t, p.Requests("/token"))
	require.Equal(t, http.StatusSeeOther, b.Get(back).StatusCode)
}
