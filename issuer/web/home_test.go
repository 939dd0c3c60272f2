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

func TestHome(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn()
	home := b.get("/")
	assert.Contains(t, home.body, "<title>Your account · Mintmark</title>")
	assert.Contains(t, home.body, "You are signed in as <strong><bdi>Ada Lovelace</bdi></strong>")
	assert.Contains(t, home.body, "No application is connected")
	assert.NotContains(t, home.body, "Disconnect")

	b.decide(b.get(at(with(good(), "scope", "BOOKING_READ"))), "allow").location(t, callback)
	w.pass(24 * time.Hour)
	b = w.signedIn()
	b.decide(b.get(at(with(good(), "scope", "TEAM_BOOKING_READ"))), "allow").location(t, callback)
	b.decide(b.get(at(with(good(), "client_id", "old", "scope", ""))), "allow").location(t, callback)
	home = b.get("/")
	assert.Equal(t, 2, strings.Count(home.body, `action="/connected-apps/disconnect"`), "one entry for an application")
	assert.Contains(t, home.body, `aria-label="Disconnect The calendar app"`)
	assert.Contains(t, home.body, "See your teams&#39; bookings.")
	assert.NotContains(t, home.body, "See your bookings", "a code that was never exchanged has lapsed")
	assert.Contains(t, home.body, `First allowed on <time datetime="2026-03-05">5 March 2026</time>`)
	assert.Contains(t, home.body, "Not used yet.")
	assert.Contains(t, home.body, "Everything that you can do")
	w.pass(time.Hour)
	assert.Contains(t, b.get("/").body, "No application is connected")
}

// lastUsed comes from an exchange, which the ledger decides.
func TestHomeLastUsed(t *testing.T) {
	w := newWorld(t)
	w.client("used", func(c *ledger.ImportClient) {
		c.Type, c.Profile.RedirectURIs = ledger.Public, []string{callback}
	})
	b := w.signedIn()
	b.decide(b.get(at(with(good(), "client_id", "used", "scope", "BOOKING_READ"))), "allow").location(t, callback)
	g := w.grants()[0]
	w.pass(time.Minute)
	w.must(&ledger.AddKey{Key: ledger.Key{ID: "s1", Purpose: ledger.ForSigning, Algorithm: "ES256", Sealed: []byte{1}}})
	w.must(&ledger.Exchange{
		Proof: ledger.Proof{Client: "used"}, Link: &ledger.Link{Grant: g.ID, Key: 1},
		Redirect: g.Redirect, Verified: challenge,
	})
	w.pass(20 * 24 * time.Hour)
	home := w.signedIn().get("/")
	assert.Contains(t, home.body, `Last used on <time datetime="2026-03-04">4 March 2026</time>`)
	w.pass(10 * 24 * time.Hour)
	assert.Contains(t, w.signedIn().get("/").body, "No application is connected", "idle for 30 days")
}

func TestDisconnect(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn()
	for range 2 {
		b.decide(b.get(at(good())), "allow").location(t, callback)
	}
	home := b.get("/")
	form := home.form(t, "/connected-apps/disconnect")
	require.Equal(t, "calendar", form.Get("client"))

	assert.Equal(t, http.StatusForbidden, b.post("/connected-apps/disconnect", with(form, "client", "native")).StatusCode)
	form.Set("client", "calendar")
	stranger := w.browser()
	assert.Equal(t, "/auth/sign-in", stranger.post("/connected-apps/disconnect", form).Header.Get("Location"))
	assert.Equal(t, http.StatusForbidden, w.signedIn().post("/connected-apps/disconnect", form).StatusCode, "another session")
	w.down = true
	assert.Equal(t, http.StatusServiceUnavailable, b.post("/connected-apps/disconnect", form).StatusCode)
	w.down = false
	assert.Len(t, w.grants(), 2)

	res := b.post("/connected-apps/disconnect", form)
	assert.Equal(t, http.StatusSeeOther, res.StatusCode)
	assert.Empty(t, w.grants())
	after := b.get(res.Header.Get("Location"))
	assert.Contains(t, after.body, `role="status"`)
	assert.Contains(t, after.body, "No application is connected")
	assert.Equal(t, http.StatusSeeOther, b.post("/connected-apps/disconnect", form).StatusCode, "twice is fine")
}
