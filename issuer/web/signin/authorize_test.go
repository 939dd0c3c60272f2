package signin_test

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/requestlog"
	"github.com/mintmark-auth/mintmark/issuer/web"
	"github.com/mintmark-auth/mintmark/issuer/web/site"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// TestAuthorizeOnALaggingNode verifies that a node uses a fresh view before it refuses.
func TestAuthorizeOnALaggingNode(t *testing.T) {
	for _, test := range []struct {
		name    string
		request url.Values
		change  func(*Env) // made after the node stopped applying commands
	}{
		{"a client it has not heard of", With(Good(), "client_id", "new"), func(w *Env) { w.Client("new", nil) }},
		{"a client that was approved", With(Good(), "client_id", "waiting"), func(w *Env) {
			w.Client("waiting", func(c *ledger.ImportClient) { c.State = ledger.Approved })
		}},
		{"a client that was resumed", With(Good(), "client_id", "stopped"), func(w *Env) {
			w.Client("stopped", func(c *ledger.ImportClient) { c.State = ledger.Approved })
		}},
		{"a new redirect URI", With(Good(), "redirect_uri", Callback+"2"), func(w *Env) {
			w.Client("calendar", func(c *ledger.ImportClient) {
				c.Profile.RedirectURIs = append(c.Profile.RedirectURIs, Callback+"2")
			})
		}},
		{"a new scope", With(Good(), "scope", "PROFILE_READ"), func(w *Env) {
			w.Client("calendar", func(c *ledger.ImportClient) { c.Profile.Scopes = []string{"PROFILE_READ"} })
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := NewEnv(t)
			b := w.SignedIn()
			w.Lag()
			test.change(w)
			page := b.Get(At(test.request))
			require.Equal(t, http.StatusOK, page.StatusCode, page.Text)
			b.Decide(page, "allow").Location(t, test.request.Get("redirect_uri"))
		})
	}
	t.Run("a session that began elsewhere", func(t *testing.T) {
		w := NewEnv(t)
		w.Lag()
		page := w.SignedIn().Get(At(Good()))
		assert.Contains(t, page.Text, "Allow The calendar app?")
	})
	t.Run("where nothing fresh can be had, no application is turned away", func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		w.NoLeader = true
		res := b.Get(At(With(Good(), "client_id", "waiting")))
		assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
		assert.NotEmpty(t, res.Header.Get("Retry-After"))
		assert.Equal(t, http.StatusOK, b.Get(At(Good())).StatusCode, "a request that is not refused needs no fresh view")
	})
}

// TestReadYourWrites verifies that the cookie's index makes a page wait for the browser's
// own last command, but only briefly for an index that is never reached.
func TestReadYourWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		id := b.Session()
		for index, wait := range map[uint64]time.Duration{
			0: 0, 1: 0, 99999999: 100 * time.Millisecond, math.MaxUint64: 100 * time.Millisecond,
		} {
			b.SetSession(id, index)
			started := time.Now()
			assert.Equal(t, http.StatusOK, b.Get("/").StatusCode, index)
			assert.Equal(t, wait, time.Since(started), index)
		}
	})
}

