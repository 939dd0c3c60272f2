package web_test

import (
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/issuer/web"
)

// lengthened is an authorization request with a state of some letters, as long as
// the authorization step takes one, less some bytes.
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

// read has the body of an answer that weighs more than a page does, as it carries
// as much.
func (a answer) read(t *testing.T) answer {
	t.Helper()
	text, err := io.ReadAll(a.Body)
	require.NoError(t, err)
	a.body = string(text)
	return a
}

// TestElsewhereTakesEveryRequest: whatever the authorization step takes comes
// back from the provider as it was, up to its longest.
func TestElsewhereTakesEveryRequest(t *testing.T) {
	const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for name, request := range map[string]string{
		"short":               at(good()),
		"the longest link":    lengthened(base64, oauth.MaxQuery-1200),
		"one too long for it": lengthened(base64, oauth.MaxQuery-1201),
		"of one cookie":       lengthened(base64, oauth.MaxQuery-3000),
		"the longest":         lengthened(base64, 0),
		"of escapes":          lengthened("/", 5400) + strings.Repeat("%2F", 1000),
		"of odd letters":      lengthened("\"\\,;'<>`{}|/?:@!$()*~"+base64, 0),
		"of one odd letter":   lengthened("|", 0),
	} {
		t.Run(name, func(t *testing.T) {
			w, p := elsewhere(t)
			b := w.browser()
			page := b.get(request)
			require.Contains(t, page.body, "The calendar app")
			link := page.elsewhere(t)
			assert.Less(t, len(link), 4000)
			res := b.get(link)
			require.Equal(t, http.StatusSeeOther, res.StatusCode, res.body)
			sent := 0
			for name, value := range b.cookies {
				assert.LessOrEqual(t, len(name)+len(value), 4000)
				sent += len(name) + len(value)
			}
			assert.Less(t, sent, 13_000, "the headers of a request are bounded")
			back := web.PathUpstreamCallback + "?" + p.SignIn(res.Header.Get("Location"), "1").Encode()
			res = b.get(back)
			require.Equal(t, http.StatusSeeOther, res.StatusCode, res.body)
			require.Equal(t, request, res.Header.Get("Location"))
			require.Equal(t, request, b.get(back).Header.Get("Location"), "the back button")

			// What the page carries is as long, and can be sent.
			form := answer{b.serve(httptest.NewRequest(http.MethodGet, request, nil)).Result(), ""}.read(t).form(t, "/auth/oauth2/authorize")
			form.Set("decision", "allow")
			require.True(t, strings.HasPrefix(b.post("/auth/oauth2/authorize", form).Header.Get("Location"), callback+"?code="))
		})
	}
}

// TestElsewhereKeepsOneLongRequest: the last one counts, and nobody is led to
// another than they began with.
func TestElsewhereKeepsOneLongRequest(t *testing.T) {
	w, p := elsewhere(t)
	b := w.browser()
	first, second := lengthened("ab", 0), lengthened("cde", 4000)
	page, short := b.get(first), b.get(at(good()))
	firstBack := b.goElsewhere(page, p, "1")
	shortBack := b.goElsewhere(short, p, "1")
	secondBack := b.goElsewhere(b.get(second), p, "1")

	require.Equal(t, http.StatusForbidden, b.get(page.elsewhere(t)).StatusCode, "its request is not kept any more")
	res := b.get(firstBack)
	require.Equal(t, http.StatusBadRequest, res.StatusCode)
	require.Contains(t, res.body, "You are signed in now.")
	require.NotEmpty(t, b.session())
	require.Equal(t, second, b.get(secondBack).Header.Get("Location"))
	require.Equal(t, at(good()), b.get(shortBack).Header.Get("Location"))

	// A browser that changes what it keeps is led nowhere.
	b = w.browser()
	back := b.goElsewhere(b.get(first), p, "1")
	query, err := url.Parse(back)
	require.NoError(t, err)
	for _, value := range []string{"", "x", "!", b.cookies["mintmark-request-0"] + "AAAA", b.cookies["mintmark-request-0"][:50]} {
		b.cookies["mintmark-request-0"] = value
		delete(b.cookies, "mintmark")
		res := b.get(query.String())
		require.Contains(t, []int{400, 502}, res.StatusCode)
		require.Empty(t, res.Header.Get("Location"))
	}
}
