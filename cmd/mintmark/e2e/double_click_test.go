package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestBrowserDoubleClick: a double click on "Generate a secret", fast or slow, generates
// one secret, which the page shows.
func TestBrowserDoubleClick(t *testing.T) {
	for name, pause := range map[string]time.Duration{"at once": 0, "20 ms": 20 * time.Millisecond, "250 ms": 250 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			s := start(t, fixtures("")+`  - {id: new-app, name: New App, owner: alice, redirect_uris: ["https://new.example/callback"], scopes: [PROFILE_READ]}
`)
			b := newTab(t)
			address := s.AppURL + "/developer/clients/new-app/secrets"
			b.open(address)
			b.signIn("alice", "correct horse")
			b.open(address)
			b.clickTwice("main button.primary", pause)
			secret := b.text("#secret")
			require.Regexp(t, `^mms_.{43}$`, secret)
			b.open(address)
			require.Equal(t, 1, b.count("tbody tr"))
			require.Contains(t, b.text("tbody"), "••••"+secret[len(secret)-4:])
			answer, err := http.PostForm(s.BaseURL+"/v2/auth/oauth2/token", url.Values{
				"grant_type": {"refresh_token"}, "refresh_token": {"none"}, "client_id": {"new-app"}, "client_secret": {secret},
			})
			require.NoError(t, err)
			defer answer.Body.Close()
			var got struct{ Error string }
			require.NoError(t, json.NewDecoder(answer.Body).Decode(&got))
			require.Equal(t, "invalid_grant", got.Error, "the secret is valid, and the refresh token is not")
		})
	}
}

// TestBrowserDoubleClickForAResourceServer is TestBrowserDoubleClick for a resource server.
func TestBrowserDoubleClickForAResourceServer(t *testing.T) {
	s := start(t, fixtures(resourceServers))
	b := newTab(t)
	address := s.AppURL + "/admin/resource-servers/calendar"
	b.open(address)
	b.signIn("root", "administers it")
	for i, pause := range []time.Duration{20 * time.Millisecond, 250 * time.Millisecond} {
		b.open(address)
		b.clickTwice("main button.primary", pause)
		secret := b.text("#secret")
		b.open(address)
		require.Equal(t, i+1, b.count("tbody tr"), pause)
		require.Contains(t, b.text("tbody tr"), "••••"+secret[len(secret)-4:])
		require.Equal(t, http.StatusOK, introspectAs(t, s, "calendar", secret))
	}
}

// clickTwice clicks twice at the position of a button.
func (b *tab) clickTwice(button string, pause time.Duration) {
	b.t.Helper()
	at, err := chromedp.Run(b.ctx, chromedp.Evaluate[struct{ X, Y float64 }](
		`(() => { const e = document.querySelector("`+button+`"); e.scrollIntoView({block: "center", behavior: "instant"}); const r = e.getBoundingClientRect(); return {X: r.x + r.width/2, Y: r.y + r.height/2} })()`))
	require.NoError(b.t, err)
	b.do(chromedp.MouseClickXY(at.X, at.Y))
	time.Sleep(pause)
	b.do(chromedp.MouseClickXY(at.X, at.Y, chromedp.ClickCount(2)))
}
