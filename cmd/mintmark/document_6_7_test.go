package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// documentEvents: section 6.
func documentEvents(t *testing.T) {
	d := newSuite(t)

	// "Events: not shown."
	d.run("6_not_shown_events_are_audited_in_log_order", func(d *suite) {
		made := d.cli().Object(addClient("audited", "--scope", "PROFILE_READ")...)
		d.cli().OK("", "client", "approve", "audited")
		added := d.cli().Object("client", "secret", "add", "audited")
		d.cli().OK("", "client", "secret", "revoke", "audited", made["secret_id"].(string))
		code := d.codeFor(with("audited", "scope", "PROFILE_READ"))
		client := []string{"client_id", "audited", "client_secret", added["secret"].(string)}
		pairs := append([]string{"grant_type", "authorization_code", "redirect_uri", callback, "code", code}, client...)
		issued := tokensOf(d.t, d.form(pairs...))
		for range 2 { // the second asks for a response that was lost
			tokensOf(d.t, d.form(append([]string{"grant_type", "refresh_token", "refresh_token", issued.Refresh}, client...)...))
		}
		refused(d.t, d.form(pairs...), http.StatusBadRequest, oauth.InvalidGrant)
		d.codeFor(with("audited", "scope", "PROFILE_READ")) // a grant that there is to disconnect
		d.cli().OK("", "grant", "disconnect", "--user", "alice", "--client", "audited")
		d.cli().OK("", "client", "set", "audited", "--name", "Another")
		d.cli().OK("", "client", "suspend", "audited")
		d.cli().OK("", "client", "delete", "audited", "--yes")
		var kinds []string
		last := 0.0
		for _, e := range d.cli().Object("audit", "--client", "audited")["events"].([]any) {
			event := e.(map[string]any)
			kinds = append(kinds, event["kind"].(string))
			require.Greater(d.t, event["seq"].(float64), last)
			last = event["seq"].(float64)
		}
		require.Equal(d.t, []string{
			"client.created", "client.reviewed", "secret.added", "secret.revoked",
			"grant.allowed", "grant.exchanged", "grant.retried", "grant.reuse", "grant.allowed", "grant.disconnected",
			"client.edited", "client.reviewed", "client.deleted",
		}, kinds)
	})
}

// documentCalls: what a call is answered when it is not let through.
func documentCalls(t *testing.T) {
	d := newSuite(t)
	api := newResourceServer(d)
	token := d.granted(with("cal-app", "scope", "BOOKING_READ")).Access

	// "When a request is made to an endpoint outside the granted scopes, it is rejected."
	d.run("7_outside_the_granted_scopes_it_is_rejected", func(d *suite) {
		for _, row := range scopeRows {
			if row.scope() != "BOOKING_READ" {
				api.closed(d, row.routes()[0], row.scope(), token)
			}
		}
		require.Equal(d.t, http.StatusForbidden, d.me(token).Status)
	})
	// "Status codes and the shape of error bodies: not shown."
	d.run("7_not_shown_shape_of_errors_of_an_API", func(d *suite) {
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
					require.NotContains(d.t, a.Header.Get("WWW-Authenticate"), "error")
					require.Contains(d.t, a.Header.Get("WWW-Authenticate"), "Bearer")
					require.Empty(d.t, a.Body)
					continue
				}
				require.Contains(d.t, a.Header.Get("WWW-Authenticate"), `Bearer error="`+row.code+`"`)
				require.Equal(d.t, row.code, a.ErrorCode())
			}
		}
	})
}
