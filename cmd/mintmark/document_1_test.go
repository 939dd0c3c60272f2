package main

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier"
)

// documentAddresses: pages and API may have two addresses.
func documentAddresses(t *testing.T) {
	var app string
	ts := startTestServer(t, t.TempDir(), fixtureText, func(c *server.Config) {
		settings := c.Settings
		c.Settings = func(current ledger.Settings, listening string) (ledger.Settings, error) {
			s, err := settings(current, listening)
			_, port, _ := net.SplitHostPort(listening)
			app = "http://localhost:" + port
			s.AppURL = app
			return s, err
		}
	})
	d := suiteOf(t, ts)

	// "{base_url} is the address of the service's API"
	d.run("0_base_url_is_the_address_of_the_API", func(d *suite) {
		require.NotEqual(d.t, d.Base, d.App)
		m := d.request(http.MethodGet, oauth.PathMetadata, "").JSON(d.t)
		require.Equal(d.t, d.Base, m["issuer"])
		require.Equal(d.t, d.Base+"/v2/auth/oauth2/token", m["token_endpoint"])
		a := d.request(http.MethodPost, m["token_endpoint"].(string), "")
		refused(d.t, a, http.StatusBadRequest, oauth.InvalidRequest)
	})
	// "{app_url} is the address of the service's web application (where users authorize)."
	d.run("0_app_url_is_where_users_authorize", func(d *suite) {
		m := d.request(http.MethodGet, oauth.PathMetadata, "").JSON(d.t)
		require.Equal(d.t, app+"/auth/oauth2/authorize", m["authorization_endpoint"])
		tokens := d.granted(m["authorization_endpoint"].(string) + strings.TrimPrefix(good("cal-app"), oauth.PathAuthorize))
		require.Equal(d.t, d.Base, claimsOf(d.t, tokens.Access)["iss"])
		require.Equal(d.t, http.StatusOK, d.me(tokens.Access).Status)
	})
}

func documentPurpose(t *testing.T) {
	d := newSuite(t)

	// "The service lets a third-party application act on a user's account through OAuth 2.0 authorization."
	d.run("1_an_application_acts_on_the_account_of_a_user", func(d *suite) {
		for _, user := range []string{"alice", "bob"} {
			me := d.me(d.grantedBy(user, good("cal-app")).Access)
			require.Equal(d.t, http.StatusOK, me.Status, me.Body)
			require.Equal(d.t, user, me.JSON(d.t)["data"].(map[string]any)["username"])
		}
		q := d.browserOf("alice").submit(d.browserOf("alice").get(good("cal-app")), "decision", "decision", "cancel")
		require.Contains(d.t, q.Header.Get("Location"), "error=access_denied", "without the user's consent there is nothing")
	})

	var code, secret string
	s := stepSequence{suite: d}
	// "An application registers an OAuth client, sends the user to an authorization page, and receives an authorization code."
	s.step("1_from_registration_to_a_code", func(d *suite) {
		made := d.cli().Object("client", "add", "--id", "story-app", "--name", "Story", "--owner", "alice", "--redirect-uri", callback, "--scope", "PROFILE_READ")
		secret = made["secret"].(string)
		d.cli().OK("", "client", "approve", "story-app")
		page := d.browserOf("alice").get(with("story-app", "scope", "PROFILE_READ"))
		require.Equal(d.t, http.StatusOK, page.Status)
		require.Contains(d.t, page.Body, "Story")
		code = d.codeFor(with("story-app", "scope", "PROFILE_READ"))
	})
	// "The application exchanges the code for an access token and a refresh token."
	s.step("1_a_code_is_exchanged_for_two_tokens", func(d *suite) {
		issued := tokensOf(d.t, d.form("grant_type", "authorization_code", "code", code, "redirect_uri", callback,
			"client_id", "story-app", "client_secret", secret))
		require.NotEmpty(d.t, issued.Access)
		require.NotEmpty(d.t, issued.Refresh)
		require.NotEqual(d.t, issued.Access, issued.Refresh)
	})

	// "only for endpoints covered by the scopes granted to it"
	d.run("1_an_access_token_is_for_the_endpoints_of_its_scopes", func(d *suite) {
		api := newResourceServer(d)
		token := d.granted(with("cal-app", "scope", "BOOKING_READ")).Access
		require.Equal(d.t, http.StatusOK, api.call(d, "GET /v2/bookings", token).Status)
		require.Equal(d.t, http.StatusForbidden, api.call(d, "POST /v2/bookings/{uid}/confirm", token).Status)
		require.Equal(d.t, http.StatusForbidden, d.me(token).Status)
	})

	// "A refresh token obtains new access tokens without a new user authorization."
	d.run("1_a_refresh_token_obtains_new_access_tokens", func(d *suite) {
		issued := d.granted(good("cal-app"))
		seen := map[string]bool{issued.Access: true}
		for range 3 {
			issued = tokensOf(d.t, d.refresh("cal-app", issued.Refresh)) // no browser
			require.False(d.t, seen[issued.Access])
			seen[issued.Access] = true
			require.Equal(d.t, http.StatusOK, d.me(issued.Access).Status)
		}
	})

	// "Scopes cover these areas: event types, bookings, schedules and out-of-office entries, connected apps and calendars, the user profile, and team-level and organization-level resources."
	d.run("1_scopes_cover_these_areas", func(d *suite) {
		areas := map[string]int{}
		for _, name := range d.request(http.MethodGet, oauth.PathMetadata, "").JSON(d.t)["scopes_supported"].([]any) {
			area := strings.TrimSuffix(strings.TrimSuffix(name.(string), "_READ"), "_WRITE")
			areas[area]++
		}
		want := map[string]int{}
		for _, area := range []string{"EVENT_TYPE", "BOOKING", "SCHEDULE", "APPS", "PROFILE"} {
			want[area] = 2
		}
		for _, area := range []string{"EVENT_TYPE", "BOOKING", "SCHEDULE", "PROFILE", "MEMBERSHIP"} {
			want["TEAM_"+area], want["ORG_"+area] = 2, 2
		}
		require.Equal(d.t, want, areas)
	})
}

