package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

const authorizePath = "/auth/oauth2/authorize"

// TestConsentRaces covers changes before the button is pressed, and between the check and
// the command.
func TestConsentRaces(t *testing.T) {
	importCalendar := func(change func(*ledger.ImportClient)) func(*env) {
		return func(w *env) { w.client("calendar", change) }
	}
	session := func(w *env, b *browser) [32]byte {
		return credential.SessionDigest(b.session())
	}
	for _, test := range []struct {
		name   string
		change func(*env, *browser)
		status int
		says   string
		error  string // error code in the redirect
	}{
		{"suspended", func(w *env, _ *browser) {
			importCalendar(func(c *ledger.ImportClient) { c.State = ledger.Suspended })(w)
		}, http.StatusForbidden, "is suspended", ""},
		{"redirect URI removed", func(w *env, _ *browser) {
			importCalendar(func(c *ledger.ImportClient) { c.Profile.RedirectURIs = []string{"https://other.example/cb"} })(w)
		}, http.StatusBadRequest, "does not lead back", ""},
		{"scope removed", func(w *env, _ *browser) {
			importCalendar(func(c *ledger.ImportClient) { c.Profile.Scopes = []string{"ORG_PROFILE_READ"} })(w)
		}, http.StatusSeeOther, "", "invalid_scope"},
		{"renamed", func(w *env, _ *browser) {
			importCalendar(func(c *ledger.ImportClient) {
				c.Profile.Name, c.Profile.Website = "Another app", "https://another.example"
			})(w)
		}, http.StatusConflict, "Something changed while the page was open", ""},
		{"another owner", func(w *env, _ *browser) {
			w.user("u-bob", "bob", "Bob")
			w.must(&ledger.TransferClient{Actor: ledger.Actor{Operator: true}, ID: "calendar", Username: "bob", Revision: 1})
		}, http.StatusConflict, "Something changed while the page was open", ""},
		{"deleted", func(w *env, _ *browser) {
			w.must(&ledger.DeleteClient{Actor: ledger.Actor{Operator: true}, ID: "calendar"})
		}, http.StatusBadRequest, "Application not found", ""},
		{"signed out", func(w *env, b *browser) { w.must(&ledger.SignOut{Session: session(w, b)}) }, http.StatusForbidden, "signed out meanwhile", ""},
		{"user disabled", func(w *env, _ *browser) {
			w.must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-ada", State: ledger.Disable})
		}, http.StatusForbidden, "signed out meanwhile", ""},
	} {
		for _, when := range []string{"before the form", "before the command"} {
			t.Run(test.name+" "+when, func(t *testing.T) {
				w := newEnv(t)
				b := w.signedIn()
				page := b.get(at(good()))
				if when == "before the form" {
					test.change(w, b)
				} else {
					w.beforePropose = func() { test.change(w, b) }
				}
				res := b.decide(page, "allow")
				assert.Equal(t, test.status, res.StatusCode)
				if test.error != "" {
					assert.Equal(t, test.error, res.location(t, callback).Get("error"))
				} else {
					assert.Contains(t, res.body, test.says)
					assert.Empty(t, res.Header.Get("Location"))
				}
				assert.Empty(t, w.grants())
			})
		}
	}
}

