package main

import (
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// documentRefusals: the last line of section 7, case by case.
func documentRefusals(t *testing.T) {
	d := newSuite(t)
	explains := func(d *suite, a answer, text string) {
		d.t.Helper()
		id, _ := a.JSON(d.t)["error_id"].(string)
		require.Contains(d.t, d.cli().OK("", "explain", id), text)
	}

	// "Behaviour for an unknown client"
	d.run("7_not_shown_an_unknown_client", func(d *suite) {
		d.showsPage(d.browserOf("alice").get(with("cal-app", "client_id", "nobody")), http.StatusBadRequest)
		unknown := d.form("grant_type", "refresh_token", "refresh_token", "x", "client_id", "nobody", "client_secret", "x")
		wrong := d.form("grant_type", "refresh_token", "refresh_token", "x", "client_id", "cal-app", "client_secret", "x")
		refused(d.t, unknown, http.StatusUnauthorized, oauth.InvalidClient)
		refused(d.t, wrong, http.StatusUnauthorized, oauth.InvalidClient)
		require.Equal(d.t, wrong.JSON(d.t)["error_description"], unknown.JSON(d.t)["error_description"], "one text for both")
		explains(d, unknown, "no client with this client_id")
	})
	// "an unregistered `redirect_uri`"
	d.run("7_not_shown_an_unregistered_redirect_uri", func(d *suite) {
		page := d.browserOf("alice").get(with("cal-app", "redirect_uri", "https://evil.example/callback"))
		d.showsPage(page, http.StatusBadRequest)
		require.NotContains(d.t, page.Body, "evil.example")
		id := regexp.MustCompile(`<code>(mme_[^<]*)</code>`).FindStringSubmatch(page.Body)
		require.NotNil(d.t, id, page.Body)
		explanation := d.cli().OK("", "explain", id[1])
		require.Contains(d.t, explanation, ledger.RedirectURIUnregistered.String())
		require.Contains(d.t, explanation, "cal-app")
	})
	// "a reused or wrong code"
	d.run("7_not_shown_a_reused_code_revokes_its_grant", func(d *suite) {
		code := d.codeFor(good("cal-app"))
		issued := tokensOf(d.t, d.exchange("cal-app", code))
		issued = tokensOf(d.t, d.refresh("cal-app", issued.Refresh))
		again := d.exchange("cal-app", code)
		refused(d.t, again, http.StatusBadRequest, oauth.InvalidGrant)
		explains(d, again, "the authorization code was presented a second time")
		refused(d.t, d.refresh("cal-app", issued.Refresh), http.StatusBadRequest, oauth.InvalidGrant)
		require.Equal(d.t, http.StatusUnauthorized, d.me(issued.Access).Status)
	})
	// "an invalid refresh token"
	d.run("7_not_shown_an_invalid_refresh_token", func(d *suite) {
		issued := d.granted(good("cal-app"))
		refused(d.t, d.refresh("cal-app", issued.Refresh+"A"), http.StatusBadRequest, oauth.InvalidGrant)
		refused(d.t, d.refresh("other-app", issued.Refresh), http.StatusBadRequest, oauth.InvalidGrant)
		second := tokensOf(d.t, d.refresh("cal-app", issued.Refresh))
		retried := tokensOf(d.t, d.refresh("cal-app", issued.Refresh))
		require.Equal(d.t, second.Refresh, retried.Refresh, "a lost response: the same successor")
		third := tokensOf(d.t, d.refresh("cal-app", second.Refresh))
		reused := d.refresh("cal-app", issued.Refresh)
		refused(d.t, reused, http.StatusBadRequest, oauth.InvalidGrant)
		explains(d, reused, "presented after its successor was used")
		refused(d.t, d.refresh("cal-app", third.Refresh), http.StatusBadRequest, oauth.InvalidGrant) // the grant is revoked
	})
	// "a revoked secret"
	d.run("7_not_shown_a_revoked_secret", func(d *suite) {
		issued := d.granted(good("cal-app"))
		a := d.form("grant_type", "refresh_token", "refresh_token", issued.Refresh, "client_id", "cal-app", "client_secret", "old-secret")
		refused(d.t, a, http.StatusUnauthorized, oauth.InvalidClient)
		explains(d, a, "the client_secret was revoked")
		tokensOf(d.t, d.refresh("cal-app", issued.Refresh))
	})
	// "a client still `pending`"
	d.run("7_not_shown_a_client_still_pending", func(d *suite) {
		d.showsPage(d.browserOf("alice").get(with("pending-app", "scope", "PROFILE_READ")), http.StatusForbidden)
		refused(d.t, d.refresh("pending-app", "x"), http.StatusBadRequest, oauth.UnauthorizedClient)
		wrong := d.form("grant_type", "refresh_token", "refresh_token", "x", "client_id", "pending-app", "client_secret", "wrong")
		refused(d.t, wrong, http.StatusUnauthorized, oauth.InvalidClient) // a stranger learns nothing of its state
	})
}

// documentRateLimit fills the count of one client's failures.
func documentRateLimit(t *testing.T) {
	d := newSuite(t)

	// "Request rate limits: not shown."
	d.run("8_not_shown_too_many_failures_are_429", func(d *suite) {
		issued := d.granted(good("cal-app"))
		mine := []string{"grant_type", "refresh_token", "refresh_token", issued.Refresh, "client_id", "cal-app", "client_secret", generatedSecret}
		wrong := []string{"grant_type", "refresh_token", "refresh_token", issued.Refresh, "client_id", "cal-app", "client_secret", "wrong"}
		var limited answer
		failures := 0
		for limited.Status != http.StatusTooManyRequests && failures < 3000 {
			limited = d.form(wrong...)
			failures++
		}
		require.Equal(d.t, http.StatusTooManyRequests, limited.Status)
		require.GreaterOrEqual(d.t, failures, 100)
		wait, err := strconv.Atoi(limited.Header.Get("Retry-After"))
		require.NoError(d.t, err)
		require.Positive(d.t, wait)
		tokensOf(d.t, d.form(mine...)) // a secret of our making is never answered so
		other := d.form(replaced(wrong, "client_id", "other-app")...)
		refused(d.t, other, http.StatusUnauthorized, oauth.InvalidClient) // counted by client
	})
}

// documentLifetimes moves the clock.
func documentLifetimes(t *testing.T) {
	const day = 24 * time.Hour
	d, clock := newClocked(t)

	// "Lifetimes of the authorization code and of the refresh token: not shown."
	d.run("8_not_shown_a_code_lives_300_seconds", func(d *suite) {
		early, late := d.codeFor(good("cal-app")), d.codeFor(good("cal-app"))
		clock.forward(4*time.Minute + 45*time.Second)
		tokensOf(d.t, d.exchange("cal-app", early))
		clock.forward(15 * time.Second)
		refused(d.t, d.exchange("cal-app", late), http.StatusBadRequest, oauth.InvalidGrant)
	})
	// "Lifetimes of the authorization code and of the refresh token: not shown."
	d.run("8_not_shown_a_refresh_token_lives_30_days_and_a_grant_365", func(d *suite) {
		used, idle := d.granted(good("cal-app")), d.granted(good("cal-app"))
		clock.forward(30*day - time.Minute)
		used = tokensOf(d.t, d.refresh("cal-app", used.Refresh))
		clock.forward(time.Minute)
		refused(d.t, d.refresh("cal-app", idle.Refresh), http.StatusBadRequest, oauth.InvalidGrant)
		for range 11 { // each use gives it 30 days more
			clock.forward(30*day - 2*time.Minute)
			used = tokensOf(d.t, d.refresh("cal-app", used.Refresh))
		}
		clock.forward(5*day - time.Hour)
		used = tokensOf(d.t, d.refresh("cal-app", used.Refresh))
		clock.forward(2 * time.Hour)
		refused(d.t, d.refresh("cal-app", used.Refresh), http.StatusBadRequest, oauth.InvalidGrant)
	})
}
