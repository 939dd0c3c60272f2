package signin_test

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
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestConsentRaces covers changes before the button is pressed, and between the check and
// the command.
func TestConsentRaces(t *testing.T) {
	importCalendar := func(change func(*ledger.ImportClient)) func(*Env) {
		return func(w *Env) { w.Client("calendar", change) }
	}
	session := func(w *Env, b *Browser) [32]byte {
		return credential.SessionDigest(b.Session())
	}
	for _, test := range []struct {
		name   string
		change func(*Env, *Browser)
		status int
		says   string
		error  string // error code in the redirect
	}{
		{"suspended", func(w *Env, _ *Browser) {
			importCalendar(func(c *ledger.ImportClient) { c.State = ledger.Suspended })(w)
		}, http.StatusForbidden, "is suspended", ""},
		{"redirect URI removed", func(w *Env, _ *Browser) {
			importCalendar(func(c *ledger.ImportClient) { c.Profile.RedirectURIs = []string{"https://other.example/cb"} })(w)
		}, http.StatusBadRequest, "Redirect URI not registered", ""},
		{"scope removed", func(w *Env, _ *Browser) {
			importCalendar(func(c *ledger.ImportClient) { c.Profile.Scopes = []string{"ORG_PROFILE_READ"} })(w)
		}, http.StatusSeeOther, "", "invalid_scope"},
		{"renamed", func(w *Env, _ *Browser) {
			importCalendar(func(c *ledger.ImportClient) {
				c.Profile.Name, c.Profile.Website = "Another app", "https://another.example"
			})(w)
		}, http.StatusConflict, "What it asks for is the same", ""},
		{"another owner", func(w *Env, _ *Browser) {
			w.User("u-bob", "bob", "Bob")
			w.Must(&ledger.TransferClient{Actor: ledger.Actor{Operator: true}, ID: "calendar", Username: "bob", Revision: 1})
		}, http.StatusConflict, "What it asks for is the same", ""},
		{"deleted", func(w *Env, _ *Browser) {
			w.Must(&ledger.DeleteClient{Actor: ledger.Actor{Operator: true}, ID: "calendar"})
		}, http.StatusBadRequest, "App not found", ""},
		{"signed out", func(w *Env, b *Browser) { w.Must(&ledger.SignOut{Session: session(w, b)}) }, http.StatusForbidden, "signed out while this page was open", ""},
		{"user disabled", func(w *Env, _ *Browser) {
			w.Must(&ledger.SetUserState{Actor: ledger.Actor{Operator: true}, User: "u-ada", State: ledger.Disable})
		}, http.StatusForbidden, "signed out while this page was open", ""},
	} {
		for _, when := range []string{"before the form", "before the command"} {
			t.Run(test.name+" "+when, func(t *testing.T) {
				w := NewEnv(t)
				b := w.SignedIn()
				page := b.Get(At(Good()))
				if when == "before the form" {
					test.change(w, b)
				} else {
					w.BeforePropose = func() { test.change(w, b) }
				}
				res := b.Decide(page, "allow")
				assert.Equal(t, test.status, res.StatusCode)
				if test.error != "" {
					assert.Equal(t, test.error, res.Location(t, Callback).Get("error"))
				} else {
					assert.Contains(t, res.Text, test.says)
					assert.Empty(t, res.Header.Get("Location"))
				}
				assert.Empty(t, w.Grants())
			})
		}
	}
}