// TestGarbageCookies verifies that a cookie that was not sealed here causes no wait and
// no fresh view. It is kept, since another server on the same host may have set it. For a
// sealed cookie, the index proves whether its session has ended.
func TestGarbageCookies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := NewEnv(t)
		b := w.SignedIn()
		id, sealed := b.Session(), b.Cookies["mintmark"]
		garbage := []string{
			"", "garbage", "garbage.900000", id + ".1", id, strings.Repeat("A", 128), sealed[:len(sealed)-1], sealed + "AAAA",
			Sealer{}.SealDevice(make([]byte, 56)), Sealer{}.SealSession(nil), Sealer{}.SealSession(make([]byte, 8)),
			Sealer{}.SealSession(bytes.Repeat([]byte{1}, 8)), Sealer{}.SealSession(make([]byte, 256)),
		}
		stranger, started := w.Browser(), time.Now()
		for _, value := range garbage {
			for _, target := range []string{"/", "/account", "/auth/sign-in", At(Good())} {
				stranger.Cookies["mintmark"] = value
				res := stranger.Get(target)
				assert.NotContains(t, res.Text, "Ada", "%q %s", value, target)
				assert.NotContains(t, strings.Join(res.Header["Set-Cookie"], "\n"), "mintmark=", "%q %s", value, target)
			}
		}
		assert.Zero(t, time.Since(started))
		assert.Zero(t, w.PacedViews.Load())

		assert.Equal(t, http.StatusSeeOther, b.Post("/auth/sign-out", b.Get("/").Form(t, "/auth/sign-out")).StatusCode)
		b.Cookies["mintmark"] = sealed
		assert.Equal(t, http.StatusSeeOther, b.Get("/").StatusCode)
		assert.Zero(t, w.PacedViews.Load(), "this node knows that the session has ended")
		b.SetSession(id, 99999999)
		assert.Equal(t, http.StatusSeeOther, b.Get("/").StatusCode)
		assert.EqualValues(t, 1, w.PacedViews.Load())
	})
}

// TestUnknownCookieKey covers a cookie under a key that this node doesn't have, while no
// leader responds.
func TestUnknownCookieKey(t *testing.T) {
	w := NewEnv(t, func(c *web.Config) { c.Sessions = noKeys{} })
	b := w.Browser()
	b.Cookies["mintmark"] = "under another key"
	assert.Equal(t, http.StatusServiceUnavailable, b.Get("/").StatusCode)
	assert.Contains(t, b.Cookies, "mintmark", "the cookie may be valid")
}

type noKeys struct{ Sealer }

func (noKeys) OpenSession(context.Context, string) ([]byte, error) { return nil, oauth.ErrUnavailable }

// TestSignInCarriesTheRequest verifies that the sign-in page continues with exactly the
// authorization request that was sent.
func TestSignInCarriesTheRequest(t *testing.T) {
	for name, query := range map[string]string{
		"good":           Good().Encode(),
		"unknown extras": Good().Encode() + "&foo=bar&empty",
		"odd bytes":      Good().Encode() + "&x=\x80\xff\"'<>",
		"another site":   Good().Encode() + "&next=//evil.example/%0d%0aLocation:%20https://evil.example",
	} {
		t.Run(name, func(t *testing.T) {
			w := NewEnv(t)
			b := w.Browser()
			page := b.Send("GET", "/auth/oauth2/authorize", nil, nil)
			require.Equal(t, http.StatusBadRequest, page.StatusCode)
			page = b.GetRaw("/auth/oauth2/authorize", query)
			require.Equal(t, http.StatusOK, page.StatusCode)
			location := b.SignIn(page, "ada", Password).Header.Get("Location")
			u, err := url.Parse(location)
			require.NoError(t, err)
			assert.Empty(t, u.Scheme+u.Host)
			assert.Equal(t, "/auth/oauth2/authorize", u.Path)
			assert.Empty(t, u.Fragment)
			want, bad := oauth.ParseAuthorizationRequest(query)
			require.Nil(t, bad)
			got, bad := oauth.ParseAuthorizationRequest(u.RawQuery)
			require.Nil(t, bad)
			assert.Equal(t, want, got)
		})
	}
}

func FuzzCarried(f *testing.F) {
	f.Add(Good().Encode())
	f.Add("a=b#c&d= \x00\r\n\xff")
	f.Fuzz(func(t *testing.T, query string) {
		got := site.EscapeQuery(query)
		for i := range len(got) {
			if got[i] <= ' ' || got[i] >= 0x7f || got[i] == '#' {
				t.Fatalf("%q is not valid in a header", got)
			}
		}
		if site.EscapeQuery(got) != got {
			t.Fatalf("%q is changed by escaping it again", got)
		}
		if len(got) > oauth.MaxQuery || len(query) > oauth.MaxQuery {
			return
		}
		a, badA := oauth.ParseAuthorizationRequest(query)
		b, badB := oauth.ParseAuthorizationRequest(got)
		if (badA == nil) != (badB == nil) {
			t.Fatalf("%q is parsed differently from %q", got, query)
		}
		assert.Equal(t, a, b)
	})
}

