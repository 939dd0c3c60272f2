package web_test

import (
	"encoding/binary"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A browser stores cookies and follows no redirects.
type browser struct {
	env     *env
	cookies map[string]string
	userID  string // "" if nobody is signed in
	address string
	header  http.Header // sent with every request
}

func (w *env) browser() *browser {
	return &browser{env: w, cookies: map[string]string{}, address: "192.0.2.1", header: http.Header{}}
}

// An answer is a response with its body.
type answer struct {
	*http.Response
	body string
}

func (b *browser) send(method, target string, body io.Reader, header http.Header) answer {
	b.env.t.Helper()
	return b.do(httptest.NewRequest(method, target, body), func(r *http.Request) {
		for name, values := range header {
			r.Header[name] = values
		}
	})
}

func (b *browser) do(r *http.Request, change func(*http.Request)) answer {
	b.env.t.Helper()
	for name, values := range b.header {
		r.Header[name] = values
	}
	r.Header.Set("Test-Address", b.address)
	change(r)
	res := b.serve(r).Result()
	for _, c := range res.Cookies() {
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		} else {
			b.cookies[c.Name] = c.Value
		}
	}
	text, err := io.ReadAll(res.Body)
	require.NoError(b.env.t, err)
	a := answer{res, string(text)}
	if len(text) > 0 && strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		checkPage(b.env.t, a)
	}
	return a
}

// serve sends a request with the browser's cookies.
func (b *browser) serve(r *http.Request) *httptest.ResponseRecorder {
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	rec := httptest.NewRecorder()
	b.env.handler.ServeHTTP(rec, r)
	return rec
}

func (b *browser) get(target string) answer {
	b.env.t.Helper()
	return b.send(http.MethodGet, target, nil, http.Header{"Sec-Fetch-Site": {"cross-site"}})
}

func (b *browser) post(target string, form url.Values) answer {
	b.env.t.Helper()
	return b.send(http.MethodPost, target, strings.NewReader(form.Encode()), http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"},
	})
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`)

// form returns what the page's form for an action would send.
func (a answer) form(t testing.TB, action string) url.Values {
	t.Helper()
	_, rest, found := strings.Cut(a.body, `<form method="post" action="`+action+`"`)
	require.True(t, found, "no form for %s in %d %s", action, a.StatusCode, a.body)
	rest, _, _ = strings.Cut(rest, "</form>")
	values := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(rest, -1) {
		values.Set(m[1], html.UnescapeString(m[2]))
	}
	return values
}

// signIn submits the sign-in form of a page.
func (b *browser) signIn(page answer, username, password string) answer {
	b.env.t.Helper()
	form := page.form(b.env.t, "/auth/sign-in")
	form.Set("username", username)
	form.Set("password", password)
	return b.post("/auth/sign-in", form)
}

// signedIn returns a browser in which Ada is signed in.
func (w *env) signedIn() *browser {
	w.t.Helper()
	return w.signedInAs("ada")
}

func (w *env) signedInAs(username string) *browser {
	w.t.Helper()
	b := w.browser()
	res := b.signIn(b.get("/auth/sign-in"), username, password)
	require.Equal(w.t, http.StatusSeeOther, res.StatusCode, res.body)
	b.userID = w.View().UserByName(username).ID
	return b
}

// session returns the id of the browser's session.
func (b *browser) session() string {
	id, _ := b.sessionCookie()
	return id
}

// sessionCookie returns the session id and the index in the browser's cookie.
func (b *browser) sessionCookie() (id string, index uint64) {
	plain, err := sealer{}.OpenSession(b.env.t.Context(), b.cookies["mintmark"])
	if err != nil {
		return "", 0
	}
	return string(plain[8:]), binary.BigEndian.Uint64(plain)
}

// setSession sets the browser's session cookie.
func (b *browser) setSession(id string, index uint64) {
	b.cookies["mintmark"] = sealer{}.SealSession(append(binary.BigEndian.AppendUint64(nil, index), id...))
}

// decide presses a button of a consent page.
func (b *browser) decide(page answer, decision string) answer {
	b.env.t.Helper()
	require.Equal(b.env.t, http.StatusOK, page.StatusCode, page.body)
	form := page.form(b.env.t, "/auth/oauth2/authorize")
	form.Set("decision", decision)
	return b.post("/auth/oauth2/authorize", form)
}

// good returns the "good request" of the conformance statements.
func good() url.Values {
	return url.Values{
		"client_id": {"calendar"}, "redirect_uri": {callback}, "state": {"xyz"}, "scope": {"BOOKING_READ BOOKING_WRITE"},
		"response_type": {"code"}, "code_challenge": {challenge}, "code_challenge_method": {"S256"},
	}
}

// with changes parameters: pairs alternates names and values, and an empty value removes
// a parameter.
func with(v url.Values, pairs ...string) url.Values {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			v.Del(pairs[i])
		} else {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	return v
}

func at(v url.Values) string { return "/auth/oauth2/authorize?" + v.Encode() }

// location returns the query of a redirect to a redirect URI.
func (a answer) location(t testing.TB, uri string) url.Values {
	t.Helper()
	require.Equal(t, http.StatusSeeOther, a.StatusCode, a.body)
	query, found := strings.CutPrefix(a.Header.Get("Location"), uri+"?")
	require.True(t, found, "redirected to %s", a.Header.Get("Location"))
	require.NotContains(t, query, "#")
	values, err := url.ParseQuery(query)
	require.NoError(t, err)
	return values
}

// getRaw sends a query with arbitrary bytes.
func (b *browser) getRaw(path, query string) answer {
	b.env.t.Helper()
	return b.do(httptest.NewRequest(http.MethodGet, path, nil), func(r *http.Request) { r.URL.RawQuery = query })
}