// TestConsentFormIsBound verifies that the form is bound to session, user and the exact
// request, and that a form that doesn't match is shown again without an effect.
func TestConsentFormIsBound(t *testing.T) {
	for name, tamper := range map[string]func(w *Env, b *Browser, page Answer) Answer{
		"a wider scope": func(w *Env, b *Browser, page Answer) Answer {
			form := page.Form(w.T, AuthorizePath)
			return b.Post(AuthorizePath, With(form, "decision", "allow", "next", strings.Replace(form.Get("next"), "BOOKING_READ+", "ORG_PROFILE_READ+", 1)))
		},
		"another state": func(w *Env, b *Browser, page Answer) Answer {
			form := page.Form(w.T, AuthorizePath)
			return b.Post(AuthorizePath, With(form, "decision", "allow", "next", strings.Replace(form.Get("next"), "xyz", "abc", 1)))
		},
		"another revision": func(w *Env, b *Browser, page Answer) Answer {
			return b.Post(AuthorizePath, With(page.Form(w.T, AuthorizePath), "decision", "allow", "revision", "2"))
		},
		"no revision": func(w *Env, b *Browser, page Answer) Answer {
			return b.Post(AuthorizePath, With(page.Form(w.T, AuthorizePath), "decision", "allow", "revision", ""))
		},
		"another user": func(w *Env, b *Browser, page Answer) Answer {
			w.User("u-bob", "bob", "Bob")
			return b.Post(AuthorizePath, With(page.Form(w.T, AuthorizePath), "decision", "allow", "user", "u-bob"))
		},
		"no user": func(w *Env, b *Browser, page Answer) Answer {
			return b.Post(AuthorizePath, With(page.Form(w.T, AuthorizePath), "decision", "allow", "user", ""))
		},
		"a token of another page": func(w *Env, b *Browser, page Answer) Answer {
			token := page.Form(w.T, "/auth/sign-out").Get("token")
			return b.Post(AuthorizePath, With(page.Form(w.T, AuthorizePath), "decision", "allow", "token", token))
		},
		"a token of another browser": func(w *Env, b *Browser, page Answer) Answer {
			other := w.SignedIn().Get(At(Good())).Form(w.T, AuthorizePath)
			return b.Post(AuthorizePath, With(page.Form(w.T, AuthorizePath), "decision", "allow", "token", other.Get("token")))
		},
		"a page from before another sign-in": func(w *Env, b *Browser, page Answer) Answer {
			out := page.Form(w.T, "/auth/sign-out")
			in := b.Get(b.Post("/auth/sign-out", out).Header.Get("Location"))
			w.User("u-bob", "bob", "Bob")
			require.Equal(w.T, http.StatusSeeOther, b.SignIn(in, "bob", Password).StatusCode)
			return b.Decide(page, "allow")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := NewEnv(t)
			b := w.SignedIn()
			res := tamper(w, b, b.Get(At(Good())))
			assert.Equal(t, http.StatusForbidden, res.StatusCode)
			assert.Contains(t, res.Text, "Nothing was allowed yet")
			assert.Contains(t, res.Text, `role="alert"`)
			assert.Empty(t, w.Grants())
			res.StatusCode = http.StatusOK
			b.Decide(res, "allow").Location(t, Callback) // the redisplayed form must work
		})
	}
	t.Run("from another origin", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		form := With(b.Get(At(Good())).Form(t, AuthorizePath), "decision", "allow")
		for name, header := range map[string]http.Header{
			"Sec-Fetch-Site": {"Sec-Fetch-Site": {"cross-site"}},
			"same site":      {"Sec-Fetch-Site": {"same-site"}},
			"Origin":         {"Origin": {"https://evil.example"}},
			"null Origin":    {"Origin": {"null"}},
		} {
			header.Set("Content-Type", "application/x-www-form-urlencoded")
			res := b.Send("POST", AuthorizePath, strings.NewReader(form.Encode()), header)
			assert.Equal(t, http.StatusForbidden, res.StatusCode, name)
		}
		assert.Empty(t, w.Grants())
	})
	t.Run("no decision", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		assert.Equal(t, http.StatusUnprocessableEntity, b.Decide(b.Get(At(Good())), "").StatusCode)
		assert.Equal(t, http.StatusUnprocessableEntity, b.Decide(b.Get(At(Good())), "ALLOW").StatusCode)
		assert.Empty(t, w.Grants())
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
		token := site.FormToken(parts[0], site.Purpose(parts[1]), parts[2], parts[3])
		assert.False(t, seen[token], "%q", parts)
		assert.Len(t, token, 43)
		seen[token] = true
	}
}

