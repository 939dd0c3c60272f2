package signin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

func keys(v url.Values) []string {
	var names []string
	for name := range v {
		names = append(names, name)
	}
	return names
}

// TestConformancePages verifies that a request without a registered client and
// redirect URI gets a page, whoever is signed in.
func TestConformancePages(t *testing.T) {
	for _, test := range []struct {
		id, name string
		query    string
		status   int
		says     string
	}{
		{"AZ06", "unknown client", With(Good(), "client_id", "nobody").Encode(), 400, "App not found"},
		{"AZ07", "no client_id", With(Good(), "client_id", "").Encode(), 400, "App not found"},
		{"AZ08", "no redirect_uri", With(Good(), "redirect_uri", "").Encode(), 400, "sent no return address"},
		{"AZ09", "another origin", With(Good(), "redirect_uri", "https://evil.example/cb").Encode(), 400, "a wrong return address"},
		{"AZ10", "trailing slash", With(Good(), "redirect_uri", Callback+"/").Encode(), 400, "a wrong return address"},
		{"AZ12", "query added", With(Good(), "redirect_uri", Callback+"?x=1").Encode(), 400, "a wrong return address"},
		{"AZ14", "http for https", With(Good(), "redirect_uri", "http://app.example.com/cb").Encode(), 400, "a wrong return address"},
		{"AZ16", "fragment added", With(Good(), "redirect_uri", Callback+"#f").Encode(), 400, "a wrong return address"},
		{"AZ18", "localhost for a loopback IP", With(Good(), "client_id", "native", "redirect_uri", "http://localhost:4000/cb").Encode(), 400, "a wrong return address"},
		{"AZ20", "two client ids", Good().Encode() + "&client_id=calendar", 400, "not complete"},
		{"AZ20", "two redirect URIs", Good().Encode() + "&redirect_uri=" + url.QueryEscape(Callback), 400, "not complete"},
		{"AZ43", "pending", With(Good(), "client_id", "waiting").Encode(), 403, "has not been reviewed yet"},
		{"AZ43", "rejected", With(Good(), "client_id", "refused").Encode(), 403, "was not approved"},
		{"AZ43", "suspended", With(Good(), "client_id", "stopped").Encode(), 403, "is suspended"},
		{"AZ33", "unreadable", "client_id=calendar&x=%zz", 400, "not complete"},
		{"AZ33", "too long", Good().Encode() + "&x=" + strings.Repeat("x", 9000), 400, "not complete"},
	} {
		t.Run(test.id+" "+test.name, func(t *testing.T) {
			w := NewEnv(t)
			w.User("u-bob", "bob", "Bob") // owns none of the clients
			for who, b := range map[string]*Browser{"a stranger": w.Browser(), "a user": w.SignedInAs("bob")} {
				for _, method := range []string{http.MethodGet, http.MethodHead} {
					res := b.Send(method, "/auth/oauth2/authorize?"+test.query, nil, nil)
					assert.Equal(t, test.status, res.StatusCode, "%s %s", method, who)
					assert.Empty(t, res.Header.Get("Location"))
					assert.Empty(t, res.Header.Get("Refresh"))
					if method == http.MethodHead {
						assert.Empty(t, res.Text)
						continue
					}
					assert.Contains(t, res.Text, test.says)
					if who != "a stranger" {
						assert.NotContains(t, res.Text, "sign in to see", "the user is signed in")
					}
					for _, uri := range []string{"evil.example", "app.example.com", "127.0.0.1", "localhost"} {
						assert.NotContains(t, res.Text, uri, "the redirect URI must not be shown")
					}
				}
			}
			assert.Empty(t, w.Grants())
		})
	}
}