// TestFormAction: Chromium checks every redirect after a form against form-action,
// including later ones at the application. So the consent page has no form-action,
// whatever request it responds to, and the forms of all other pages lead to this server.
func TestFormAction(t *testing.T) {
	w := NewEnv(t)
	stranger, b := w.Browser(), w.SignedIn()
	page := stranger.Get(At(Good()))
	consent := b.Get(At(Good()))
	for name, res := range map[string]Answer{
		"consent":          consent,
		"consent, again":   b.Decide(consent, "neither"),
		"consent, changed": b.Post(AuthorizePath, With(consent.Form(t, AuthorizePath), "decision", "allow", "revision", "7")),
	} {
		assert.Contains(t, res.Text, "Allow The calendar app?", name)
		assert.NotContains(t, res.Header.Get("Content-Security-Policy"), "form-action", name)
		assert.Contains(t, res.Header.Get("Content-Security-Policy"), "default-src 'none'", name)
	}
	for name, res := range map[string]Answer{
		"sign-in":        page,
		"wrong password": stranger.SignIn(page, "ada", "wrong"),
		"sign-in alone":  stranger.Get("/auth/sign-in"),
		"account":        b.Get("/account"),
		"error":          b.Get(At(With(Good(), "client_id", "waiting"))),
	} {
		assert.Contains(t, res.Header.Get("Content-Security-Policy"), "; form-action 'self'", name)
	}
}

// TestErrorAfterSignIn verifies that an error for the application, directly after a
// sign-in, is shown on a page that leads to the application.
func TestErrorAfterSignIn(t *testing.T) {
	for name, request := range map[string]url.Values{
		"a web application": With(Good(), "scope", "openid"),
		"a private scheme":  With(Good(), "client_id", "native", "redirect_uri", "com.example.native:/cb", "code_challenge_method", "plain"),
	} {
		t.Run(name, func(t *testing.T) {
			w := NewEnv(t)
			b := w.Browser()
			res := b.SignIn(b.Get(At(request)), "ada", Password)
			require.Equal(t, http.StatusOK, res.StatusCode, res.Text)
			want := b.Get(At(request)).Header.Get("Location") // for a user who is signed in already
			require.Contains(t, want, request.Get("redirect_uri")+"?error=invalid_")
			assert.Equal(t, "0;url="+want, res.Header.Get("Refresh"))
			assert.Empty(t, res.Header.Get("Location"))
			assert.Contains(t, html.UnescapeString(res.Text), `<a class="button primary" href="`+want+`"`)
			assert.Contains(t, res.Header.Get("Content-Security-Policy"), "form-action 'self'")
		})
	}
	t.Run("what is told on a page of ours is told there", func(t *testing.T) {
		w := NewEnv(t)
		b := w.Browser()
		page := b.Get(At(Good()))
		w.Client("calendar", func(c *ledger.ImportClient) { c.State = ledger.Suspended })
		res := b.SignIn(page, "ada", Password)
		require.Equal(t, http.StatusSeeOther, res.StatusCode)
		require.Contains(t, b.Get(res.Header.Get("Location")).Text, "suspended")
	})
}