// TestConsentFormIsBound verifies that the form is bound to session, user and the exact
// request, and that a form that doesn't match is shown again without an effect.
func TestConsentFormIsBound(t *testing.T) {
	for name, tamper := range map[string]func(w *env, b *browser, page answer) answer{
		"a wider scope": func(w *env, b *browser, page answer) answer {
			form := page.form(w.t, authorizePath)
			return b.post(authorizePath, with(form, "decision", "allow", "next", strings.Replace(form.Get("next"), "BOOKING_READ+", "ORG_PROFILE_READ+", 1)))
		},
		"another state": func(w *env, b *browser, page answer) answer {
			form := page.form(w.t, authorizePath)
			return b.post(authorizePath, with(form, "decision", "allow", "next", strings.Replace(form.Get("next"), "xyz", "abc", 1)))
		},
		"another revision": func(w *env, b *browser, page answer) answer {
			return b.post(authorizePath, with(page.form(w.t, authorizePath), "decision", "allow", "revision", "2"))
		},
		"no revision": func(w *env, b *browser, page answer) answer {
			return b.post(authorizePath, with(page.form(w.t, authorizePath), "decision", "allow", "revision", ""))
		},
		"another user": func(w *env, b *browser, page answer) answer {
			w.user("u-bob", "bob", "Bob")
			return b.post(authorizePath, with(page.form(w.t, authorizePath), "decision", "allow", "user", "u-bob"))
		},
		"no user": func(w *env, b *browser, page answer) answer {
			return b.post(authorizePath, with(page.form(w.t, authorizePath), "decision", "allow", "user", ""))
		},
		"a token of another page": func(w *env, b *browser, page answer) answer {
			token := page.form(w.t, "/auth/sign-out").Get("token")
			return b.post(authorizePath, with(page.form(w.t, authorizePath), "decision", "allow", "token", token))
		},
		"a token of another browser": func(w *env, b *browser, page answer) answer {
			other := w.signedIn().get(at(good())).form(w.t, authorizePath)
			return b.post(authorizePath, with(page.form(w.t, authorizePath), "decision", "allow", "token", other.Get("token")))
		},
		"a page from before another sign-in": func(w *env, b *browser, page answer) answer {
			out := page.form(w.t, "/auth/sign-out")
			in := b.get(b.post("/auth/sign-out", out).Header.Get("Location"))
			w.user("u-bob", "bob", "Bob")
			require.Equal(w.t, http.StatusSeeOther, b.signIn(in, "bob", password).StatusCode)
			return b.decide(page, "allow")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			b := w.signedIn()
			res := tamper(w, b, b.get(at(good())))
			assert.Equal(t, http.StatusForbidden, res.StatusCode)
			assert.Contains(t, res.body, "nothing was done")
			assert.Contains(t, res.body, `role="alert"`)
			assert.Empty(t, w.grants())
			res.StatusCode = http.StatusOK
			b.decide(res, "allow").location(t, callback) // the redisplayed form must work
		})
	}
	t.Run("from another origin", func(t *testing.T) {
		w := newEnv(t)
		b := w.signedIn()
		form := with(b.get(at(good())).form(t, authorizePath), "decision", "allow")
		for name, header := range map[string]http.Header{
			"Sec-Fetch-Site": {"Sec-Fetch-Site": {"cross-site"}},
			"same site":      {"Sec-Fetch-Site": {"same-site"}},
			"Origin":         {"Origin": {"https://evil.example"}},
			"null Origin":    {"Origin": {"null"}},
		} {
			header.Set("Content-Type", "application/x-www-form-urlencoded")
			res := b.send("POST", authorizePath, strings.NewReader(form.Encode()), header)
			assert.Equal(t, http.StatusForbidden, res.StatusCode, name)
		}
		assert.Empty(t, w.grants())
	})
	t.Run("no decision", func(t *testing.T) {
		w := newEnv(t)
		b := w.signedIn()
		assert.Equal(t, http.StatusUnprocessableEntity, b.decide(b.get(at(good())), "").StatusCode)
		assert.Equal(t, http.StatusUnprocessableEntity, b.decide(b.get(at(good())), "ALLOW").StatusCode)
		assert.Empty(t, w.grants())
	})
}

// TestFormTokenParts verifies that the parts of a token are unambiguous.
func TestFormTokenParts(t *testing.T) {
	seen := map[string]bool{}
	for _, parts := range [][4]string{
		{"k", "consent", "ab", "c"},
		{"k", "consent", "a", "bc"},
		{"k", "consent", "", "abc"},
		{"k", "consenta", "b", "c"},
		{"k", "sign-in", "ab", "c"},
		{"l", "consent", "ab", "c"},
	} {
		token := web.FormToken(parts[0], web.Purpose(parts[1]), parts[2], parts[3])
		assert.False(t, seen[token], "%q", parts)
		assert.Len(t, token, 43)
		seen[token] = true
	}
}

