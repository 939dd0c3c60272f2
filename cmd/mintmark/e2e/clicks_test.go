package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// within verifies how many clicks a path takes.
func (b *tab) within(most int, path func()) {
	b.t.Helper()
	before := b.clicks
	path()
	require.LessOrEqual(b.t, b.clicks-before, most, "clicks")
}

// pressLink clicks a link that opens another tab, and goes on in this one.
func (b *tab) pressLink(link string) {
	b.t.Helper()
	require.Equal(b.t, "_blank", b.attribute(link, "target"))
	b.clicks++
	b.open(b.attribute(link, "href"))
}

// TestBrowserClicks: a developer's first token takes five clicks and a form, a new secret for an
// old one takes four, and an administrator's decision with the way to the next one takes one,
// with JavaScript and without. Keys in a form don't count, nor does a reload: the developer has
// the page of the application open while it is reviewed.
func TestBrowserClicks(t *testing.T) {
	for name, scripts := range map[string]bool{"scripts on": true, "scripts off": false} {
		t.Run(name, func(t *testing.T) {
			app := startApplication(t)
			j := &journey{t: t, s: start(t, fixtures("")), app: app, scripts: scripts}
			j.b, j.root = j.person("alice", "correct horse"), j.person("root", "administers it")
			b, root := j.b, j.root
			b.within(5, func() {
				b.press(`main a[href="/developer/new"]`) // of the first page of somebody who has nothing yet
				j.fillApplication("Trip Planner")
				b.press("main .steps button.primary")
				j.secret = b.text("#secret")
				b.press("main a.primary")
				require.Equal(t, j.home, b.location())
				j.judge("approve", "")
				b.open(j.home)
				b.pressLink("main .steps a")
				b.press(`button[value="allow"]`)
			})
			require.Equal(t, "bearer", j.exchange(app.answer(t).Get("code"))["token_type"])

			b.open(j.s.AppURL + "/developer")
			b.within(4, func() {
				b.press(`main a[href="/developer/clients/` + j.id + `"]`)
				b.press(`.tabs a[href$="/secrets"]`)
				b.press(`section[aria-labelledby="add-title"] button.primary`)
				b.press(`main a.primary[href$="/secrets"]`)
			})
			require.Equal(t, 2, b.count(`section[aria-labelledby="secrets-title"] tbody tr`))

			b.open(j.s.AppURL + "/developer/new")
			j.fillApplication("Trip Planner 2")
			root.open(j.s.AppURL + "/admin/clients/pending-app")
			root.within(1, func() { root.press(`button[value="approve-next"]`) })
			at, err := url.Parse(root.location())
			require.NoError(t, err)
			require.Equal(t, "/admin/clients/"+j.id, at.Path)
			require.Contains(t, root.text("[role=status]"), "Pending App")
		})
	}
}

// fillApplication fills in and submits the form that registers an application. It counts as a
// form, not as clicks.
func (j *journey) fillApplication(name string) {
	b, before := j.b, j.b.clicks
	b.do(chromedp.Click(chromedp.CSS(`input[value="confidential"]`)))
	b.fill("name", name)
	b.fill(`redirect_uris\.0`, j.app.uri)
	b.choose("PROFILE_READ")
	b.press("main button.primary")
	at, err := url.Parse(b.location())
	require.NoError(j.t, err)
	j.home = j.s.AppURL + at.Path
	j.id = b.text("#client-id")
	b.clicks = before
}

// exchange exchanges a code with the secret of the pages.
func (j *journey) exchange(code string) map[string]any {
	j.t.Helper()
	answer, err := http.PostForm(j.s.BaseURL+"/v2/auth/oauth2/token", url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {j.app.uri}, "client_id": {j.id}, "client_secret": {j.secret},
	})
	require.NoError(j.t, err)
	defer answer.Body.Close()
	var tokens map[string]any
	require.NoError(j.t, json.NewDecoder(answer.Body).Decode(&tokens))
	return tokens
}