func TestConsentAgain(t *testing.T) {
	t.Run("a form that is sent twice", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		page := b.Get(At(Good()))
		first := b.Decide(page, "allow").Location(t, Callback).Get("code")
		second := b.Decide(page, "allow").Location(t, Callback).Get("code")
		assert.NotEqual(t, first, second)
		assert.Equal(t, "access_denied", b.Decide(page, "cancel").Location(t, Callback).Get("error"))
		assert.Len(t, w.Grants(), 2, "cancelling must not revoke")
	})
	t.Run("no leader", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		page := b.Get(At(Good()))
		w.NoLeader = true
		res := b.Decide(page, "allow")
		assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
		assert.Equal(t, "5", res.Header.Get("Retry-After"))
		assert.Empty(t, res.Header.Get("Location"))
		assert.Equal(t, "access_denied", b.Decide(page, "cancel").Location(t, Callback).Get("error"), "cancelling needs no leader")
		w.NoLeader = false
		b.Decide(page, "allow").Location(t, Callback)
	})
	t.Run("the state stays out of the log of commands", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		b.Decide(b.Get(At(Good())), "allow").Location(t, Callback)
		allow, ok := w.Proposals[len(w.Proposals)-1].(*ledger.Allow)
		require.True(t, ok)
		assert.Empty(t, allow.Request.State)
	})
	t.Run("idle time moves on, once in a while", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		for range 4 {
			w.Advance(11 * time.Hour) // the idle timeout is 12 h
			assert.Equal(t, http.StatusOK, b.Get(At(Good())).StatusCode)
			n := len(w.Proposals)
			assert.Contains(t, b.Get(At(Good())).Text, "Allow The calendar app?")
			assert.Len(t, w.Proposals, n, "two pages must send one TouchSession")
		}
		w.Advance(13 * time.Hour)
		assert.Contains(t, b.Get(At(Good())).Text, "to continue to")
	})
}

// TestAllowedTooOften verifies that a user who allows too often is asked to wait by a
// page of this server, and that nothing is changed.
func TestAllowedTooOften(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	request, _ := oauth.ParseAuthorizationRequest(Good().Encode())
	allow := &ledger.Allow{Actor: ledger.Actor{Session: credential.SessionDigest(b.Session())}, User: "u-ada", Request: request, Revision: 1}
	for allow.Grant[1] < 200 && w.Do(allow).Refusal == nil {
		if allow.Grant[0]++; allow.Grant[0] == 0 {
			allow.Grant[1]++
		}
	}
	w.Advance(24*time.Hour - 90*time.Second)
	b = w.SignedIn() // the session has expired
	page := b.Get(At(Good()))
	state, index := w.Index, b.Cookies["mintmark"]
	for range 2 {
		res := b.Decide(page, "allow")
		assert.Equal(t, http.StatusTooManyRequests, res.StatusCode)
		assert.Equal(t, "90", res.Header.Get("Retry-After"))
		assert.Empty(t, res.Header.Get("Location"))
		assert.Contains(t, res.Text, "Wait 90 seconds and try again")
	}
	assert.Equal(t, state, w.Index, "a refused Allow changed something")
	assert.Equal(t, index, b.Cookies["mintmark"])
	assert.Contains(t, w.Log.String(), ledger.TooManyAllows.String())
	assert.Equal(t, "access_denied", b.Decide(page, "cancel").Location(t, Callback).Get("error"), "cancelling is not limited")
	w.Advance(90 * time.Second)
	assert.NotEmpty(t, b.Decide(page, "allow").Location(t, Callback).Get("code"), "the same form must work later")
}

