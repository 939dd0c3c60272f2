package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// documentFlow: section 5.2 as one story, step by step.
func documentFlow(t *testing.T) {
	d := newDesk(t)
	var secret, code string
	var issued tokens

	// "The developer creates a client, selects at least one scope and registers redirect URIs (up to 10)."
	d.run("5.2_the_developer_creates_a_client", func(d *desk) {
		made, err := d.s.issuer.Secret("a secret of the developer's")
		require.NoError(d.t, err)
		secret = "a secret of the developer's"
		p := profile("PROFILE_READ", "BOOKING_READ")
		p.RedirectURIs = append(redirectURIs(9), callback)
		create := &ledger.CreateClient{Actor: d.actor("bob"), ID: "flow-app", Owner: "u-bob", Type: ledger.Confidential, Profile: p, Secret: &made}
		require.Equal(d.t, ledger.NoCause, d.decided(create))
		shown := d.client("flow-app")
		require.Equal(d.t, "pending", shown["state"])
		require.Len(d.t, shown["redirect_uris"], 10)
		require.Equal(d.t, []any{"BOOKING_READ", "PROFILE_READ"}, shown["scopes"])
		d.cli().ok("", "client", "approve", "flow-app")
	})
	// "The application sends the user to the authorization step (4.1) with the needed scopes."
	d.run("5.2_the_user_is_sent_to_the_authorization_step", func(d *desk) {
		page := d.as("alice").get(asking("flow-app"))
		require.Equal(d.t, http.StatusOK, page.Status)
		require.Contains(d.t, page.Body, "See your bookings", "the needed scopes in words")
		one := d.as("alice").get(asking("flow-app", "scope", "PROFILE_READ"))
		require.NotContains(d.t, one.Body, "See your bookings")
		code = d.codeFor(asking("flow-app"))
	})
	// "The application exchanges the code (4.2) and uses the access token."
	d.run("5.2_the_code_is_exchanged_and_the_access_token_used", func(d *desk) {
		issued = tokensOf(d.t, d.form("grant_type", "authorization_code", "code", code, "redirect_uri", callback, "client_id", "flow-app", "client_secret", secret))
		require.Equal(d.t, http.StatusOK, d.me(issued.Access).Status)
		newResourceServer(d).opens(d, "alice", "GET /v2/bookings", issued.Access)
	})
}

// documentClientAuthentication: section 5.3.
func documentClientAuthentication(t *testing.T) {
	d := newDesk(t)

	// "Token exchange and refresh require `client_id` and `client_secret`."
	d.run("5.3_exchange_and_refresh_require_id_and_secret", func(d *desk) {
		exchange := []string{"grant_type", "authorization_code", "redirect_uri", callback, "code", d.codeFor(good("cal-app"))}
		try := func(pairs []string) answer {
			d.t.Helper()
			d.refuses(d.form(pairs...), http.StatusBadRequest, oauth.InvalidRequest)
			d.refuses(d.form(append(pairs, "client_id", "cal-app")...), http.StatusUnauthorized, oauth.InvalidClient)
			d.refuses(d.form(append(pairs, "client_secret", "cal-app-secret")...), http.StatusBadRequest, oauth.InvalidRequest)
			d.refuses(d.form(append(pairs, "client_id", "cal-app", "client_secret", "wrong")...), http.StatusUnauthorized, oauth.InvalidClient)
			return d.form(append(pairs, "client_id", "cal-app", "client_secret", "cal-app-secret")...)
		}
		issued := tokensOf(d.t, try(exchange))
		tokensOf(d.t, try([]string{"grant_type", "refresh_token", "refresh_token", issued.Refresh}))
	})
}

// documentSecretManagement: section 4.5.
func documentSecretManagement(t *testing.T) {
	d := newDesk(t)

	// "Done in the developer settings of the web application, not through an API endpoint."
	d.run("4.5_secrets_are_managed_in_the_settings", func(d *desk) {
		made, err := d.s.issuer.Secret("made in the settings")
		require.NoError(d.t, err)
		id := made.ID
		alice, bob := d.actor("alice"), d.actor("bob")
		require.Equal(d.t, ledger.NotFound, d.decided(&ledger.AddSecret{Actor: alice, Client: "other-app", Secret: made}), "it is bob's")
		require.Equal(d.t, ledger.NoCause, d.decided(&ledger.AddSecret{Actor: bob, Client: "other-app", Secret: made}))
		authenticates := func() answer {
			return d.form("grant_type", "refresh_token", "refresh_token", "x", "client_id", "other-app", "client_secret", "made in the settings")
		}
		d.refuses(authenticates(), http.StatusBadRequest, oauth.InvalidGrant)
		require.Equal(d.t, ledger.NotFound, d.decided(&ledger.RevokeSecret{Actor: alice, Client: "other-app", Secret: id}))
		require.Equal(d.t, ledger.NoCause, d.decided(&ledger.RevokeSecret{Actor: bob, Client: "other-app", Secret: id}))
		d.refuses(authenticates(), http.StatusUnauthorized, oauth.InvalidClient)
	})
	// "not through an API endpoint."
	d.run("4.5_not_through_an_API_endpoint", func(d *desk) {
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
		m := d.request(http.MethodGet, oauth.PathMetadata, "").json(d.t)
		require.NotContains(d.t, m, "registration_endpoint")
	})
}

