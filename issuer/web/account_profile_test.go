package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

func TestProfile(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn()
	page := b.get("/account")
	assert.Contains(t, page.body, "<dt>Email address</dt><dd><bdi>ada@<wbr>example.<wbr>com</bdi></dd>")
	assert.Contains(t, page.body, `<dt>Time zone</dt><dd><span class="quiet">Not set</span></dd>`)
	assert.Contains(t, page.body, "<dt>Clock</dt><dd><bdi>24 hours</bdi></dd>")
	assert.Contains(t, page.body, `signed in with this browser on <time datetime="2026-03-04T12:00Z" data-exact>4 March 2026, 12:00 UTC</time>`)
	assert.Contains(t, page.body, "3 April 2026, 12:00 UTC")
	assert.Contains(t, page.body, `href="/account/password"`)

	w.must(&ledger.PutUser{ID: "u-ada", Username: "ada", Person: ledger.Person{
		Name: "Ada", Bio: "I count.", AvatarURL: "https://ada.example/a.png", TimeFormat: 12, DefaultScheduleID: "s-1",
		WeekStart: "Monday", TimeZone: "Europe/London", Locale: "en-GB", OrganizationID: "o-1",
	}})
	page = b.get("/account")
	page.body = strings.ReplaceAll(page.body, "<wbr>", "")
	for _, text := range []string{"I count.", "https://ada.example/a.png", "12 hours", "s-1", "Monday", "Europe/London", "en-GB", "o-1", "u-ada"} {
		assert.Contains(t, page.body, "<bdi>"+text+"</bdi>")
	}
	assert.NotContains(t, page.body, "<img src=\"https:", "another site would learn that the page was opened")
}

func TestSignOutEverywhere(t *testing.T) {
	w := newEnv(t)
	b, other := w.signedIn(), w.signedIn()
	b.allow()
	w.advance(time.Second)
	form := b.get("/account").form(t, "/account/sign-out-everywhere")
	w.noLeader = true
	assert.Equal(t, http.StatusServiceUnavailable, b.post("/account/sign-out-everywhere", form).StatusCode)
	assert.Contains(t, b.cookies, "mintmark", "the session is needed to try again")
	w.noLeader = false

	res := b.post("/account/sign-out-everywhere", form)
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
	assert.NotContains(t, b.cookies, "mintmark")
	assert.Contains(t, b.get(res.Header.Get("Location")).body, "You are signed out in every browser.")
	assert.Equal(t, "/auth/sign-in?to=%2Faccount", other.get("/account").Header.Get("Location"))
	assert.Len(t, w.grants(), 1, "grants must stay")
	res = b.post("/account/sign-out-everywhere", form)
	assert.Equal(t, "/auth/sign-in?note=undone&to=%2Faccount", res.Header.Get("Location"), "the same form twice")
}
