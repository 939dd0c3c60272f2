package account_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

func TestProfile(t *testing.T) {
	w := NewEnv(t)
	b := w.SignedIn()
	page := b.Get("/account")
	assert.Contains(t, page.Text, "<dt>Email address</dt><dd><bdi>ada@<wbr>example.<wbr>com</bdi></dd>")
	assert.NotContains(t, page.Text, "Not set", "only administrators can set it")
	assert.Contains(t, page.Text, `<code id="account-id">u-ada</code>`)
	assert.Contains(t, page.Text, "<dt>Clock</dt><dd><bdi>24 hours</bdi></dd>")
	assert.Contains(t, page.Text, `Ends <time datetime="2026-04-03T12:00:00Z" data-exact>3 April 2026, 12:00 UTC</time> at the latest`)
	assert.Contains(t, page.Text, `href="/account/password"`)

	w.Must(&ledger.PutUser{ID: "u-ada", Username: "ada", Person: ledger.Person{
		Name: "Ada", Bio: "I count.", AvatarURL: "https://ada.example/a.png", TimeFormat: 12, DefaultScheduleID: "s-1",
		WeekStart: "Monday", TimeZone: "Europe/London", Locale: "en-GB", OrganizationID: "o-1",
	}})
	page = b.Get("/account")
	page.Text = strings.ReplaceAll(page.Text, "<wbr>", "")
	assert.Contains(t, page.Text, `<html lang="en" data-zone="Europe/London">`)
	assert.Contains(t, page.Text, "<span>Europe/London</span>", "the foot of the navigation")
	assert.Contains(t, page.Text, "3 April 2026, 1:00 PM BST", "the end of the session, by the user’s clock")
	for _, text := range []string{"I count.", "https://ada.example/a.png", "12 hours", "s-1", "Monday", "Europe/London", "en-GB", "o-1"} {
		assert.Contains(t, page.Text, "<bdi>"+text+"</bdi>")
	}
	assert.NotContains(t, page.Text, "<img src=\"https:", "another site would learn that the page was opened")
}

func TestSignOutEverywhere(t *testing.T) {
	w := NewEnv(t)
	b, other := w.SignedIn(), w.SignedIn()
	b.Allow()
	w.Advance(time.Second)
	form := b.Get("/account").Form(t, "/account/sign-out-everywhere")
	w.NoLeader = true
	assert.Equal(t, http.StatusServiceUnavailable, b.Post("/account/sign-out-everywhere", form).StatusCode)
	assert.Contains(t, b.Cookies, "mintmark", "the session is needed to try again")
	w.NoLeader = false

	res := b.Post("/account/sign-out-everywhere", form)
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
	assert.NotContains(t, b.Cookies, "mintmark")
	assert.Contains(t, b.Get(res.Header.Get("Location")).Text, "You’re signed out in every browser.")
	assert.Equal(t, "/auth/sign-in?to=%2Faccount", other.Get("/account").Header.Get("Location"))
	assert.Len(t, w.Grants(), 1, "grants must stay")
	res = b.Post("/account/sign-out-everywhere", form)
	assert.Equal(t, "/auth/sign-in?note=undone&to=%2Faccount", res.Header.Get("Location"), "the same form twice")
}
