package web_test

import (
	"html"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

// lengthened returns an authorization request with a long state, shorter than the maximum
// by less bytes.
func lengthened(letters string, less int, pairs ...string) string {
	random := rand.New(rand.NewPCG(1, uint64(len(letters))))
	query := with(good(), append(pairs, "state", "")...).Encode() + "&state="
	var b strings.Builder
	b.WriteString(query)
	for b.Len() < oauth.MaxQuery-less {
		b.WriteByte(letters[random.IntN(len(letters))])
	}
	return "/auth/oauth2/authorize?" + b.String()
}

// read reads the body of a response that may exceed the usual size of a page, since it
// contains a long request.
func (a answer) read(t *testing.T) answer {
	t.Helper()
	text, err := io.ReadAll(a.Body)
	require.NoError(t, err)
	a.body = string(text)
	return a
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
		"short":                      {at(good()), false},
		"the longest link":           {lengthened(base64, oauth.MaxQuery-1200), false},
		"one too long for it":        {lengthened(base64, oauth.MaxQuery-1201), true},
		"the longest":                {lengthened(base64, 0), true},
		"of escapes":                 {lengthened("/", 5400) + strings.Repeat("%2F", 1000), true},
		"of odd letters":             {lengthened("\"\\,;'<>`{}|/?:@!$()*~"+base64, 5000), true},
		"of what JSON writes longer": {lengthened("\"\\", oauth.MaxQuery-1200), true},
	} {
		t.Run(name, func(t *testing.T) {
			w, p := newUpstreamEnv(t)
			b := w.browser()
			b.get("/auth/sign-in") // sets the cookie of its forms
			page := answer{b.serve(httptest.NewRequest(http.MethodGet, test.request, nil)).Result(), ""}.read(t)
			require.Contains(t, page.body, "The calendar app")
			assert.Empty(t, page.Cookies())
			assert.Empty(t, b.attemptCookies(), "an attempt was stored before the link was followed")
			assert.Len(t, b.cookies, 1, "only the cookie of the form")
			link := page.upstreamLink(t)
			assert.Less(t, len(link), 4000)
			going := page.continues()
			assert.Equal(t, test.long, going != "")

			res := b.get(link)
			require.Equal(t, http.StatusSeeOther, res.StatusCode, res.body)
			assert.Less(t, len(res.Header.Get("Location"))+b.attemptBytes(), 3300, "the headers of a response must be bounded")
			assert.LessOrEqual(t, b.attemptBytes(), 4000)
			back := web.PathUpstreamCallback + "?" + p.SignIn(res.Header.Get("Location"), "1").Encode()
			res = b.get(back)
			require.Equal(t, http.StatusSeeOther, res.StatusCode, res.body)
			if test.long {
				home := res.Header.Get("Location")
				require.Regexp(t, `^/\?done=`, home, "in the other tab")
				const waits = "You are signed in. Go back to the other tab to go on to the application."
				require.Contains(t, b.get(home).body, waits)
				require.Equal(t, home, b.get(back).Header.Get("Location"), "the back button")
				require.Equal(t, home, b.get(link).Header.Get("Location"), "the link again")
				require.NotContains(t, b.get("/").body, waits)
			} else {
				going = res.Header.Get("Location")
				require.Equal(t, going, b.get(back).Header.Get("Location"), "the back button")
			}
			require.Equal(t, asked(t, test.request), asked(t, going))

			// The page's form contains the request, and can be sent.
			form := answer{b.serve(httptest.NewRequest(http.MethodGet, test.request, nil)).Result(), ""}.read(t).form(t, "/auth/oauth2/authorize")
			form.Set("decision", "allow")
			require.True(t, strings.HasPrefix(b.post("/auth/oauth2/authorize", form).Header.Get("Location"), callback+"?code="))
		})
	}
}

// TestOtherTabWaitsForASecondTry verifies that the page after a second attempt still
// reports that the application waits in another tab.
func TestOtherTabWaitsForASecondTry(t *testing.T) {
	w, p := newUpstreamEnv(t)
	b := w.browser()
	b.get("/auth/sign-in")
	page := answer{b.serve(httptest.NewRequest(http.MethodGet, lengthened("abc", 0), nil)).Result(), ""}.read(t)
	res := b.get(page.upstreamLink(t))
	going, err := url.Parse(res.Header.Get("Location"))
	require.NoError(t, err)
	refused := b.get(web.PathUpstreamCallback + "?" + url.Values{"state": {going.Query().Get("state")}, "error": {"access_denied"}, "iss": {p.URL}}.Encode())
	require.Equal(t, http.StatusForbidden, refused.StatusCode, refused.body)
	res = b.get(b.goUpstream(refused, p, "1"))
	require.Contains(t, res.Header.Get("Location"), "/?done=waits.")
	require.Contains(t, b.get(res.Header.Get("Location")).body, "Go back to the other tab")
}

var continueLink = regexp.MustCompile(`<a href="([^"]*)">I have signed in, go on</a>`)

// continues returns the link of a page for a user who has signed in in another tab.
func (a answer) continues() string {
	m := continueLink.FindStringSubmatch(a.body)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}

// asked parses the request in an address, since links on pages escape more of it.
func asked(t *testing.T, address string) oauth.AuthorizationRequest {
	t.Helper()
	path, query, _ := strings.Cut(address, "?")
	require.Equal(t, authorizePath, path)
	r, bad := oauth.ParseAuthorizationRequest(query)
	require.Nil(t, bad)
	return r
}