// documentRotation: section 5.4 in its order, with refreshes between.
func documentRotation(t *testing.T) {
	d := newDesk(t)
	made := d.cli().object(addClient("rotating", "--scope", "PROFILE_READ")...)
	first, firstID := made["secret"].(string), made["secret_id"].(string)
	var second, secondID string
	d.cli().ok("", "client", "approve", "rotating")

	ask := asking("rotating", "scope", "PROFILE_READ")
	exchange := func(d *desk, secret string) answer {
		return d.form("grant_type", "authorization_code", "redirect_uri", callback, "code", d.codeFor(ask), "client_id", "rotating", "client_secret", secret)
	}
	refresh := func(d *desk, token, secret string) answer {
		return d.form("grant_type", "refresh_token", "refresh_token", token, "client_id", "rotating", "client_secret", secret)
	}
	before := tokensOf(t, exchange(d, first)) // is never refreshed until the end
	live := tokensOf(t, exchange(d, first))

	// "Generating a new secret in the client settings leaves the old secret working."
	d.run("5.4_a_new_secret_leaves_the_old_one_working", func(d *desk) {
		added := d.cli().object("client", "secret", "add", "rotating")
		second, secondID = added["secret"].(string), added["id"].(string)
		require.NotEqual(d.t, first, second)
		live = tokensOf(d.t, refresh(d, live.Refresh, first))
		tokensOf(d.t, exchange(d, first))
	})
	// "Up to 2 secrets are active at a time."
	d.run("5.4_up_to_2_secrets_are_active", func(d *desk) {
		live = tokensOf(d.t, refresh(d, live.Refresh, first))
		live = tokensOf(d.t, refresh(d, live.Refresh, second))
		r := d.cli().run("", "client", "secret", "add", "rotating")
		require.Equal(d.t, exitRefused, r.code)
		active := 0
		for _, s := range d.client("rotating")["secrets"].([]any) {
			if s.(map[string]any)["state"] == "active" {
				active++
			}
		}
		require.Equal(d.t, 2, active)
	})
	// "The application is switched to use the new secret in exchange and refresh requests."
	d.run("5.4_the_new_secret_in_exchange_and_refresh", func(d *desk) {
		live = tokensOf(d.t, refresh(d, live.Refresh, second))
		fresh := tokensOf(d.t, exchange(d, second))
		tokensOf(d.t, refresh(d, fresh.Refresh, second))
	})
	// "Revoking the old secret in the settings takes effect immediately."
	d.run("5.4_revoking_takes_effect_immediately", func(d *desk) {
		live = tokensOf(d.t, refresh(d, live.Refresh, first)) // to the last moment
		d.cli().ok("", "client", "secret", "revoke", "rotating", firstID)
		d.refuses(refresh(d, live.Refresh, first), http.StatusUnauthorized, oauth.InvalidClient)
		d.refuses(exchange(d, first), http.StatusUnauthorized, oauth.InvalidClient)
		live = tokensOf(d.t, refresh(d, live.Refresh, second))
		r := d.cli().run("", "client", "secret", "revoke", "rotating", secondID)
		require.Equal(d.t, exitRefused, r.code, "the last active secret is replaced, not revoked")
		tokensOf(d.t, exchange(d, second))
	})
	// "Existing access and refresh tokens stay valid after rotation."
	d.run("5.4_existing_tokens_stay_valid", func(d *desk) {
		require.Equal(d.t, http.StatusOK, d.me(before.Access).Status)
		newResourceServer(d).opens(d, "alice", "GET /v2/me", before.Access)
		after := tokensOf(d.t, refresh(d, before.Refresh, second))
		require.Equal(d.t, before.Scope, after.Scope)
		require.Equal(d.t, claimsOf(d.t, before.Access)["grant_id"], claimsOf(d.t, after.Access)["grant_id"])
	})
	// "Rotation only affects requests that need `client_secret` (exchange and refresh)."
	d.run("5.4_rotation_affects_requests_with_a_secret_only", func(d *desk) {
		page := d.as("alice").get(ask)
		require.Equal(d.t, http.StatusOK, page.Status)
		third := d.cli().object("client", "secret", "add", "rotating")["secret"].(string)
		d.cli().ok("", "client", "secret", "revoke", "rotating", secondID)
		to := d.as("alice").submit(page, "decision", "decision", "allow")
		require.Equal(d.t, http.StatusSeeOther, to.Status, "a consent page that was open meanwhile")
		require.Equal(d.t, http.StatusOK, d.me(live.Access).Status)
		d.refuses(refresh(d, live.Refresh, second), http.StatusUnauthorized, oauth.InvalidClient)
		require.Equal(d.t, http.StatusOK, d.me(tokensOf(d.t, refresh(d, live.Refresh, third)).Access).Status)
	})
}

