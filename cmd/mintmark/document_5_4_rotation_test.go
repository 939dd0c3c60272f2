package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// documentSecretManagement: section 4.5.
func documentSecretManagement(t *testing.T) {
	d := newSuite(t)

	// "Done in the developer settings of the web application, not through an API endpoint."
	d.run("4.5_secrets_are_managed_in_the_settings", func(d *suite) {
		made, err := d.s.Issuer.Secret("made in the settings")
		require.NoError(d.t, err)
		id := made.ID
		alice, bob := d.actor("alice"), d.actor("bob")
		require.Equal(d.t, ledger.NotFound, d.decided(&ledger.AddSecret{Actor: alice, Client: "other-app", Secret: made}), "it is bob's")
		require.Equal(d.t, ledger.NoCause, d.decided(&ledger.AddSecret{Actor: bob, Client: "other-app", Secret: made, After: d.newest("other-app")}))
		authenticates := func() answer {
			return d.form("grant_type", "refresh_token", "refresh_token", "x", "client_id", "other-app", "client_secret", "made in the settings")
		}
		refused(d.t, authenticates(), http.StatusBadRequest, oauth.InvalidGrant)
		require.Equal(d.t, ledger.NotFound, d.decided(&ledger.RevokeSecret{Actor: alice, Client: "other-app", Secret: id}))
		require.Equal(d.t, ledger.NoCause, d.decided(&ledger.RevokeSecret{Actor: bob, Client: "other-app", Secret: id}))
		refused(d.t, authenticates(), http.StatusUnauthorized, oauth.InvalidClient)
	})
	// "not through an API endpoint."
	d.run("4.5_not_through_an_API_endpoint", func(d *suite) {
		token := d.granted(good("legacy-app")).Access // it may do everything
		for _, path := range []string{
			"/v2/oauth-clients", "/v2/oauth-clients/cal-app", "/v2/oauth-clients/cal-app/secrets", "/v2/auth/oauth2/clients",
			"/v2/auth/oauth2/clients/cal-app", "/v2/auth/oauth2/clients/cal-app/secrets", "/v2/auth/oauth2/secrets", "/v2/auth/oauth2/register",
		} {
			for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
				a := d.request(method, path, "{}", "Authorization", "Bearer "+token, "Content-Type", "application/json")
				require.Equal(d.t, http.StatusNotFound, a.Status, "%s %s", method, path)
			}
		}
		m := d.request(http.MethodGet, oauth.PathMetadata, "").JSON(d.t)
		require.NotContains(d.t, m, "registration_endpoint")
	})
}

// documentRotation: section 5.4 in its order, with refreshes between.
func documentRotation(t *testing.T) {
	d := newSuite(t)
	s := stepSequence{suite: d}
	made := d.cli().Object(addClient("rotating", "--scope", "PROFILE_READ")...)
	first, firstID := made["secret"].(string), made["secret_id"].(string)
	var second, secondID string
	d.cli().OK("", "client", "approve", "rotating")

	ask := with("rotating", "scope", "PROFILE_READ")
	exchange := func(d *suite, secret string) answer {
		return d.form("grant_type", "authorization_code", "redirect_uri", callback, "code", d.codeFor(ask), "client_id", "rotating", "client_secret", secret)
	}
	refresh := func(d *suite, token, secret string) answer {
		return d.form("grant_type", "refresh_token", "refresh_token", token, "client_id", "rotating", "client_secret", secret)
	}
	before := tokensOf(t, exchange(d, first)) // is never refreshed until the end
	live := tokensOf(t, exchange(d, first))

	// "Generating a new secret in the client settings leaves the old secret working."
	s.step("5.4_a_new_secret_leaves_the_old_one_working", func(d *suite) {
		added := d.cli().Object("client", "secret", "add", "rotating")
		second, secondID = added["secret"].(string), added["id"].(string)
		require.NotEqual(d.t, first, second)
		live = tokensOf(d.t, refresh(d, live.Refresh, first))
		tokensOf(d.t, exchange(d, first))
	})
	// "Up to 2 secrets are active at a time."
	s.step("5.4_up_to_2_secrets_are_active", func(d *suite) {
		live = tokensOf(d.t, refresh(d, live.Refresh, first))
		live = tokensOf(d.t, refresh(d, live.Refresh, second))
		r := d.cli().Run("", "client", "secret", "add", "rotating")
		require.Equal(d.t, cli.ExitRefused, r.Code)
		active := 0
		for _, s := range d.client("rotating")["secrets"].([]any) {
			if s.(map[string]any)["state"] == "active" {
				active++
			}
		}
		require.Equal(d.t, 2, active)
	})
	// "The application is switched to use the new secret in exchange and refresh requests."
	s.step("5.4_the_new_secret_in_exchange_and_refresh", func(d *suite) {
		live = tokensOf(d.t, refresh(d, live.Refresh, second))
		fresh := tokensOf(d.t, exchange(d, second))
		tokensOf(d.t, refresh(d, fresh.Refresh, second))
	})
	// "Revoking the old secret in the settings takes effect immediately."
	s.step("5.4_revoking_takes_effect_immediately", func(d *suite) {
		live = tokensOf(d.t, refresh(d, live.Refresh, first)) // to the last moment
		d.cli().OK("", "client", "secret", "revoke", "rotating", firstID)
		refused(d.t, refresh(d, live.Refresh, first), http.StatusUnauthorized, oauth.InvalidClient)
		refused(d.t, exchange(d, first), http.StatusUnauthorized, oauth.InvalidClient)
		live = tokensOf(d.t, refresh(d, live.Refresh, second))
		r := d.cli().Run("", "client", "secret", "revoke", "rotating", secondID)
		require.Equal(d.t, cli.ExitRefused, r.Code, "the last active secret is replaced, not revoked")
		tokensOf(d.t, exchange(d, second))
	})
	// "Existing access and refresh tokens stay valid after rotation."
	s.step("5.4_existing_tokens_stay_valid", func(d *suite) {
		require.Equal(d.t, http.StatusOK, d.me(before.Access).Status)
		newResourceServer(d).opens(d, "alice", "GET /v2/me", before.Access)
		after := tokensOf(d.t, refresh(d, before.Refresh, second))
		require.Equal(d.t, before.Scope, after.Scope)
		require.Equal(d.t, claimsOf(d.t, before.Access)["grant_id"], claimsOf(d.t, after.Access)["grant_id"])
	})
	// "Rotation only affects requests that need `client_secret` (exchange and refresh)."
	s.step("5.4_rotation_affects_requests_with_a_secret_only", func(d *suite) {
		page := d.browserOf("alice").get(ask)
		require.Equal(d.t, http.StatusOK, page.Status)
		third := d.cli().Object("client", "secret", "add", "rotating")["secret"].(string)
		d.cli().OK("", "client", "secret", "revoke", "rotating", secondID)
		to := d.browserOf("alice").submit(page, "decision", "decision", "allow")
		require.Equal(d.t, http.StatusSeeOther, to.Status, "a consent page that was open meanwhile")
		require.Equal(d.t, http.StatusOK, d.me(live.Access).Status)
		refused(d.t, refresh(d, live.Refresh, second), http.StatusUnauthorized, oauth.InvalidClient)
		require.Equal(d.t, http.StatusOK, d.me(tokensOf(d.t, refresh(d, live.Refresh, third)).Access).Status)
	})
}