// TestErrorPageTellsOwnersToSignIn verifies that the page offers an owner who is not
// signed in more details after a sign-in.
func TestErrorPageTellsOwnersToSignIn(t *testing.T) {
	for _, query := range []url.Values{
		With(Good(), "client_id", "refused"), With(Good(), "client_id", "stopped"),
		With(Good(), "redirect_uri", ""), With(Good(), "redirect_uri", "https://evil.example/cb"),
	} {
		w := NewEnv(t)
		assert.Contains(t, w.Browser().Get(At(query)).Text, "yours, sign in to see ", query)
		assert.NotContains(t, w.SignedIn().Get(At(query)).Text, "sign in to see", "the owner is signed in")
	}
	assert.NotContains(t, NewEnv(t).Browser().Get(At(With(Good(), "client_id", "unheard-of"))).Text, "sign in", "an unknown client has no owner")
}

// TestConformanceRedirects verifies that all other errors are sent to the client, after
// the user has signed in.
func TestConformanceRedirects(t *testing.T) {
	native := func(pairs ...string) url.Values {
		return With(With(Good(), "client_id", "native", "redirect_uri", "http://127.0.0.1:4000/cb"), pairs...)
	}
	for _, test := range []struct {
		id, name string
		query    string
		uri      string
		code     string
	}{
		{"AZ24", "token", With(Good(), "response_type", "token").Encode(), Callback, "unsupported_response_type"},
		{"AZ24", "code token", With(Good(), "response_type", "code token").Encode(), Callback, "unsupported_response_type"},
		{"AZ27", "unknown scope", With(Good(), "scope", "openid").Encode(), Callback, "invalid_scope"},
		{"AZ28", "scope outside the client's", With(Good(), "scope", "PROFILE_READ").Encode(), Callback, "invalid_scope"},
		{"AZ28", "an ORG_ scope doesn't permit its TEAM_ scope", With(Good(), "scope", "TEAM_PROFILE_READ").Encode(), Callback, "invalid_scope"},
		{"AZ28", "no scope", With(Good(), "scope", "").Encode(), Callback, "invalid_scope"},
		{"AZ33", "quote", With(Good(), "scope", `BOOKING_READ "`).Encode(), Callback, "invalid_scope"},
		{"AZ33", "backslash", With(Good(), "scope", `BOOKING\READ`).Encode(), Callback, "invalid_scope"},
		{"AZ33", "control character", With(Good(), "scope", "BOOKING_READ\r\nX: y").Encode(), Callback, "invalid_scope"},
		{"AZ36", "public, no challenge", native("code_challenge", "", "code_challenge_method", "").Encode(), "http://127.0.0.1:4000/cb", "invalid_request"},
		{"AZ37", "plain", With(Good(), "code_challenge_method", "plain").Encode(), Callback, "invalid_request"},
		{"AZ40", "challenge of 42", With(Good(), "code_challenge", Challenge[:42]).Encode(), Callback, "invalid_request"},
		{"AZ40", "challenge of 129", With(Good(), "code_challenge", strings.Repeat("a", 129)).Encode(), Callback, "invalid_request"},
		{"AZ40", "challenge with =", With(Good(), "code_challenge", Challenge[:42]+"=").Encode(), Callback, "invalid_request"},
		{"AZ40", "challenge with +", With(Good(), "code_challenge", "+"+Challenge[1:]).Encode(), Callback, "invalid_request"},
		{"6749 3.1", "scope twice", Good().Encode() + "&scope=BOOKING_READ", Callback, "invalid_request"},
	} {
		t.Run(test.id+" "+test.name, func(t *testing.T) {
			w := NewEnv(t)
			stranger := w.Browser()
			page := stranger.Get("/auth/oauth2/authorize?" + test.query)
			require.Equal(t, http.StatusOK, page.StatusCode, "redirected before the sign-in")
			in := stranger.SignIn(page, "ada", Password)
			require.Equal(t, http.StatusOK, in.StatusCode, "see TestErrorAfterSignIn")

			for _, method := range []string{http.MethodGet, http.MethodHead} {
				res := stranger.Send(method, "/auth/oauth2/authorize?"+test.query, nil, nil)
				assert.Equal(t, "0;url="+res.Header.Get("Location"), in.Header.Get("Refresh"))
				got := res.Location(t, test.uri)
				assert.ElementsMatch(t, []string{"error", "error_description", "state", "iss"}, keys(got))
				assert.Equal(t, test.code, got.Get("error"))
				assert.Equal(t, "xyz", got.Get("state"))
				assert.Equal(t, Issuer, got.Get("iss"))
				assert.NotContains(t, got.Get("error_description"), `"`)
				assert.NotContains(t, got.Get("error_description"), `\`)
				assert.NotContains(t, res.Header.Get("Location"), "\r")
			}
			assert.Empty(t, w.Grants())
		})
	}
}

// TestConformanceCodes verifies that valid requests lead to a code.
func TestConformanceCodes(t *testing.T) {
	for _, test := range []struct {
		id, name string
		request  url.Values
		uri      string
		params   []string
		scope    string
		legacy   bool
	}{
		{id: "AZ01", name: "good request", request: Good()},
		{id: "AZ03", name: "no state", request: With(Good(), "state", ""), params: []string{"code", "iss"}},
		{id: "AZ22", name: "empty state", request: url.Values{"client_id": {"calendar"}, "redirect_uri": {Callback}, "scope": {"BOOKING_READ BOOKING_WRITE"}, "state": {""}}, params: []string{"code", "iss"}},
		{id: "AZ18", name: "loopback with any port", request: With(Good(), "client_id", "native", "redirect_uri", "http://127.0.0.1:49152/cb"), uri: "http://127.0.0.1:49152/cb"},
		{id: "AZ18", name: "loopback without a port", request: With(Good(), "client_id", "native", "redirect_uri", "http://127.0.0.1/cb"), uri: "http://127.0.0.1/cb"},
		{id: "AZ18", name: "IPv6 loopback", request: With(Good(), "client_id", "native", "redirect_uri", "http://[::1]:49152/cb"), uri: "http://[::1]:49152/cb"},
		{id: "8252 7.1", name: "private-use scheme", request: With(Good(), "client_id", "native", "redirect_uri", "com.example.native:/cb"), uri: "com.example.native:/cb"},
		{id: "AZ23", name: "unknown parameter", request: With(Good(), "foo", "bar")},
		{id: "AZ26", name: "no response_type", request: With(Good(), "response_type", "")},
		{id: "AZ30", name: "commas", request: With(Good(), "scope", "BOOKING_WRITE,BOOKING_READ,BOOKING_WRITE"), scope: "BOOKING_WRITE BOOKING_READ"},
		{id: "AZ34", name: "legacy without scope", request: With(Good(), "client_id", "old", "scope", ""), legacy: true},
		{id: "AZ34", name: "legacy with scope", request: With(Good(), "client_id", "old", "scope", "PROFILE_READ"), scope: "PROFILE_READ"},
		{id: "AZ39", name: "no method", request: With(Good(), "code_challenge_method", "")},
		{id: "7636", name: "no PKCE for a confidential client", request: With(Good(), "code_challenge_method", "", "code_challenge", "")},
	} {
		t.Run(test.id+" "+test.name, func(t *testing.T) {
			w := NewEnv(t)
			b := w.Browser()
			in := b.SignIn(b.Get(At(test.request)), "ada", Password)
			require.Equal(t, http.StatusSeeOther, in.StatusCode, "AZ50")
			page := b.Get(in.Header.Get("Location"))
			res := b.Decide(page, "allow")
			if test.uri == "" {
				test.uri = Callback
			}
			got := res.Location(t, test.uri)
			if test.params == nil {
				test.params = []string{"code", "state", "iss"}
				assert.Equal(t, "xyz", got.Get("state"))
			}
			assert.ElementsMatch(t, test.params, keys(got))
			assert.Equal(t, Issuer, got.Get("iss"), "AZ04")
			assert.Equal(t, "no-store", res.Header.Get("Cache-Control"), "AZ49")

			require.Len(t, w.Grants(), 1)
			g := w.Grants()[0]
			link, err := credential.ParseCode(got.Get("code"), func(n uint32) (credential.MAC, bool) { return Mac("code key"), n == 1 })
			require.NoError(t, err)
			assert.Equal(t, g.ID, link.Grant)
			assert.Equal(t, test.request.Get("code_challenge"), g.Challenge, "the method must be S256")
			assert.Equal(t, test.legacy, g.Legacy)
			if test.scope != "" {
				assert.Equal(t, test.scope, g.Scope)
			}
		})
	}
}

func TestConformance(t *testing.T) {
	t.Run("AZ42 the user cancels", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		got := b.Decide(b.Get(At(Good())), "cancel").Location(t, Callback)
		assert.Equal(t, "access_denied", got.Get("error"))
		assert.Equal(t, "xyz", got.Get("state"))
		assert.Equal(t, Issuer, got.Get("iss"))
		assert.ElementsMatch(t, []string{"error", "error_description", "state", "iss"}, keys(got))
		assert.Empty(t, w.Grants())
	})
	t.Run("AZ45 POST without a form of ours", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		for name, send := range map[string]func() Answer{
			"form":  func() Answer { return b.Post("/auth/oauth2/authorize", Good()) },
			"query": func() Answer { return b.Post(At(Good()), nil) },
			"JSON": func() Answer {
				return b.Send("POST", At(Good()), strings.NewReader(`{"token":"x"}`), http.Header{"Content-Type": {"application/json"}})
			},
			"no type": func() Answer { return b.Send("POST", At(Good()), strings.NewReader("token=x"), nil) },
			"cross-site": func() Answer {
				return b.Send("POST", At(Good()), strings.NewReader(Good().Encode()), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"cross-site"}})
			},
		} {
			res := send()
			assert.Equal(t, http.StatusMethodNotAllowed, res.StatusCode, name)
			assert.Equal(t, "GET, HEAD", res.Header.Get("Allow"), name)
		}
		assert.Empty(t, w.Grants())
	})
	t.Run("AZ55 the consent page names client, scopes in words and host", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		page := b.Get(At(With(Good(), "scope", "BOOKING_READ BOOKING_WRITE TEAM_BOOKING_READ ORG_PROFILE_READ")))
		for _, text := range []string{
			"<title>Allow The calendar app? · Mintmark</title>", "<bdi>The calendar app</bdi>",
			"Ada Lovelace", "<bdi>ada</bdi>", `Switch<span class="unseen"> account</span>`,
			`<a href="https://calendar.example.com/about" rel="noreferrer nofollow">calendar.example.com</a>`,
			`By <b><bdi>Ada Lovelace</bdi></b>`, `<span class="pill good">Reviewed by Mintmark</span>`, "Views 2 kinds of data, changes 1",
			`<b>Bookings</b></div><span class="pill warn">View &amp; change</span><p><b>View:</b> your bookings (with guests and recordings) and your teams’<br><b>Change:</b> confirm, decline and reassign yours</p>`,
			`<b>Teams</b></div><span class="pill">View</span><p>Your organization’s teams</p>`,
			"Show the exact permissions (4)", "Your own account", "See your bookings, who attends them",
			`<div>Confirm, decline and reassign your bookings, add guests and change where they take place.</div><span class="pill warn">Can change</span>`,
			"Your teams", "See your teams’ bookings.", "Your organization", "This includes all teams of the organization.",
			`You’ll be returned to <b>app.example.com</b>. Disconnect any time in Connected apps.`,
		} {
			assert.Contains(t, page.Text, text)
		}
		assert.NotContains(t, page.Text, "BOOKING_READ</", "scopes must be shown in words")
		assert.Equal(t, 1, strings.Count(page.Text, ">Can change<"))
		assert.NotContains(t, page.Text, "everything")
		assert.NotContains(t, page.Text, "Controls other people")
		assert.NotContains(t, page.Text, ">New<", "nothing was allowed before")
	})
	t.Run("AZ55 a legacy request says that it may do everything", func(t *testing.T) {
		w := NewEnv(t)
		page := w.SignedIn().Get(At(With(Good(), "client_id", "old", "scope", "")))
		assert.Contains(t, page.Text, "This app can do everything that you can do")
	})
	t.Run("AZ55 a program on the device", func(t *testing.T) {
		w := NewEnv(t)
		page := w.SignedIn().Get(At(With(Good(), "client_id", "native", "redirect_uri", "http://127.0.0.1:4000/cb")))
		assert.Contains(t, page.Text, `the app on this device (<b>127.0.0.1:4000</b>)`)
	})
	t.Run("AZ57 asked again, with a wider scope and with the same", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		first := b.Get(At(With(Good(), "scope", "BOOKING_READ")))
		assert.NotContains(t, first.Text, "You first allowed")
		b.Decide(first, "allow").Location(t, Callback)
		for scope, says := range map[string]string{"BOOKING_READ": "Nothing has changed since.", "BOOKING_READ BOOKING_WRITE": "<b>New: changing bookings.</b>"} {
			page := b.Get(At(With(Good(), "scope", scope)))
			require.Equal(t, http.StatusOK, page.StatusCode)
			assert.Contains(t, page.Text, `>4 March 2026</time>. `+says)
		}
		assert.Len(t, w.Grants(), 1)
	})
	t.Run("AZ58 codes are distinct", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		page := b.Get(At(Good()))
		seen := map[string]bool{}
		for range 1000 {
			code := b.Decide(page, "allow").Location(t, Callback).Get("code")
			require.False(t, seen[code])
			seen[code] = true
		}
		ids := map[ledger.GrantID]bool{}
		for _, g := range w.Grants() {
			ids[g.ID] = true
		}
		assert.Len(t, ids, 1000)
	})
	t.Run("AZ60 logs", func(t *testing.T) {
		w := NewEnv(t)
		b := w.Browser()
		page := b.Get(At(Good()))
		b.SignIn(page, "ada", "a wrong guess of a password")
		in := b.SignIn(page, "ada", Password)
		consent := b.Get(in.Header.Get("Location"))
		code := b.Decide(consent, "allow").Location(t, Callback).Get("code")
		b.Get("/")
		log := w.Log.String()
		assert.Contains(t, log, "route=/auth/oauth2/authorize")
		assert.Contains(t, log, "client=calendar")
		assert.Contains(t, log, "user=u-ada")
		for name, secret := range map[string]string{
			"code": code, "password": Password, "wrong password": "a wrong guess", "challenge": Challenge, "state": "xyz",
			"session": b.Session(), "session cookie": b.Cookies["mintmark"], "form cookie": b.Cookies["mintmark-form"],
			"form token": consent.Form(t, "/auth/oauth2/authorize").Get("token"), "user name": "ada",
		} {
			require.NotEmpty(t, secret, name)
			assert.NotContains(t, strings.ReplaceAll(log, "user=u-ada", ""), secret, name)
		}
	})
	t.Run("AZ62 state with line breaks", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		state := "a\r\nSet-Cookie: evil=1\r\n\r\n<b>\x00\xff&code=stolen#f"
		for _, decision := range []string{"allow", "cancel"} {
			res := b.Decide(b.Get(At(With(Good(), "state", state))), decision)
			got := res.Location(t, Callback)
			assert.Equal(t, state, got.Get("state"), "the state was changed")
			assert.NotContains(t, res.Header.Get("Location"), "\n")
			assert.NotContains(t, got.Get("code"), "stolen")
			for _, line := range res.Header["Set-Cookie"] {
				assert.NotContains(t, line, "evil")
			}
		}
	})
	t.Run("AZ64 HEAD makes and changes nothing", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		w.Advance(20 * 60e9) // otherwise a GET would update the session
		w.Proposals = nil
		for _, target := range []string{At(Good()), "/", "/auth/sign-in"} {
			res := b.Send(http.MethodHead, target, nil, nil)
			assert.Less(t, res.StatusCode, 400)
			assert.Empty(t, res.Text)
		}
		assert.Empty(t, w.Proposals)
		b.Get("/")
		assert.Len(t, w.Proposals, 1)

		refused := At(With(Good(), "scope", "NOT_A_SCOPE"))
		b.Send(http.MethodHead, refused, nil, nil)
		assert.Empty(t, CausesOf(w.Refusals, "calendar"))
		b.Get(refused)
		assert.Len(t, CausesOf(w.Refusals, "calendar"), 1)
	})
	t.Run("AZ64 HEAD fetches no document", func(t *testing.T) {
		counted := 0
		w, p := newAgentEnv(t, ledger.AgentsReviewed, func(c *web.Config) { c.Refused = func(ledger.Cause) { counted++ } })
		b := w.SignedIn()
		verify := func(fetched int) {
			w.Proposals = nil
			res := b.Send(http.MethodHead, At(agentRequest()), nil, nil)
			assert.Equal(t, http.StatusMethodNotAllowed, res.StatusCode)
			assert.Equal(t, http.MethodGet, res.Header.Get("Allow"))
			assert.Equal(t, fetched, p.requests())
			assert.Empty(t, w.Proposals)
		}
		verify(0)
		w.List("example.com")
		b.Get(At(agentRequest()))
		assert.Equal(t, http.StatusOK, b.Send(http.MethodHead, At(agentRequest()), nil, nil).StatusCode, "the stored document is fresh")
		w.Advance(time.Hour)
		verify(1)
		assert.Zero(t, counted)
	})
}

// TestConformanceHeaders covers AZ47 and AZ49, for every page.
func TestConformanceHeaders(t *testing.T) {
	w := NewEnv(t, func(c *web.Config) { c.Secure = true })
	b := w.Browser()
	in := b.Get(At(Good()))
	pages := map[string]Answer{
		"sign-in": in, "home": b.Get("/"), "not found": b.Get("/nowhere"), "wrong method": b.Post("/", nil),
		"error":          b.Get(At(With(Good(), "client_id", "waiting"))),
		"wrong password": b.SignIn(in, "ada", "wrong"),
		"right password": b.SignIn(in, "ada", Password),
	}
	consent := b.Get(At(Good()))
	pages["consent"] = consent
	pages["code"] = b.Decide(consent, "allow")
	for name, page := range pages {
		t.Run("AZ47 AZ49 "+name, func(t *testing.T) {
			assert.Equal(t, "DENY", page.Header.Get("X-Frame-Options"))
			csp := page.Header.Get("Content-Security-Policy")
			assert.Contains(t, csp, "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'")
			assert.Equal(t, name != "consent", strings.Contains(csp, "; form-action 'self'"))
			assert.NotContains(t, csp, "unsafe")
			assert.Equal(t, "no-store", page.Header.Get("Cache-Control"))
			assert.Equal(t, "nosniff", page.Header.Get("X-Content-Type-Options"))
			assert.Equal(t, "same-origin", page.Header.Get("Referrer-Policy"))
			opener := "" // an application may have opened the page in a window
			if name == "home" || name == "not found" || name == "wrong method" {
				opener = "same-origin"
			}
			assert.Equal(t, opener, page.Header.Get("Cross-Origin-Opener-Policy"))
			assert.Equal(t, "same-origin", page.Header.Get("Cross-Origin-Resource-Policy"))
			assert.Contains(t, page.Header.Get("Permissions-Policy"), "camera=()")
			assert.Equal(t, "max-age=31536000", page.Header.Get("Strict-Transport-Security"), "AB12")
		})
	}
	t.Run("AZ52 cookies on https", func(t *testing.T) {
		cookies := append(pages["right password"].Cookies(), in.Cookies()...)
		require.Len(t, cookies, 3)
		for _, c := range cookies {
			assert.Contains(t, []string{"__Host-mintmark", "__Host-mintmark-form", "__Host-mintmark-device"}, c.Name)
			assert.True(t, c.HttpOnly && c.Secure, c.Name)
			assert.Equal(t, http.SameSiteLaxMode, c.SameSite)
			assert.Equal(t, "/", c.Path)
			assert.Empty(t, c.Domain)
		}
	})
	t.Run("AZ52 cookies on http", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		assert.Contains(t, b.Cookies, "mintmark")
		assert.Empty(t, b.Get("/nowhere").Header.Get("Strict-Transport-Security"))
	})
}
