package signin_test

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

// lengthened returns an authorization request with a long state, shorter than the maximum
// by less bytes.
func lengthened(letters string, less int, pairs ...string) string {
	random := rand.New(rand.NewPCG(1, uint64(len(letters))))
	query := With(Good(), append(pairs, "state", "")...).Encode() + "&state="
	var b strings.Builder
	b.WriteString(query)
	for b.Len() < oauth.MaxQuery-less {
		b.WriteByte(letters[random.IntN(len(letters))])
	}
	return "/auth/oauth2/authorize?" + b.String()
}

// TestElsewhereTakesEveryRequest verifies that every request that the authorization step
// accepts continues unchanged after a sign-in at the provider. A long one stays in its
// page, and enlarges no cookie and no header.
func TestElsewhereTakesEveryRequest(t *testing.T) {
	const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for name, test := range map[string]struct {
		request string
		long    bool
	}{
		"short":                      {At(Good()), false},
		"the longest link":           {lengthened(base64, oauth.MaxQuery-1200), false},
		"one too long for it":        {lengthened(base64, oauth.MaxQuery-1201), true},
		"the longest":                {lengthened(base64, 0), true},
		"of escapes":                 {lengthened("/", 5400) + strings.Repeat("%2F", 1000), true},
		"of odd letters":             {lengthened("\"\\,;'<>`{}|/?:@!$()*~"+base64, 5000), true},
		"of what JSON writes longer": {lengthened("\"\\", oauth.MaxQuery-1200), true},
	} {
		t.Run(name, func(t *testing.T) {
			w, p := NewUpstreamEnv(t)
			b := w.Browser()
			b.Get("/auth/sign-in") // sets the cookie of its forms
			page := Answer{Response: b.Serve(httptest.NewRequest(http.MethodGet, test.request, nil)).Result(), Text: ""}.Read(t)
			require.Contains(t, page.Text, "The calendar app")
			assert.Empty(t, page.Cookies())
			assert.Empty(t, b.AttemptCookies(), "an attempt was stored before the link was followed")
			assert.Len(t, b.Cookies, 1, "only the cookie of the form")
			link := page.UpstreamLink(t)
			assert.Less(t, len(link), 4000)
			going := page.Continues()
			assert.Equal(t, test.long, going != "")

			res := b.Get(link)
			require.Equal(t, http.StatusSeeOther, res.StatusCode, res.Text)
			assert.Less(t, len(res.Header.Get("Location"))+b.AttemptBytes(), 3300, "the headers of a response must be bounded")
			assert.LessOrEqual(t, b.AttemptBytes(), 4000)
			back := authn.PathUpstreamCallback + "?" + p.SignIn(res.Header.Get("Location"), "1").Encode()
			res = b.Get(back)
			require.Equal(t, http.StatusSeeOther, res.StatusCode, res.Text)
			if test.long {
				home := res.Header.Get("Location")
				require.Regexp(t, `^/\?done=`, home, "in the other tab")
				const waits = "You are signed in. Go back to the other tab to go on to the application."
				require.Contains(t, b.Get(home).Text, waits)
				require.Equal(t, home, b.Get(back).Header.Get("Location"), "the back button")
				require.Equal(t, home, b.Get(link).Header.Get("Location"), "the link again")
				require.NotContains(t, b.Get("/").Text, waits)
			} else {
				going = res.Header.Get("Location")
				require.Equal(t, going, b.Get(back).Header.Get("Location"), "the back button")
			}
			require.Equal(t, asked(t, test.request), asked(t, going))

			// The page's form contains the request, and can be sent.
			form := Answer{Response: b.Serve(httptest.NewRequest(http.MethodGet, test.request, nil)).Result(), Text: ""}.Read(t).Form(t, "/auth/oauth2/authorize")
			form.Set("decision", "allow")
			require.True(t, strings.HasPrefix(b.Post("/auth/oauth2/authorize", form).Header.Get("Location"), Callback+"?code="))
		})
	}
}

// TestOtherTabWaitsForASecondTry verifies that the page after a second attempt still
// reports that the application waits in another tab.
func TestOtherTabWaitsForASecondTry(t *testing.T) {
	w, p := NewUpstreamEnv(t)
	b := w.Browser()
	b.Get("/auth/sign-in")
	page := Answer{Response: b.Serve(httptest.NewRequest(http.MethodGet, lengthened("abc", 0), nil)).Result(), Text: ""}.Read(t)
	res := b.Get(page.UpstreamLink(t))
	going, err := url.Parse(res.Header.Get("Location"))
	require.NoError(t, err)
	refused := b.Get(authn.PathUpstreamCallback + "?" + url.Values{"state": {going.Query().Get("state")}, "error": {"access_denied"}, "iss": {p.URL}}.Encode())
	require.Equal(t, http.StatusForbidden, refused.StatusCode, refused.Text)
	res = b.Get(b.GoUpstream(refused, p, "1"))
	require.Contains(t, res.Header.Get("Location"), "/?done=waits.")
	require.Contains(t, b.Get(res.Header.Get("Location")).Text, "Go back to the other tab")
}

// asked parses the request in an address, since links on pages escape more of it.
func asked(t *testing.T, address string) oauth.AuthorizationRequest {
	t.Helper()
	path, query, _ := strings.Cut(address, "?")
	require.Equal(t, AuthorizePath, path)
	r, bad := oauth.ParseAuthorizationRequest(query)
	require.Nil(t, bad)
	return r
}