// TestConsentForAResourceServer: the page names the resource server that the tokens are for,
// and Allow is for that one or for none.
func TestConsentForAResourceServer(t *testing.T) {
	const mcp = "https://mcp.example/mcp"
	put := func(w *Env, id, name string) {
		w.Must(&ledger.PutResourceServer{Actor: ledger.Actor{Operator: true}, ID: id, Name: name})
	}
	remove := func(w *Env) { w.Must(&ledger.RemoveResourceServer{Actor: ledger.Actor{Operator: true}, ID: mcp}) }
	request := With(Good(), "resource", mcp+"/")
	t.Run("named", func(t *testing.T) {
		w := NewEnv(t)
		put(w, mcp, "bookings")
		b := w.SignedIn()
		page := b.Get(At(request))
		assert.Contains(t, page.Text, "<bdi>bookings</bdi>")
		assert.Contains(t, page.Text, mcp)
		b.Decide(page, "allow").Location(t, Callback)
		allow, ok := w.Proposals[len(w.Proposals)-1].(*ledger.Allow)
		require.True(t, ok)
		assert.Equal(t, mcp, allow.Request.Resource)
		server, ok := w.View().ResourceServerOf(w.Grants()[0])
		require.True(t, ok)
		assert.Equal(t, mcp, server.ID)
		app := b.Get("/connected-apps/calendar").Text
		assert.Contains(t, app, "Only at")
		assert.Contains(t, app, "<bdi>bookings</bdi>")
		b.Decide(b.Get(At(Good())), "allow").Location(t, Callback)
		assert.NotContains(t, b.Get("/connected-apps/calendar").Text, "Only at", "another grant has no such limit")
	})
	for name, test := range map[string]struct {
		before, change func(*Env)
		status         int
		error          string
	}{
		"the last one removed": {func(w *Env) { put(w, mcp, "bookings") }, remove, http.StatusConflict, ""},
		"one of two removed": {func(w *Env) {
			put(w, mcp, "bookings")
			put(w, "https://files.example", "files")
		}, remove, http.StatusSeeOther, "invalid_target"},
		"its scopes narrowed": {func(w *Env) { put(w, mcp, "bookings") }, func(w *Env) {
			w.Must(&ledger.PutResourceServer{Actor: ledger.Actor{Operator: true}, ID: mcp, Name: "bookings", Scopes: []string{"SCHEDULE_READ"}})
		}, http.StatusSeeOther, "invalid_scope"},
	} {
		for _, when := range []string{"before the form", "before the command"} {
			t.Run(name+" "+when, func(t *testing.T) {
				w := NewEnv(t)
				test.before(w)
				b := w.SignedIn()
				page := b.Get(At(request))
				if when == "before the form" {
					test.change(w)
				} else {
					w.BeforePropose = func() { test.change(w) }
				}
				res := b.Decide(page, "allow")
				assert.Equal(t, test.status, res.StatusCode)
				if test.error != "" {
					assert.Equal(t, test.error, res.Location(t, Callback).Get("error"))
				}
				assert.Empty(t, w.Grants())
			})
		}
	}
	t.Run("registered meanwhile", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		page := b.Get(At(request))
		put(w, mcp, "bookings")
		b.Decide(page, "allow").Location(t, Callback)
		assert.Zero(t, w.Grants()[0].Resource, "the page named none")
	})
	t.Run("another one in the form", func(t *testing.T) {
		w := NewEnv(t)
		put(w, mcp, "bookings")
		b := w.SignedIn()
		for _, other := range []string{"", "https://files.example"} {
			form := b.Get(At(request)).Form(t, AuthorizePath)
			assert.Equal(t, http.StatusForbidden, b.Post(AuthorizePath, With(form, "decision", "allow", "resource", other)).StatusCode)
		}
		assert.Empty(t, w.Grants())
	})
	t.Run("on a lagging node", func(t *testing.T) {
		w := NewEnv(t)
		put(w, "https://files.example", "files")
		b := w.SignedIn()
		w.Lag()
		put(w, mcp, "bookings")
		page := b.Get(At(request))
		require.Equal(t, http.StatusOK, page.StatusCode, page.Text)
		b.Decide(page, "allow").Location(t, Callback)
	})
}