func TestConsentAgain(t *testing.T) {
	t.Run("a form that is sent twice", func(t *testing.T) {
		w := newEnv(t)
		b := w.signedIn()
		page := b.get(at(good()))
		first := b.decide(page, "allow").location(t, callback).Get("code")
		second := b.decide(page, "allow").location(t, callback).Get("code")
		assert.NotEqual(t, first, second)
		assert.Equal(t, "access_denied", b.decide(page, "cancel").location(t, callback).Get("error"))
		assert.Len(t, w.grants(), 2, "cancelling must not revoke")
	})
	t.Run("no leader", func(t *testing.T) {
		w := newEnv(t)
		b := w.signedIn()
		page := b.get(at(good()))
		w.noLeader = true
		res := b.decide(page, "allow")
		assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
		assert.Equal(t, "5", res.Header.Get("Retry-After"))
		assert.Empty(t, res.Header.Get("Location"))
		assert.Equal(t, "access_denied", b.decide(page, "cancel").location(t, callback).Get("error"), "cancelling needs no leader")
		w.noLeader = false
		b.decide(page, "allow").location(t, callback)
	})
	t.Run("the state stays out of the log of commands", func(t *testing.T) {
		w := newEnv(t)
		b := w.signedIn()
		b.decide(b.get(at(good())), "allow").location(t, callback)
		allow, ok := w.proposals[len(w.proposals)-1].(*ledger.Allow)
		require.True(t, ok)
		assert.Empty(t, allow.Request.State)
	})
	t.Run("idle time moves on, once in a while", func(t *testing.T) {
		w := newEnv(t)
		b := w.signedIn()
		for range 4 {
			w.advance(11 * time.Hour) // the idle timeout is 12 h
			assert.Equal(t, http.StatusOK, b.get(at(good())).StatusCode)
			n := len(w.proposals)
			assert.Contains(t, b.get(at(good())).body, "Allow The calendar app?")
			assert.Len(t, w.proposals, n, "two pages must send one TouchSession")
		}
		w.advance(13 * time.Hour)
		assert.Contains(t, b.get(at(good())).body, "to continue to")
	})
}

// TestAllowedTooOften verifies that a user who allows too often is asked to wait by a
// page of this server, and that nothing is changed.
func TestAllowedTooOften(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	request, _ := oauth.ParseAuthorizationRequest(good().Encode())
	allow := &ledger.Allow{Actor: ledger.Actor{Session: credential.SessionDigest(b.session())}, User: "u-ada", Request: request, Revision: 1}
	for allow.Grant[1] < 200 && w.do(allow).Refusal == nil {
		if allow.Grant[0]++; allow.Grant[0] == 0 {
			allow.Grant[1]++
		}
	}
	w.advance(24*time.Hour - 90*time.Second)
	b = w.signedIn() // the session has expired
	page := b.get(at(good()))
	state, index := w.index, b.cookies["mintmark"]
	for range 2 {
		res := b.decide(page, "allow")
		assert.Equal(t, http.StatusTooManyRequests, res.StatusCode)
		assert.Equal(t, "90", res.Header.Get("Retry-After"))
		assert.Empty(t, res.Header.Get("Location"))
		assert.Contains(t, res.body, "press Allow again")
	}
	assert.Equal(t, state, w.index, "a refused Allow changed something")
	assert.Equal(t, index, b.cookies["mintmark"])
	assert.Contains(t, w.log.String(), ledger.TooManyAllows.String())
	assert.Equal(t, "access_denied", b.decide(page, "cancel").location(t, callback).Get("error"), "cancelling is not limited")
	w.advance(90 * time.Second)
	assert.NotEmpty(t, b.decide(page, "allow").location(t, callback).Get("code"), "the same form must work later")
}

