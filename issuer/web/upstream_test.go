package web_test

import (
	"context"
	"crypto/cipher"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/chacha20poly1305"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/upstream"
	"github.com/mintmark-auth/mintmark/issuer/upstream/upstreamtest"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

// sealer implements web.Attempts, web.Devices and web.Sessions under one key.
type sealer struct{}

func (sealer) key(uint32) (cipher.AEAD, bool) {
	a, err := chacha20poly1305.NewX([]byte("a key of thirty-two bytes, sharp"))
	return a, err == nil
}

func (s sealer) SealAttempt(plain []byte) string {
	a, _ := s.key(1)
	return credential.SealText(zeros{}, a, 1, plain)
}

func (s sealer) OpenAttempt(text string) ([]byte, error) { return credential.OpenText(s.key, text) }

func (s sealer) deviceKey(uint32) (cipher.AEAD, bool) {
	a, err := chacha20poly1305.NewX([]byte("one more key of 32 bytes, sharp!"))
	return a, err == nil
}

func (s sealer) SealDevice(plain []byte) string {
	a, _ := s.deviceKey(1)
	return credential.SealText(zeros{}, a, 1, plain)
}

func (s sealer) OpenDevice(text string) ([]byte, error) {
	return credential.OpenText(s.deviceKey, text)
}

func (sealer) sessionKey(uint32) (cipher.AEAD, bool) {
	a, err := chacha20poly1305.NewX([]byte("the key of sessions, 32 bytes, !"))
	return a, err == nil
}

func (s sealer) SealSession(plain []byte) string {
	a, _ := s.sessionKey(1)
	return credential.SealText(zeros{}, a, 1, plain)
}

func (s sealer) OpenSession(_ context.Context, text string) ([]byte, error) {
	return credential.OpenText(s.sessionKey, text)
}

func (s sealer) secretKey(uint32) (cipher.AEAD, bool) {
	a, err := chacha20poly1305.NewX([]byte("the third key of 32 bytes, sharp"))
	return a, err == nil
}

func (s sealer) SealNewSecret(plain []byte) string {
	a, _ := s.secretKey(1)
	return credential.SealText(zeros{}, a, 1, plain)
}

func (s sealer) OpenNewSecret(text string) ([]byte, error) {
	return credential.OpenText(s.secretKey, text)
}

func (s sealer) formKey(uint32) (cipher.AEAD, bool) {
	a, err := chacha20poly1305.NewX([]byte("the fourth key, 32 bytes as well"))
	return a, err == nil
}

func (s sealer) SealForm(plain []byte) string {
	a, _ := s.formKey(1)
	return credential.SealText(zeros{}, a, 1, plain)
}

func (s sealer) OpenForm(text string) ([]byte, error) {
	return credential.OpenText(s.formKey, text)
}

// zeros is a deterministic source of randomness.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// newUpstreamEnv returns an env whose users may sign in at a provider too.
func newUpstreamEnv(t *testing.T, change ...func(*web.Config)) (*env, *upstreamtest.Provider) {
	t.Helper()
	var w *env
	p := upstreamtest.New(t, func() time.Time { return w.clock() })
	w = newEnv(t, append([]func(*web.Config){func(c *web.Config) { c.Upstream, c.Attempts = relying(t, p, c), sealer{} }}, change...)...)
	return w, p
}

// relying returns the service as a client of a provider, with its metadata fetched.
func relying(t *testing.T, p *upstreamtest.Provider, c *web.Config) *upstream.Provider {
	t.Helper()
	r := upstream.New(upstream.Config{
		Issuer: p.URL, Name: "Example ID", ClientID: upstreamtest.ClientID, ClientSecret: upstreamtest.ClientSecret,
		RedirectURI: "https://app.mintmark.example" + web.PathUpstreamCallback, AdminClaim: "groups", AdminValue: "root",
		Now: func() time.Time { return c.Ledger.Now().Std() }, Log: slog.New(slog.DiscardHandler),
	})
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	go r.Run(ctx)
	require.Eventually(t, func() bool {
		_, err := r.Begin(upstream.AuthRequest{}, false)
		return err == nil
	}, 10*time.Second, time.Millisecond)
	return r
}

var upstreamLink = regexp.MustCompile(`<a class="button primary" href="(/auth/upstream/callback/begin\?[^"]*)"`)

// upstreamLink returns the link to the provider on a sign-in page.
func (a answer) upstreamLink(t testing.TB) string {
	t.Helper()
	m := upstreamLink.FindStringSubmatch(a.body)
	require.NotNil(t, m, "no link in %d %s", a.StatusCode, a.body)
	return strings.ReplaceAll(m[1], "&amp;", "&")
}

// goUpstream follows the link of a page, and returns where the provider sends the browser
// after the user with a subject has signed in.
func (b *browser) goUpstream(page answer, p *upstreamtest.Provider, subject string) string {
	b.env.t.Helper()
	res := b.get(page.upstreamLink(b.env.t))
	require.Equal(b.env.t, http.StatusSeeOther, res.StatusCode, res.body)
	return web.PathUpstreamCallback + "?" + p.SignIn(res.Header.Get("Location"), subject).Encode()
}

func (b *browser) signInUpstream(page answer, p *upstreamtest.Provider, subject string) answer {
	b.env.t.Helper()
	return b.get(b.goUpstream(page, p, subject))
}

// attemptBytes returns the length of all those cookies.
func (b *browser) attemptBytes() (n int) {
	for _, name := range b.attemptCookies() {
		n += len(name) + len(b.cookies[name])
	}
	return n
}

// attemptCookies returns the names of the cookies of pending sign-ins.
func (b *browser) attemptCookies() (names []string) {
	for name := range b.cookies {
		if strings.Contains(name, "mintmark-upstream-") {
			names = append(names, name)
		}
	}
	return names
}

func (w *env) upstreamUser(p *upstreamtest.Provider, subject string) *ledger.User {
	return ledger.At(w.memory.View()).UserBySubject(p.URL, subject)
}

func TestSignInElsewhere(t *testing.T) {
	w, p := newUpstreamEnv(t)
	p.Profile = upstreamtest.Claims{"preferred_username": "ada", "name": "Ada of Elsewhere", "email": "ada@example.com", "email_verified": true}
	b := w.browser()
	page := b.get(at(good()))
	require.Contains(t, page.body, "Sign in with <bdi>Example ID</bdi>")
	require.Contains(t, page.body, `name="password"`)
	back := b.goUpstream(page, p, "s-1")
	require.Len(t, b.attemptCookies(), 1)
	res := b.get(back)
	require.Equal(t, http.StatusSeeOther, res.StatusCode, res.body)
	require.Equal(t, at(good()), res.Header.Get("Location"), "the application's request must be unchanged")
	require.Contains(t, b.get(res.Header.Get("Location")).body, "Ada of Elsewhere")

	made := w.upstreamUser(p, "s-1")
	require.NotNil(t, made)
	assert.NotEqual(t, "u-ada", made.ID, "an e-mail address must not link accounts")
	assert.Equal(t, "ada-2", made.Username)
	assert.Equal(t, "ada@example.com", made.Email)
	assert.False(t, made.Admin)
	assert.Regexp(t, `^u_[A-Za-z0-9_-]+$`, made.ID)
	again := w.browser()
	require.Equal(t, "/", again.signInUpstream(again.get("/auth/sign-in"), p, "s-1").Header.Get("Location"))
	assert.Equal(t, made.ID, w.View().Session(credential.SessionDigest(again.session())).User, "the same account")

	p.Profile["groups"] = []string{"root"}
	again.signInUpstream(w.browserFrom(again).get("/auth/sign-in"), p, "s-1")
	assert.True(t, w.upstreamUser(p, "s-1").Admin)
	assert.NotContains(t, w.log.String(), upstreamtest.ClientSecret)
	code, _ := url.Parse(back)
	assert.NotContains(t, w.log.String(), code.Query().Get("code"))
}

// browserFrom returns a browser with the same cookies except the session.
func (w *env) browserFrom(b *browser) *browser {
	delete(b.cookies, "mintmark")
	return b
}

func TestSignInElsewhereGoesOn(t *testing.T) {
	for to, want := range map[string]string{
		"/account": "/account", "/connected-apps?q=a+b": "/connected-apps?q=a+b",
		"//evil.example/": "/", "https://evil.example": "/", "/auth/sign-in": "/", "": "/",
	} {
		w, p := newUpstreamEnv(t)
		b := w.browser()
		res := b.signInUpstream(b.get("/auth/sign-in?"+url.Values{"to": {to}}.Encode()), p, "1")
		assert.Equal(t, want, res.Header.Get("Location"), to)
	}
}

// TestElsewhereCookie verifies that the cookie is short-lived, for this host only, hidden
// from scripts, and neither readable nor modifiable.
func TestElsewhereCookie(t *testing.T) {
	w, _ := newUpstreamEnv(t, func(c *web.Config) { c.Secure = true })
	b := w.browser()
	res := b.get(b.get(at(good())).upstreamLink(t))
	require.Equal(t, http.StatusSeeOther, res.StatusCode, res.body)
	var c *http.Cookie
	for _, one := range res.Cookies() {
		if strings.HasPrefix(one.Name, "__Secure-mintmark-upstream-") {
			c = one
		}
	}
	require.NotNil(t, c)
	assert.True(t, c.HttpOnly && c.Secure && c.Path == web.PathUpstreamCallback && c.Domain == "" && c.SameSite == http.SameSiteLaxMode)
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
	w, p := newUpstreamEnv(t)
	b := w.browser()
	back := b.goUpstream(b.get("/auth/sign-in?to=/account"), p, "1")
	config := w.config
	config.Upstream = relying(t, p, &config)
	another, err := web.New(config)
	require.NoError(t, err)
	w.web = another
	w.route()
	res := b.get(back)
	require.Equal(t, http.StatusSeeOther, res.StatusCode, res.body)
	require.Equal(t, "/account", res.Header.Get("Location"))
}

// TestElsewhereTwice covers the back button, a double click and a reload.
func TestElsewhereTwice(t *testing.T) {
	w, p := newUpstreamEnv(t)
	b := w.browser()
	page := b.get(at(good()))
	first, second := b.goUpstream(page, p, "1"), b.goUpstream(page, p, "1")
	require.Len(t, b.attemptCookies(), 2, "after following the link twice")
	require.Equal(t, at(good()), b.get(second).Header.Get("Location"))
	session, state := b.session(), w.index

	res := b.get(second)
	require.Equal(t, at(good()), res.Header.Get("Location"), "the same response again: %s", res.body)
	require.Equal(t, session, b.session())
	require.Equal(t, state, w.index, "a repeated response created a session")
	require.Equal(t, at(good()), b.get(page.upstreamLink(t)).Header.Get("Location"), "the link, after the back button")

	// The other tab finishes as well, with a new session.
	require.Equal(t, at(good()), b.get(first).Header.Get("Location"))
	require.NotEqual(t, session, b.session())
	require.Nil(t, w.View().Session(credential.SessionDigest(session)), "the browser must have one session")

	delete(b.cookies, "mintmark")
	res = b.get(second)
	require.Equal(t, http.StatusBadRequest, res.StatusCode)
	require.Contains(t, res.body, "was finished before")
	require.Contains(t, res.body, "The calendar app", "the pending request must be kept")
}

// TestElsewhereRefusals covers requests of the browser that don't finish this sign-in.
func TestElsewhereRefusals(t *testing.T) {
	for name, row := range map[string]struct {
		play   func(w *env, p *upstreamtest.Provider, b *browser)
		change func(url.Values)
		status int
		says   string
		lost   bool // the pending request is unknown
	}{
		"another browser": {play: func(_ *env, _ *upstreamtest.Provider, b *browser) { clear(b.cookies) }, status: 400, says: "not begun in this browser", lost: true},
		"another state":   {change: func(v url.Values) { v.Set("state", v.Get("state")[:20]+strings.Repeat("x", 23)) }, status: 400, says: "not begun in this browser", lost: true},
		"no state":        {change: func(v url.Values) { v.Del("state") }, status: 400, says: "not begun in this browser", lost: true},
		"a strange state": {change: func(v url.Values) { v.Set("state", "; Path=/\r\nX: y\x00") }, status: 400, says: "not begun in this browser", lost: true},
		"a short state":   {change: func(v url.Values) { v.Set("state", "x") }, status: 400, says: "not begun in this browser", lost: true},
		"two codes":       {change: func(v url.Values) { v.Add("code", "x") }, status: 400, says: "not begun in this browser"},
		"two states":      {change: func(v url.Values) { v.Add("state", v.Get("state")) }, status: 400, says: "not begun in this browser"},
		"a changed cookie": {play: func(_ *env, _ *upstreamtest.Provider, b *browser) {
			name := b.attemptCookies()[0]
			b.cookies[name] = b.cookies[name][:100] + "AAAA" + b.cookies[name][104:]
		}, status: 400, says: "not begun in this browser", lost: true},
		"late":             {play: func(w *env, _ *upstreamtest.Provider, _ *browser) { w.advance(10 * time.Minute) }, status: 400, says: "took too long"},
		"no code":          {change: func(v url.Values) { v.Del("code") }, status: 502, says: "could not be accepted"},
		"another code":     {change: func(v url.Values) { v.Set("code", "x") }, status: 502, says: "could not be accepted"},
		"another provider": {change: func(v url.Values) { v.Set("iss", "https://evil.example") }, status: 502, says: "could not be accepted"},
		"cancelled":        {change: func(v url.Values) { v.Set("error", "access_denied"); v.Set("error_description", "Call 555-EVIL") }, status: 403, says: "Example ID did not sign you in: it was cancelled there"},
		"busy":             {change: func(v url.Values) { v.Set("error", "temporarily_unavailable") }, status: 503, says: "has a problem at the moment"},
		"broken":           {change: func(v url.Values) { v.Set("error", "server_error") }, status: 502, says: "has a problem at the moment"},
		"more is needed":   {change: func(v url.Values) { v.Set("error", "interaction_required") }, status: 403, says: "needs something of you"},
		"misconfigured":    {change: func(v url.Values) { v.Set("error", "unauthorized_client") }, status: 403, says: "does not take the requests"},
		"an odd error":     {change: func(v url.Values) { v.Set("error", `"><script>alert(1)</script>`) }, status: 403, says: "does not take the requests"},
		"another nonce": {play: func(_ *env, p *upstreamtest.Provider, _ *browser) {
			p.ID = func(c upstreamtest.Claims) { c["nonce"] = "x" }
		}, status: 502, says: "could not be accepted"},
		"down meanwhile": {play: func(_ *env, p *upstreamtest.Provider, _ *browser) {
			p.Answer["/token"] = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
		}, status: 503, says: "Example ID can’t be reached at the moment"},
		"disabled here": {play: func(w *env, p *upstreamtest.Provider, _ *browser) {
			w.must(&ledger.SignInUpstream{Session: [32]byte{1}, Issuer: p.URL, Subject: "s", ID: "u-s"})
			w.must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-s", State: ledger.Disable})
		}, status: 403, says: "Your account at this service is disabled"},
		"deleted here": {play: func(w *env, p *upstreamtest.Provider, _ *browser) {
			w.must(&ledger.SignInUpstream{Session: [32]byte{1}, Issuer: p.URL, Subject: "s", ID: "u-s"})
			w.must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-s", State: ledger.DeleteUser})
		}, status: 403, says: "Your account at this service is disabled"},
		"a subject that can't be kept": {play: func(_ *env, p *upstreamtest.Provider, _ *browser) {
			p.ID = func(c upstreamtest.Claims) { c["sub"] = "s" + strings.Repeat("x", 255) }
			p.Profile = upstreamtest.Claims{"sub": "s" + strings.Repeat("x", 255)}
		}, status: 403, says: "can’t store"},
	} {
		t.Run(name, func(t *testing.T) {
			w, p := newUpstreamEnv(t)
			b := w.browser()
			address, err := url.Parse(b.goUpstream(b.get(at(good())), p, "s"))
			require.NoError(t, err)
			if row.play != nil {
				row.play(w, p, b)
			}
			query := address.Query()
			if row.change != nil {
				row.change(query)
			}
			sessions, down := b.session(), w.upstreamUser(p, "s")
			res := b.get(web.PathUpstreamCallback + "?" + query.Encode())
			assert.Equal(t, row.status, res.StatusCode)
			assert.Contains(t, res.body, row.says)
			assert.Contains(t, res.body, `role="alert"`)
			assert.Equal(t, !row.lost, strings.Contains(res.body, "The calendar app"), "the pending request")
			assert.Contains(t, res.body, `name="password"`, "signing in by password must be possible")
			assert.Equal(t, row.status == 503, res.Header.Get("Retry-After") != "")
			for _, hidden := range []string{"555-EVIL", "<script>", "evil.example", address.Query().Get("code")} {
				assert.NotContains(t, res.body, hidden)
				assert.NotContains(t, w.log.String(), hidden)
			}
			assert.Equal(t, sessions, b.session())
			if down == nil {
				assert.Nil(t, w.upstreamUser(p, "s"), "an account was created")
			}
			if row.status == 503 && row.change == nil { // the same address works once the provider is reachable
				delete(p.Answer, "/token")
				assert.Equal(t, at(good()), b.get(web.PathUpstreamCallback+"?"+query.Encode()).Header.Get("Location"))
			}
		})
	}
}

// TestElsewhereBegins verifies that only the link of a page of this browser begins a sign-in.
func TestElsewhereBegins(t *testing.T) {
	w, _ := newUpstreamEnv(t)
	b := w.browser()
	link := b.get(at(good())).upstreamLink(t)
	u, err := url.Parse(link)
	require.NoError(t, err)
	for name, change := range map[string]func(url.Values){
		"no token":        func(v url.Values) { v.Del("token") },
		"another token":   func(v url.Values) { v.Set("token", web.FormToken("x", "sign-in upstream", "", v.Get("next"))) },
		"another request": func(v url.Values) { v.Set("next", "client_id=native") },
	} {
		query := u.Query()
		change(query)
		res := b.get(u.Path + "?" + query.Encode())
		assert.Equal(t, http.StatusForbidden, res.StatusCode, name)
		assert.Contains(t, res.body, "open for too long", name)
		assert.Empty(t, b.attemptCookies(), name)
	}
	other := w.browser()
	other.get(at(good()))
	assert.Equal(t, http.StatusForbidden, other.get(link).StatusCode, "in another browser")
	assert.Equal(t, http.StatusSeeOther, b.get(link).StatusCode)
}

// TestElsewhereInManyTabs verifies that the number and the size of the cookies are bounded.
func TestElsewhereInManyTabs(t *testing.T) {
	w, p := newUpstreamEnv(t)
	b := w.browser()
	var last string
	for range 20 {
		last = b.goUpstream(b.get(at(good())), p, "1")
		require.LessOrEqual(t, len(b.attemptCookies()), 3)
		require.LessOrEqual(t, b.attemptBytes(), 4000)
	}
	require.Equal(t, at(good()), b.get(last).Header.Get("Location"))

	to := "/account?" + strings.Repeat(`\`, 1500)
	b = w.browser()
	odd := b.get("/auth/sign-in?" + url.Values{"to": {to}}.Encode())
	require.Equal(t, "/", b.signInUpstream(odd, p, "1").Header.Get("Location"), "an address that is too long must be dropped")
}

// TestElsewhereIsLimited verifies that responses that sign nobody in are counted by
// address, and others are not.
func TestElsewhereIsLimited(t *testing.T) {
	t.Parallel()
	w, p := newUpstreamEnv(t)
	b := w.browser()
	back := b.goUpstream(b.get("/auth/sign-in"), p, "1")
	tried := 0
	for ; tried < 100 && b.get(strings.Replace(back, "code=", "code=x", 1)).StatusCode != http.StatusTooManyRequests; tried++ {
	}
	require.Equal(t, 60, tried)
	require.Equal(t, 60, p.Requests("/token"))
	elsewhere := w.browser()
	elsewhere.address = "198.51.100.7"
	n := 0
	for ; n < 300; n++ {
		delete(elsewhere.cookies, "mintmark")
		elsewhere.address = fmt.Sprintf("198.51.100.%d", n/70)
		if elsewhere.signInUpstream(elsewhere.get("/auth/sign-in"), p, "1").StatusCode != http.StatusSeeOther {
			break
		}
	}
	require.Equal(t, 200, n, "sign-ins of one user must be limited over all addresses")
	require.Equal(t, http.StatusSeeOther, elsewhere.signInUpstream(elsewhere.get("/auth/sign-in"), p, "2").StatusCode)
}

// withProvider configures a provider that was never reachable.
func withProvider(c *web.Config) {
	c.Upstream, c.Attempts = upstream.New(upstream.Config{Issuer: "https://id.example.com", Log: slog.New(slog.DiscardHandler)}), sealer{}
}

// TestProviderThatWasNeverUp verifies that the sign-in page and passwords work.
func TestProviderThatWasNeverUp(t *testing.T) {
	w := newEnv(t, withProvider)
	b := w.browser()
	page := b.get(at(good()))
	require.Contains(t, page.body, "Sign in with <bdi>id.example.com</bdi>")
	res := b.get(page.upstreamLink(t))
	require.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
	require.NotEmpty(t, res.Header.Get("Retry-After"))
	require.Contains(t, res.body, "id.example.com can’t be reached at the moment. Please try again in a little while, or sign in with a password")
	require.Equal(t, at(good()), b.signIn(res, "ada", password).Header.Get("Location"))
}

// TestNoPasswords verifies that a user can't sign in by password.
func TestNoPasswords(t *testing.T) {
	w, p := newUpstreamEnv(t, func(c *web.Config) { c.NoPasswords = true })
	b := w.browser()
	page := b.get("/auth/sign-in")
	require.NotContains(t, page.body, "<form")
	require.NotContains(t, strings.ToLower(page.body), "password")
	res := b.post("/auth/sign-in", url.Values{"token": {web.FormToken(b.cookies["mintmark-form"], "sign-in", "", "")}, "username": {"ada"}, "password": {password}})
	require.Equal(t, http.StatusForbidden, res.StatusCode)
	require.Empty(t, b.session())
	require.Empty(t, w.hashed)

	require.Equal(t, http.StatusSeeOther, b.signInUpstream(page, p, "1").StatusCode)
	w.must(&ledger.SetPassword{Actor: ledger.Actor{Operator: true}, User: w.upstreamUser(p, "1").ID, Password: passwordHash()})
	b.signInUpstream(w.browserFrom(b).get("/auth/sign-in"), p, "1")
	require.Equal(t, http.StatusNotFound, b.get("/account/password").StatusCode)
	require.Contains(t, b.get("/account").body, "You have no password here")

	nobody, unsealed := w.config, w.config
	nobody.Upstream, unsealed.Attempts = nil, nil
	for _, bad := range []web.Config{nobody, unsealed} {
		_, err := web.New(bad)
		require.Error(t, err)
	}
}

// TestElsewhereNeedsNoBody verifies that a HEAD request spends no code.
func TestElsewhereNeedsNoBody(t *testing.T) {
	w, p := newUpstreamEnv(t)
	b := w.browser()
	back := b.goUpstream(b.get("/auth/sign-in"), p, "1")
	require.Equal(t, http.StatusMethodNotAllowed, b.send(http.MethodHead, back, nil, nil).StatusCode)
	require.Zero(t, p.Requests("/token"))
	require.Equal(t, http.StatusSeeOther, b.get(back).StatusCode)
}
