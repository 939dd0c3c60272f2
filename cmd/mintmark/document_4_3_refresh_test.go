package main

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// documentRefresh: section 4.3.
func documentRefresh(t *testing.T) {
	d := newSuite(t)
	issued := d.granted(with("cal-app", "scope", "PROFILE_READ BOOKING_READ BOOKING_WRITE"))
	pairs := []string{
		"grant_type", "refresh_token", "client_id", "cal-app", "client_secret", "cal-app-secret", "refresh_token", issued.Refresh,
	}

	// "Request parameters:"
	d.run("4.3_each_request_parameter_is_needed", func(d *suite) {
		rest := pairs[:len(pairs)-2]
		refused(d.t, d.form(rest...), http.StatusBadRequest, oauth.InvalidRequest)
		refused(d.t, d.form(append(slices.Clone(rest), "refresh_token", "")...), http.StatusBadRequest, oauth.InvalidRequest)
		refused(d.t, d.form(pairs[2:]...), http.StatusBadRequest, oauth.InvalidRequest)
		refused(d.t, d.form(without(pairs, "client_id")...), http.StatusBadRequest, oauth.InvalidRequest)
	})
	// "| `grant_type` | Must be `refresh_token`. |"
	d.run("4.3_grant_type_must_be_refresh_token", func(d *suite) {
		for _, value := range []string{"refresh", "REFRESH_TOKEN", "password"} {
			refused(d.t, d.form(append([]string{"grant_type", value}, pairs[2:]...)...), http.StatusBadRequest, oauth.UnsupportedGrantType)
		}
		refused(d.t, d.form(append([]string{"grant_type", "authorization_code"}, pairs[2:]...)...), http.StatusBadRequest, oauth.InvalidRequest)
	})
	// "Response: the token response of section 2.3."
	d.run("4.3_response_is_the_token_response", func(d *suite) {
		a := d.form(pairs...)
		m := d.members(a)
		for _, name := range []string{"access_token", "refresh_token", "token_type", "expires_in", "scope"} {
			require.Contains(d.t, m, name)
		}
		require.Len(d.t, m, 5)
		issued = tokensOf(d.t, a)
	})
	// "The scopes of the original authorization are kept; they are not sent again."
	d.run("4.3_scopes_of_the_authorization_are_kept", func(d *suite) {
		const all = "PROFILE_READ BOOKING_READ BOOKING_WRITE"
		narrow := tokensOf(d.t, d.refresh("cal-app", issued.Refresh, "scope", "BOOKING_READ"))
		require.Equal(d.t, "BOOKING_READ", narrow.Scope)
		d.cli().OK("", "client", "set", "cal-app", "--scope", "PROFILE_READ")
		kept := tokensOf(d.t, d.refresh("cal-app", narrow.Refresh)) // nor looked up again from the client
		require.Equal(d.t, all, kept.Scope)
		require.Equal(d.t, all, claimsOf(d.t, kept.Access)["scope"])
		refused(d.t, d.refresh("cal-app", kept.Refresh, "scope", all+" ORG_PROFILE_READ"), http.StatusBadRequest, oauth.InvalidScope)
		require.Equal(d.t, all, tokensOf(d.t, d.refresh("cal-app", kept.Refresh)).Scope)
	})
}