// documentLifetimeOfAccess moves the clock past the end of an access token.
func documentLifetimeOfAccess(t *testing.T) {
	d, clock := newClocked(t)

	// "An access token is valid for a limited time"
	d.run("1_an_access_token_is_valid_for_a_limited_time", func(d *suite) {
		api := newResourceServerAt(d, clock.Now)
		issued := d.granted(good("cal-app"))
		valid := func(status int) {
			d.t.Helper()
			require.Equal(d.t, status, d.me(issued.Access).Status)
			require.Equal(d.t, status, api.call(d, "GET /v2/me", issued.Access).Status)
		}
		valid(http.StatusOK)
		clock.forward(29*time.Minute + 45*time.Second)
		valid(http.StatusOK)
		clock.forward(16*time.Second + verifier.DefaultSkew)
		valid(http.StatusUnauthorized)
	})

	// "Access token lifetime | 30 minutes (`expires_in` is 1800 seconds)"
	d.run("8_access_token_lifetime_is_30_minutes", func(d *suite) {
		a := d.exchange("cal-app", d.codeFor(good("cal-app")))
		require.InDelta(d.t, 1800, a.JSON(d.t)["expires_in"], 0)
		for range 2 {
			issued := tokensOf(d.t, a)
			claims := claimsOf(d.t, issued.Access)
			require.InDelta(d.t, 1800, claims["exp"].(float64)-claims["iat"].(float64), 0)
			require.InDelta(d.t, clock.Now().Unix(), claims["iat"], 20, "it begins when it is issued")
			clock.forward(time.Hour)
			a = d.refresh("cal-app", issued.Refresh)
		}
	})

	// "When the access token has expired (1800 seconds), the application refreshes (4.3)."
	d.run("5.2_an_expired_access_token_is_refreshed", func(d *suite) {
		issued := d.granted(good("cal-app"))
		clock.forward(1800*time.Second + verifier.DefaultSkew)
		me := d.me(issued.Access)
		require.Equal(d.t, http.StatusUnauthorized, me.Status)
		require.Contains(d.t, me.Header.Get("WWW-Authenticate"), "invalid_token")
		fresh := tokensOf(d.t, d.refresh("cal-app", issued.Refresh))
		require.Equal(d.t, http.StatusOK, d.me(fresh.Access).Status)
	})
}
