package web_test

import (
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

// A node that lags looks once more before it refuses.
func TestAuthorizeOnALaggingNode(t *testing.T) {
	for _, test := range []struct {
		name    string
		request url.Values
		change  func(*world) // after the node stopped applying
	}{
		{"a client it has not heard of", with(good(), "client_id", "new"), func(w *world) { w.client("new", nil) }},
		{"a client that was approved", with(good(), "client_id", "waiting"), func(w *world) {
			w.client("waiting", func(c *ledger.ImportClient) { c.State = ledger.Approved })
		}},
		{"a client that was resumed", with(good(), "client_id", "stopped"), func(w *world) {
			w.client("stopped", func(c *ledger.ImportClient) { c.State = ledger.Approved })
		}},
		{"a new redirection URI", with(good(), "redirect_uri", callback+"2"), func(w *world) {
			w.client("calendar", func(c *ledger.ImportClient) {
				c.Profile.RedirectURIs = append(c.Profile.RedirectURIs, callback+"2")
			})
		}},
		{"a new scope", with(good(), "scope", "PROFILE_READ"), func(w *world) {
			w.client("calendar", func(c *ledger.ImportClient) { c.Profile.Scopes = []string{"PROFILE_READ"} })
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			b := w.signedIn()
			w.lag()
			test.change(w)
			page := b.get(at(test.request))
			require.Equal(t, http.StatusOK, page.StatusCode, page.body)
			b.decide(page, "allow").location(t, test.request.Get("redirect_uri"))
		})
	}
	t.Run("a session that began elsewhere", func(t *testing.T) {
		w := newWorld(t)
		w.lag()
		page := w.signedIn().get(at(good()))
		assert.Contains(t, page.body, "Allow The calendar app?")
	})
	t.Run("where nothing fresh can be had, no application is turned away", func(t *testing.T) {
		w := newWorld(t)
		b := w.signedIn()
		w.down = true
		res := b.get(at(with(good(), "client_id", "waiting")))
		assert.Equal(t, http.StatusServiceUnavailable, res.StatusCode)
		assert.NotEmpty(t, res.Header.Get("Retry-After"))
		assert.Equal(t, http.StatusOK, b.get(at(good())).StatusCode, "what needs no second look is shown")
	})
}

// The cookie's index makes a page wait for the browser's own last command, and
// not for longer than a moment for one that never comes.
func TestReadYourWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		b := w.signedIn()
		id, _, _ := cutLast(b.cookies["mintmark"])
		for index, wait := range map[string]time.Duration{
			"1": 0, "99999999": time.Second, "18446744073709551615": time.Second,
			"99999999999999999999": 0, "-1": 0, "": 0, "x": 0,
		} {
			b.cookies["mintmark"] = id + "." + index
			started := time.Now()
			assert.Equal(t, http.StatusOK, b.get("/").StatusCode, index)
			assert.Equal(t, wait, time.Since(started), index)
		}
	})
}

func cutLast(s string) (before, after string, found bool) {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '.' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// The sign-in page in the place of the authorization step goes on with the
// request as it was sent, and with nothing else.
func TestSignInCarriesTheRequest(t *testing.T) {
	for name, query := range map[string]string{
		"good":            good().Encode(),
		"unknown extras":  good().Encode() + "&foo=bar&empty",
		"a repeated name": good().Encode() + "&scope=TEAM_BOOKING_READ",
		"odd bytes":       good().Encode() + "&x=\x80\xff\"'<>",
		"another site":    good().Encode() + "&next=//evil.example/%0d%0aLocation:%20https://evil.example",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			b := w.browser()
			page := b.send("GET", "/auth/oauth2/authorize", nil, nil)
			require.Equal(t, http.StatusBadRequest, page.StatusCode)
			page = b.getRaw("/auth/oauth2/authorize", query)
			require.Equal(t, http.StatusOK, page.StatusCode)
			location := b.signIn(page, "ada", password).Header.Get("Location")
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
	f.Add(good().Encode())
	f.Add("a=b#c&d= \x00\r\n\xff")
	f.Fuzz(func(t *testing.T, query string) {
		got := web.Carried(query)
		for i := range len(got) {
			if got[i] <= ' ' || got[i] >= 0x7f || got[i] == '#' {
				t.Fatalf("%q may not stand in a header", got)
			}
		}
		if web.Carried(got) != got {
			t.Fatalf("%q is changed again", got)
		}
		if len(got) > oauth.MaxQuery || len(query) > oauth.MaxQuery {
			return
		}
		a, badA := oauth.ParseAuthorizationRequest(query)
		b, badB := oauth.ParseAuthorizationRequest(got)
		if (badA == nil) != (badB == nil) {
			t.Fatalf("%q is read differently than %q", got, query)
		}
		assert.Equal(t, a, b)
	})
}

// The pages before a redirect let their forms end there, and nowhere else.
func TestFormAction(t *testing.T) {
	w := newWorld(t)
	for i, test := range []struct{ uri, source string }{
		{"https://app.example.com/cb", " https://app.example.com;"},
		{"https://app.example.com:8443/cb?x=1", " https://app.example.com:8443;"},
		{"http://localhost:3000/cb", " http://localhost:3000;"},
		{"http://127.0.0.1:3000/cb", " http://127.0.0.1:3000;"},
		{"http://[::1]:3000/cb", " http:;"},
		{"com.example.app:/cb", " com.example.app:;"},
		{"https://a;script-src 'unsafe-inline'/cb", ""}, // can't be registered
		{"https://a;b.example/cb", ";"},
		{"https://a,b.example/cb", ";"},
		{"https://a'b.example/cb", ";"},
	} {
		t.Run(test.uri, func(t *testing.T) {
			id := "c" + string(rune('a'+i))
			client := &ledger.ImportClient{ID: id, Owner: "u-ada", Type: ledger.Public, State: ledger.Approved, Profile: ledger.Profile{
				Name: "x", RedirectURIs: []string{test.uri}, Scopes: []string{"BOOKING_READ"},
			}}
			switch test.source {
			case "":
				require.NotNil(t, w.do(client).Refusal)
				return
			case ";": // nor can they any more
				require.NotNil(t, w.do(client).Refusal)
				w.longAgo(client)
			default:
				w.must(client)
			}
			request := with(good(), "client_id", id, "redirect_uri", test.uri, "scope", "BOOKING_READ")
			stranger := w.browser()
			page := stranger.get(at(request))
			for name, res := range map[string]answer{
				"sign-in":        page,
				"wrong password": stranger.signIn(page, "ada", "wrong"),
				"consent":        w.signedIn().get(at(request)),
			} {
				assert.Contains(t, res.Header.Get("Content-Security-Policy"), "form-action 'self'"+test.source, name)
			}
		})
	}
	assert.Contains(t, w.browser().get("/auth/sign-in").Header.Get("Content-Security-Policy"), "form-action 'self';")
}
