package webtest

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/security"
	"github.com/mintmark-auth/mintmark/issuer/upstream/upstreamtest"
	"github.com/mintmark-auth/mintmark/issuer/web"
	"github.com/mintmark-auth/mintmark/issuer/web/authn"
)

const OwnField = `name="own_password" type="password" autocomplete="current-password"`

// Failing is administration, and counts failed sign-ins by cause.
func Failing(t *testing.T) (w *Env, root *Browser, failures map[ledger.Cause]int) {
	t.Helper()
	failures = map[ledger.Cause]int{}
	var now func() time.Time
	w, root = Administration(t, func(c *web.Config) {
		c.Security = security.New(security.Config{
			Log: c.Log, Now: func() time.Time { return now() },
			Count: func(_ security.Kind, cause ledger.Cause) { failures[cause]++ },
		})
	})
	now = w.Clock
	return w, root, failures
}

// confirmLink matches the link to the provider on a page for a signed-in user.
var confirmLink = regexp.MustCompile(`<a class="button" href="(/auth/upstream/callback/confirm\?[^"]*)"( target="_blank" rel="noopener")?><span>Confirm with <bdi>Example ID</bdi></span></a>`)

func (a Answer) ConfirmLink(t *testing.T) (address string, aside bool) {
	t.Helper()
	m := confirmLink.FindStringSubmatch(a.Text)
	require.NotNil(t, m, a.Text)
	return html.UnescapeString(m[1]), m[2] != ""
}

// UpstreamRoot returns an administrator who signed in at the provider an hour ago.
func UpstreamRoot(t *testing.T, change ...func(*web.Config)) (*Env, *upstreamtest.Provider, *Browser) {
	t.Helper()
	w, p := NewUpstreamEnv(t, change...)
	p.Profile = upstreamtest.Claims{"preferred_username": "zoe", "groups": []string{"root"}}
	w.Agents(ledger.AgentsListed)
	w.User("u-bob", "bob", "Bob")
	root := w.Browser()
	require.Equal(t, http.StatusSeeOther, root.SignInUpstream(root.Get("/auth/sign-in"), p, "s-zoe").StatusCode)
	w.Advance(time.Hour)
	return w, p, root
}

// Confirm follows the link of a page, and returns where the provider sends the browser
// after a sign-in there.
func (b *Browser) Confirm(p *upstreamtest.Provider, page Answer, subject string) string {
	b.Env.T.Helper()
	address, _ := page.ConfirmLink(b.Env.T.(*testing.T))
	res := b.Get(address)
	require.Equal(b.Env.T, http.StatusSeeOther, res.StatusCode, res.Text)
	location := res.Header.Get("Location")
	asked, err := url.Parse(location)
	require.NoError(b.Env.T, err)
	require.Equal(b.Env.T, "0", asked.Query().Get("max_age"))
	require.Equal(b.Env.T, "login", asked.Query().Get("prompt"))
	return authn.PathUpstreamCallback + "?" + p.SignIn(location, subject).Encode()
}