// TestConsentSaysWhoAsks: the page has approved values only, whatever awaits a review, and no
// owner without an account.
func TestConsentSaysWhoAsks(t *testing.T) {
	w := NewEnv(t)
	w.User("u-bob", "bob", "Bob & Sons")
	w.Client("planner", func(c *ledger.ImportClient) {
		c.Owner, c.Profile.Name, c.Profile.Purpose = "u-bob", "Planner", "Plans <meetings>."
		c.Profile.PrivacyURL, c.Profile.TermsURL = "https://planner.example.com/privacy", "https://planner.example.com/terms"
	})
	s := *w.View().Settings()
	s.Brand.Name = "Zeta"
	w.Must(&ledger.Configure{Settings: s})
	owner := ledger.Actor{Session: credential.SessionDigest(w.SignedInAs("bob").Session())}
	b := w.SignedIn()
	request := With(Good(), "client_id", "planner")
	shown := []string{
		"<bdi>Plans &lt;meetings&gt;.</bdi>", "By <b><bdi>Bob &amp; Sons</bdi></b>", "Reviewed by Zeta</span>",
		`<a href="https://planner.example.com/privacy" rel="noreferrer nofollow">Privacy` + "\u00a0policy</a>", `<a href="https://planner.example.com/terms" rel="noreferrer nofollow">Terms</a>`,
	}
	for _, text := range shown {
		assert.Contains(t, b.Get(At(request)).Text, text)
	}
	client := w.View().Client("planner")
	changed := client.Profile
	changed.Purpose, changed.PrivacyURL, changed.TermsURL = "Sells data.", "https://other.example/privacy", ""
	w.Must(&ledger.EditClient{Actor: owner, ID: "planner", Revision: client.Revision, Profile: changed})
	require.NotNil(t, w.View().Client("planner").Proposed)
	page := b.Get(At(request)).Text
	for _, text := range shown {
		assert.Contains(t, page, text)
	}
	assert.NotContains(t, page, "Sells data.")
	assert.NotContains(t, page, "other.example")
	w.Must(&ledger.SetUserState{Actor: Operator, User: "u-bob", State: ledger.DeleteUser})
	page = b.Get(At(request)).Text
	assert.Contains(t, page, "Plans &lt;meetings&gt;.")
	assert.NotContains(t, page, "By <b>")
}

// TestConsentMarksWhatIsNew compares a request with all live grants of the user.
func TestConsentMarksWhatIsNew(t *testing.T) {
	const mark = `<span class="pill info">New</span>`
	w := NewEnv(t)
	w.Client("calendar", func(c *ledger.ImportClient) {
		c.Profile.Scopes = append(c.Profile.Scopes, "ORG_MEMBERSHIP_WRITE")
	})
	b := w.SignedIn()
	ask := func(scopes string) string { return b.Get(At(With(Good(), "scope", scopes))).Text }
	assert.NotContains(t, ask("BOOKING_READ ORG_MEMBERSHIP_WRITE"), mark)
	b.Allow("scope", "BOOKING_READ")
	b.Allow("scope", "ORG_PROFILE_READ")
	assert.NotContains(t, ask("BOOKING_READ ORG_PROFILE_READ"), mark)
	page := ask("BOOKING_READ BOOKING_WRITE ORG_PROFILE_READ ORG_MEMBERSHIP_WRITE")
	assert.Contains(t, page, `<b>Bookings</b></div>`)
	assert.Contains(t, page, `<b>Change:</b> `+mark+` confirm, decline and reassign them`, "only what is new is marked")
	assert.Contains(t, page, `<b>Teams</b></div>`)
	assert.Contains(t, page, "organization’s members and users. "+mark)
	b.Allow("client_id", "old", "scope", "")
	old := w.View().Client("old").Profile
	old.Scopes = []string{"BOOKING_READ"}
	w.Client("old", func(c *ledger.ImportClient) { c.Profile = old })
	page = b.Get(At(With(Good(), "client_id", "old", "scope", "BOOKING_READ"))).Text
	assert.Contains(t, page, "Nothing has changed since.", "it could do everything")
}
