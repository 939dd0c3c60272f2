package webtest

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

// A Browser stores cookies and follows no redirects.
type Browser struct {
	Env     *Env
	Cookies map[string]string
	UserID  string // "" if nobody is signed in
	Address string
	Header  http.Header // sent with every request
}

func (w *Env) Browser() *Browser {
	return &Browser{Env: w, Cookies: map[string]string{}, Address: "192.0.2.1", Header: http.Header{}}
}

// An Answer is a response with its body.
type Answer struct {
	*http.Response
	Text string
}

func (b *Browser) Send(method, target string, body io.Reader, header http.Header) Answer {
	b.Env.T.Helper()
	return b.Do(httptest.NewRequest(method, target, body), func(r *http.Request) {
		for name, values := range header {
			r.Header[name] = values
		}
	})
}

func (b *Browser) Do(r *http.Request, change func(*http.Request)) Answer {
	b.Env.T.Helper()
	for name, values := range b.Header {
		r.Header[name] = values
	}
	r.Header.Set("Test-Address", b.Address)
	change(r)
	res := b.Serve(r).Result()
	for _, c := range res.Cookies() {
		if c.MaxAge < 0 {
			delete(b.Cookies, c.Name)
		} else {
			b.Cookies[c.Name] = c.Value
		}
	}
	text, err := io.ReadAll(res.Body)
	require.NoError(b.Env.T, err)
	a := Answer{res, string(text)}
	if len(text) > 0 && strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
		checkPage(b.Env.T, a)
	}
	return a
}

// Serve sends a request with the browser's cookies.
func (b *Browser) Serve(r *http.Request) *httptest.ResponseRecorder {
	for name, value := range b.Cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	rec := httptest.NewRecorder()
	b.Env.Handler.ServeHTTP(rec, r)
	return rec
}

func (b *Browser) Get(target string) Answer {
	b.Env.T.Helper()
	return b.Send(http.MethodGet, target, nil, http.Header{"Sec-Fetch-Site": {"cross-site"}})
}

func (b *Browser) Post(target string, form url.Values) Answer {
	b.Env.T.Helper()
	return b.Send(http.MethodPost, target, strings.NewReader(form.Encode()), http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"},
	})
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`)

// Form returns what the page's form for an action would send.
func (a Answer) Form(t testing.TB, action string) url.Values {
	t.Helper()
	_, rest, found := strings.Cut(a.Text, `<form method="post" action="`+action+`"`)
	require.True(t, found, "no form for %s in %d %s", action, a.StatusCode, a.Text)
	rest, _, _ = strings.Cut(rest, "</form>")
	values := url.Values{}
	for _, m := range hidden.FindAllStringSubmatch(rest, -1) {
		values.Set(m[1], html.UnescapeString(m[2]))
	}
	return values
}

// SignIn submits the sign-in form of a page.
func (b *Browser) SignIn(page Answer, username, password string) Answer {
	b.Env.T.Helper()
	form := page.Form(b.Env.T, "/auth/sign-in")
	form.Set("username", username)
	form.Set("password", password)
	return b.Post("/auth/sign-in", form)
}

// SignedIn returns a browser in which Ada is signed in.
func (w *Env) SignedIn() *Browser {
	w.T.Helper()
	return w.SignedInAs("ada")
}

func (w *Env) SignedInAs(username string) *Browser {
	w.T.Helper()
	return w.SignedInFrom(w.Browser(), username)
}

// SignedInFrom signs a user in with a browser.
func (w *Env) SignedInFrom(b *Browser, username string) *Browser {
	w.T.Helper()
	res := b.SignIn(b.Get("/auth/sign-in"), username, Password)
	require.Equal(w.T, http.StatusSeeOther, res.StatusCode, res.Text)
	b.UserID = w.View().UserByName(username).ID
	return b
}

// Session returns the id of the browser's session.
func (b *Browser) Session() string {
	id, _ := b.SessionCookie()
	return id
}

// SessionCookie returns the session id and the index in the browser's cookie.
func (b *Browser) SessionCookie() (id string, index uint64) {
	plain, err := Sealer{}.OpenSession(b.Env.T.Context(), b.Cookies["mintmark"])
	if err != nil {
		return "", 0
	}
	return string(plain[8:]), binary.BigEndian.Uint64(plain)
}

// SetSession sets the browser's session cookie.
func (b *Browser) SetSession(id string, index uint64) {
	b.Cookies["mintmark"] = Sealer{}.SealSession(append(binary.BigEndian.AppendUint64(nil, index), id...))
}

// Decide presses a button of a consent page.
func (b *Browser) Decide(page Answer, decision string) Answer {
	b.Env.T.Helper()
	require.Equal(b.Env.T, http.StatusOK, page.StatusCode, page.Text)
	form := page.Form(b.Env.T, "/auth/oauth2/authorize")
	form.Set("decision", decision)
	return b.Post("/auth/oauth2/authorize", form)
}

// Good returns the "good request" of the conformance statements.
func Good() url.Values {
	return url.Values{
		"client_id": {"calendar"}, "redirect_uri": {Callback}, "state": {"xyz"}, "scope": {"BOOKING_READ BOOKING_WRITE"},
		"response_type": {"code"}, "code_challenge": {Challenge}, "code_challenge_method": {"S256"},
	}
}

// With changes parameters: pairs alternates names and values, and an empty value removes
// a parameter.
func With(v url.Values, pairs ...string) url.Values {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			v.Del(pairs[i])
		} else {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	return v
}

func At(v url.Values) string { return "/auth/oauth2/authorize?" + v.Encode() }

// Location returns the query of a redirect to a redirect URI.
func (a Answer) Location(t testing.TB, uri string) url.Values {
	t.Helper()
	require.Equal(t, http.StatusSeeOther, a.StatusCode, a.Text)
	query, found := strings.CutPrefix(a.Header.Get("Location"), uri+"?")
	require.True(t, found, "redirected to %s", a.Header.Get("Location"))
	require.NotContains(t, query, "#")
	values, err := url.ParseQuery(query)
	require.NoError(t, err)
	return values
}

// GetRaw sends a query with arbitrary bytes.
func (b *Browser) GetRaw(path, query string) Answer {
	b.Env.T.Helper()
	return b.Do(httptest.NewRequest(http.MethodGet, path, nil), func(r *http.Request) { r.URL.RawQuery = query })
}