// TestConsentForAResourceServer: the page names the resource server that the tokens are for,
// and Allow is for that one or for none.
func TestConsentForAResourceServer(t *testing.T) {
	const mcp = "https://mcp.example/mcp"
	put := func(w *env, id, name string) {
		w.must(&ledger.PutResourceServer{Actor: ledger.Actor{Operator: true}, ID: id, Name: name})
	}
	remove := func(w *env) { w.must(&ledger.RemoveResourceServer{Actor: ledger.Actor{Operator: true}, ID: mcp}) }
	request := with(good(), "resource", mcp+"/")
	t.Run("named", func(t *testing.T) {
		w := newEnv(t)
		put(w, mcp, "bookings")
		b := w.signedIn()
		page := b.get(at(request))
		assert.Contains(t, page.body, "<bdi>bookings</bdi>")
		assert.Contains(t, page.body, mcp)
		b.decide(page, "allow").location(t, callback)
		allow, ok := w.proposals[len(w.proposals)-1].(*ledger.Allow)
		require.True(t, ok)
		assert.Equal(t, mcp, allow.Request.Resource)
		server, ok := w.View().ResourceServerOf(w.grants()[0])
		require.True(t, ok)
		assert.Equal(t, mcp, server.ID)
		app := b.get("/connected-apps/calendar").body
		assert.Contains(t, app, "Only at")
		assert.Contains(t, app, "<bdi>bookings</bdi>")
		b.decide(b.get(at(good())), "allow").location(t, callback)
		assert.NotContains(t, b.get("/connected-apps/calendar").body, "Only at", "another grant has no such limit")
	})
	for name, test := range map[string]struct {
		before, change func(*env)
		status         int
		error          string
	}{
		"the last one removed": {func(w *env) { put(w, mcp, "bookings") }, remove, http.StatusConflict, ""},
		"one of two removed": {func(w *env) {
			put(w, mcp, "bookings")
			put(w, "https://files.example", "files")
		}, remove, http.StatusSeeOther, "invalid_target"},
		"its scopes narrowed": {func(w *env) { put(w, mcp, "bookings") }, func(w *env) {
			w.must(&ledger.PutResourceServer{Actor: ledger.Actor{Operator: true}, ID: mcp, Name: "bookings", Scopes: []string{"SCHEDULE_READ"}})
		}, http.StatusSeeOther, "invalid_scope"},
	} {
		for _, when := range []string{"before the form", "before the command"} {
			t.Run(name+" "+when, func(t *testing.T) {
				w := newEnv(t)
				test.before(w)
				b := w.signedIn()
				page := b.get(at(request))
				if when == "before the form" {
					test.change(w)
				} else {
					w.beforePropose = func() { test.change(w) }
				}
				res := b.decide(page, "allow")
				assert.Equal(t, test.status, res.StatusCode)
				if test.error != "" {
					assert.Equal(t, test.error, res.location(t, callback).Get("error"))
				}
				assert.Empty(t, w.grants())
			})
		}
	}
	t.Run("registered meanwhile", func(t *testing.T) {
		w := newEnv(t)
		b := w.signedIn()
		page := b.get(at(request))
		put(w, mcp, "bookings")
		b.decide(page, "allow").location(t, callback)
		assert.Zero(t, w.grants()[0].Resource, "the page named none")
	})
	t.Run("another one in the form", func(t *testing.T) {
		w := newEnv(t)
		put(w, mcp, "bookings")
		b := w.signedIn()
		for _, other := range []string{"", "https://files.example"} {
			form := b.get(at(request)).form(t, authorizePath)
			assert.Equal(t, http.StatusForbidden, b.post(authorizePath, with(form, "decision", "allow", "resource", other)).StatusCode)
		}
		assert.Empty(t, w.grants())
	})
	t.Run("on a lagging node", func(t *testing.T) {
		w := newEnv(t)
		put(w, "https://files.example", "files")
		b := w.signedIn()
		w.lag()
		put(w, mcp, "bookings")
		page := b.get(at(request))
		require.Equal(t, http.StatusOK, page.StatusCode, page.body)
		b.decide(page, "allow").location(t, callback)
	})
}
