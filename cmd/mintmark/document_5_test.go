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
	s := stepSequence{suite: newSuite(t)}
	var secret, code string
	var issued tokens

	// "The developer creates a client, selects at least one scope and registers redirect URIs (up to 10)."
	s.step("5.2_the_developer_creates_a_client", func(d *suite) {
		made, err := d.s.Issuer.Secret("a secret of the developer's")
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
		d.cli().OK("", "client", "approve", "flow-app")
	})
	// "The application sends the user to the authorization step (4.1) with the needed scopes."
	s.step("5.2_the_user_is_sent_to_the_authorization_step", func(d *suite) {
		page := d.browserOf("alice").get(with("flow-app"))
		require.Equal(d.t, http.StatusOK, page.Status)
		require.Contains(d.t, page.Body, "See your bookings", "the needed scopes in words")
		one := d.browserOf("alice").get(with("flow-app", "scope", "PROFILE_READ"))
		require.NotContains(d.t, one.Body, "See your bookings")
		code = d.codeFor(with("flow-app"))
	})
	// "The application exchanges the code (4.2) and uses the access token."
	s.step("5.2_the_code_is_exchanged_and_the_access_token_used", func(d *suite) {
		issued = tokensOf(d.t, d.form("grant_type", "authorization_code", "code", code, "redirect_uri", callback, "client_id", "flow-app", "client_secret", secret))
		require.Equal(d.t, http.StatusOK, d.me(issued.Access).Status)
		newResourceServer(d).opens(d, "alice", "GET /v2/bookings", issued.Access)
	})
}

// documentClientAuthentication: section 5.3.
func documentClientAuthentication(t *testing.T) {
	d := newSuite(t)

	// "Token exchange and refresh require `client_id` and `client_secret`."
	d.run("5.3_exchange_and_refresh_require_id_and_secret", func(d *suite) {
		exchange := []string{"grant_type", "authorization_code", "redirect_uri", callback, "code", d.codeFor(good("cal-app"))}
		try := func(pairs []string) answer {
			d.t.Helper()
			refused(d.t, d.form(pairs...), http.StatusBadRequest, oauth.InvalidRequest)
			refused(d.t, d.form(append(pairs, "client_id", "cal-app")...), http.StatusUnauthorized, oauth.InvalidClient)
			refused(d.t, d.form(append(pairs, "client_secret", "cal-app-secret")...), http.StatusBadRequest, oauth.InvalidRequest)
			refused(d.t, d.form(append(pairs, "client_id", "cal-app", "client_secret", "wrong")...), http.StatusUnauthorized, oauth.InvalidClient)
			return d.form(append(pairs, "client_id", "cal-app", "client_secret", "cal-app-secret")...)
		}
		issued := tokensOf(d.t, try(exchange))
		tokensOf(d.t, try([]string{"grant_type", "refresh_token", "refresh_token", issued.Refresh}))
	})
}
