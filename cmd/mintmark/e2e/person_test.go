package e2e

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An answer is a completely read HTTP response.
type answer struct {
	status int
	header http.Header
	body   string
}

func send(t testing.TB, c *http.Client, r *http.Request) answer {
	t.Helper()
	response, err := c.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return answer{response.StatusCode, response.Header, string(body)}
}

// A person reads pages, fills in their forms and keeps cookies, without a browser. It
// does not follow a redirect to another origin, which is the response to the application.
type person struct {
	t              testing.TB
	name, password string
	client         *http.Client
}

func newPerson(t testing.TB, name, password string) *person {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &person{t, name, password, &http.Client{
		Jar: jar, Timeout: 20 * time.Second,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.URL.Host != via[0].URL.Host {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}}
}

// signInWithoutBrowser creates a session.
func signInWithoutBrowser(t testing.TB, s *server, name, password string) *person {
	t.Helper()
	p := newPerson(t, name, password)
	at, err := url.Parse(s.AppURL)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.AppURL+"/auth/sign-in", nil)
	require.NoError(t, err)
	p.submit(at, send(t, p.client, r), "password", "username", name, "password", password)
	return p
}

func alice(t testing.TB) *person { return newPerson(t, "alice", "correct horse") }

// decide opens an authorization request, signs in if necessary, and presses a button of
// the consent page: "allow" or "cancel". It returns the redirect to the application.
func (p *person) decide(address, decision string) *url.URL {
	p.t.Helper()
	at, err := url.Parse(address)
	require.NoError(p.t, err)
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, address, nil)
	require.NoError(p.t, err)
	page := send(p.t, p.client, r)
	if strings.Contains(page.body, `name="password"`) {
		page = p.submit(at, page, "password", "username", p.name, "password", p.password)
	}
	if page.header.Get("Location") == "" {
		page = p.submit(at, page, "decision", "decision", decision)
	}
	to, err := url.Parse(page.header.Get("Location"))
	require.NoError(p.t, err)
	require.True(p.t, to.IsAbs(), "%s ended at a page: %s", address, page.body)
	return to
}

// submit posts the form that has a button or field of that name, with its hidden fields
// and pairs of name and value.
func (p *person) submit(at *url.URL, page answer, holding string, fill ...string) answer {
	p.t.Helper()
	action, fields := formOf(p.t, page.body, holding)
	for i := 0; i+1 < len(fill); i += 2 {
		fields.Set(fill[i], fill[i+1])
	}
	to, err := at.Parse(action)
	require.NoError(p.t, err)
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, to.String(), strings.NewReader(fields.Encode()))
	require.NoError(p.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", at.Scheme+"://"+at.Host)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return send(p.t, p.client, r)
}

var (
	forms  = regexp.MustCompile(`(?s)<form[^>]*action="([^"]*)"[^>]*>(.*?)</form>`)
	inputs = regexp.MustCompile(`<input[^>]*type="hidden"[^>]*>`)
	attrs  = regexp.MustCompile(`([a-z-]+)="([^"]*)"`)
)

func formOf(t testing.TB, page, holding string) (action string, fields url.Values) {
	t.Helper()
	for _, form := range forms.FindAllStringSubmatch(page, -1) {
		if !strings.Contains(form[2], fmt.Sprintf("name=%q", holding)) {
			continue
		}
		fields = url.Values{}
		for _, input := range inputs.FindAllString(form[2], -1) {
			a := map[string]string{}
			for _, pair := range attrs.FindAllStringSubmatch(input, -1) {
				a[pair[1]] = html.UnescapeString(pair[2])
			}
			fields.Set(a["name"], a["value"])
		}
		return html.UnescapeString(form[1]), fields
	}
	require.Fail(t, "no form", "that holds %q in %s", holding, page)
	return "", nil
}