// documentEvents: section 6.
func documentEvents(t *testing.T) {
	d := newDesk(t)

	// "Events: not shown."
	d.run("6_not_shown_events_are_audited_in_log_order", func(d *desk) {
		d.cli().ok("", addClient("audited", "--scope", "PROFILE_READ")...)
		d.cli().ok("", "client", "approve", "audited")
		added := d.cli().object("client", "secret", "add", "audited")
		code := d.codeFor(asking("audited", "scope", "PROFILE_READ"))
		pairs := []string{"grant_type", "authorization_code", "redirect_uri", callback, "code", code, "client_id", "audited", "client_secret", added["secret"].(string)}
		tokensOf(d.t, d.form(pairs...))
		d.refuses(d.form(pairs...), http.StatusBadRequest, oauth.InvalidGrant)
		var kinds []string
		last := 0.0
		for _, e := range d.cli().object("audit", "--client", "audited")["events"].([]any) {
			event := e.(map[string]any)
			kinds = append(kinds, event["kind"].(string))
			require.Greater(d.t, event["seq"].(float64), last)
			last = event["seq"].(float64)
		}
		require.Equal(d.t, []string{"client.created", "client.reviewed", "secret.added", "grant.allowed", "grant.exchanged", "grant.reuse"}, kinds)
	})
}

// documentCalls: what a call is answered when it is not let through.
func documentCalls(t *testing.T) {
	d := newDesk(t)
	api := newResourceServer(d)
	token := d.granted(asking("cal-app", "scope", "BOOKING_READ")).Access

	// "When a request is made to an endpoint outside the granted scopes, it is rejected."
	d.run("7_outside_the_granted_scopes_it_is_rejected", func(d *desk) {
		for _, row := range scopeRows {
			if row.scope() != "BOOKING_READ" {
				api.closed(d, row.routes()[0], row.scope(), token)
			}
		}
		require.Equal(d.t, http.StatusForbidden, d.me(token).Status)
	})
	// "Status codes and the shape of error bodies: not shown."
	d.run("7_not_shown_shape_of_errors_of_an_API", func(d *desk) {
		for _, row := range []struct {
			name, code string
			status     int
			headers    []string
		}{
			{"no token", "", http.StatusUnauthorized, nil},
			{"two headers", "invalid_request", http.StatusBadRequest, []string{"Authorization", "Bearer " + token, "Authorization", "Bearer " + token}},
			{"malformed header", "invalid_request", http.StatusBadRequest, []string{"Authorization", "Bearer a b"}},
			{"bad token", "invalid_token", http.StatusUnauthorized, []string{"Authorization", "Bearer " + token + "A"}},
			{"missing scope", "insufficient_scope", http.StatusForbidden, []string{"Authorization", "Bearer " + token}},
		} {
			for _, base := range []string{d.Base, api.URL} {
				a := d.request(http.MethodGet, base+"/v2/me", "", row.headers...)
				require.Equal(d.t, row.status, a.Status, row.name)
				if row.code == "" {
					require.Equal(d.t, "Bearer", a.Header.Get("WWW-Authenticate"))
					require.Empty(d.t, a.Body)
					continue
				}
				require.Contains(d.t, a.Header.Get("WWW-Authenticate"), `Bearer error="`+row.code+`"`)
				require.Equal(d.t, row.code, a.errorCode(d.t))
			}
		}
	})
}