// TestRefusedAuthorizationCanBeFound verifies that a refusal is counted once, that the record
// of its request has the cause and the client, and that its page names the request and has an
// error id of the cause.
func TestRefusedAuthorizationCanBeFound(t *testing.T) {
	const id = "0123456789abcdef"
	for name, test := range map[string]struct {
		request url.Values
		client  string
		cause   ledger.Cause
		page    bool
	}{
		"another redirect URI":  {With(Good(), "redirect_uri", Callback+"/"), "calendar", ledger.RedirectURIUnregistered, true},
		"no redirect URI":       {With(Good(), "redirect_uri", ""), "calendar", ledger.RedirectURIMissing, true},
		"a suspended client":    {With(Good(), "client_id", "stopped"), "stopped", ledger.ClientSuspended, true},
		"a pending client":      {With(Good(), "client_id", "waiting"), "waiting", ledger.ClientPending, true},
		"an unknown client":     {With(Good(), "client_id", "nobody"), "", ledger.UnknownClient, true},
		"an unreadable request": {url.Values{"client_id": {"calendar", "native"}}, "", ledger.RequestMalformed, true},
		"an unknown scope":      {With(Good(), "scope", "openid"), "calendar", ledger.ScopeUnknown, false},
	} {
		t.Run(name, func(t *testing.T) {
			var counted []ledger.Cause
			w := NewEnv(t, func(c *web.Config) {
				c.Refused = func(cause ledger.Cause) { counted = append(counted, cause) }
				c.ErrorID = func(client string, r ledger.Refusal) string { return fmt.Sprintf("mme_%s_%d", client, r.Cause) }
			})
			b := w.SignedIn()
			record := &requestlog.Record{ID: id}
			res := b.Do(httptest.NewRequestWithContext(requestlog.With(t.Context(), record), http.MethodGet, At(test.request), nil), func(*http.Request) {})
			assert.Equal(t, []ledger.Cause{test.cause}, counted)
			assert.Equal(t, test.page, strings.Contains(res.Text, "<code>"+id+"</code>"), res.Text)
			assert.Equal(t, test.page, strings.Contains(res.Text, fmt.Sprintf("<code>mme_%s_%d</code>", test.client, test.cause)), res.Text)
			logged := map[string]string{}
			for _, a := range record.Attrs() {
				logged[a.Key] = a.Value.String()
			}
			assert.Equal(t, test.cause.String(), logged["cause"])
			assert.Equal(t, test.client, logged["client"])
		})
	}
	t.Run("nothing is refused", func(t *testing.T) {
		w := NewEnv(t, func(c *web.Config) { c.Refused = func(cause ledger.Cause) { t.Errorf("counted %v", cause) } })
		w.Browser().Get(At(Good()))
		w.SignedIn().Get(At(Good()))
	})
}

// TestErrorLeadsBack verifies that the page of a node that can't answer leads back to the request,
// and that of a wrong redirect URI to a sign-in for it, without repeating the request.
func TestErrorLeadsBack(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	page := b.Get(At(Good()))
	w.NoLeader = true
	failed := b.Decide(page, "allow")
	assert.Equal(t, http.StatusServiceUnavailable, failed.StatusCode)
	assert.Contains(t, failed.Text, "Nothing was shared with the app.")
	assert.Contains(t, failed.Text, `<a class="button primary" href="/auth/oauth2/authorize?`)
	w.NoLeader = false

	wrong := At(With(Good(), "redirect_uri", Callback+"/other"))
	stranger := w.Browser()
	link := signInLink.FindStringSubmatch(stranger.Get(wrong).Text)
	require.NotNil(t, link)
	in := stranger.SignIn(stranger.Get(html.UnescapeString(link[1])), "ada", Password).Header.Get("Location")
	assert.Contains(t, stranger.Get(in).Text, "<mark>/other</mark>", "the owner sees the difference")

	forged := w.Browser().Get("/auth/sign-in?request=" + url.QueryEscape("client_id=calendar"))
	assert.Empty(t, forged.Form(t, "/auth/sign-in").Get("next"))
}

var signInLink = regexp.MustCompile(`<a class="button" href="(/auth/sign-in\?request=[^"]*)">Sign in</a>`)
