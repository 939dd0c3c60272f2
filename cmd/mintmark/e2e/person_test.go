package e2e

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

type answer = testkit.Answer

func send(t testing.TB, c *http.Client, r *http.Request) answer {
	t.Helper()
	a, err := testkit.Send(c, r)
	require.NoError(t, err)
	return a
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
	if strings.Contains(page.Body, `name="password"`) {
		page = p.submit(at, page, "password", "username", p.name, "password", p.password)
	}
	if page.Header.Get("Location") == "" {
		page = p.submit(at, page, "decision", "decision", decision)
	}
	to, err := url.Parse(page.Header.Get("Location"))
	require.NoError(p.t, err)
	require.True(p.t, to.IsAbs(), "%s ended at a page: %s", address, page.Body)
	return to
}

// submit posts the form that has a button or field of that name, with its hidden fields
// and pairs of name and value.
func (p *person) submit(at *url.URL, page answer, holding string, fill ...string) answer {
	p.t.Helper()
	action, fields, found := testkit.Form(page.Body, holding)
	require.True(p.t, found, "no form holds %q in %s", holding, page.Body)
	for i := 0; i+1 < len(fill); i += 2 {
		fields.Set(fill[i], fill[i+1])
	}
	to, err := at.Parse(action)
	require.NoError(p.t, err)
	a, err := testkit.SendForm(p.t.Context(), p.client, http.MethodPost, to.String(), fields,
		"Origin", at.Scheme+"://"+at.Host, "Sec-Fetch-Site", "same-origin")
	require.NoError(p.t, err)
	return a
}
