package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// documentVersion: the version of the API, and what a legacy client is.
func documentVersion(t *testing.T) {
	d := newSuite(t)

	// "API paths carry the version prefix `/v2`."
	d.run("9_paths_carry_the_prefix_v2", func(d *suite) {
		token := d.granted(good("cal-app")).Access
		for _, prefix := range []string{"", "/v1", "/v3", "/api/v2"} {
			require.Equal(d.t, http.StatusNotFound, d.request(http.MethodGet, prefix+"/me", "", "Authorization", "Bearer "+token).Status)
			a := d.request(http.MethodPost, prefix+"/auth/oauth2/token", "", "Content-Type", "application/x-www-form-urlencoded")
			require.Equal(d.t, http.StatusNotFound, a.Status)
		}
		require.Equal(d.t, http.StatusOK, d.me(token).Status)
		require.Equal(d.t, http.StatusBadRequest, d.form().Status)
	})
	// "Any version header or deprecation policy: not shown."
	d.run("9_not_shown_no_version_header_and_no_deprecation", func(d *suite) {
		issued := d.granted(good("cal-app"))
		plain := d.me(issued.Access)
		a := d.request(http.MethodGet, oauth.PathMe, "", "Authorization", "Bearer "+issued.Access, "Api-Version", "2019-01-01", "Accept-Version", "1")
		require.Equal(d.t, plain.Body, a.Body)
		for _, a := range []answer{plain, d.refresh("cal-app", issued.Refresh), d.browserOf("alice").get(good("cal-app"))} {
			for name := range a.Header {
				require.NotContains(d.t, strings.ToLower(name), "version")
			}
			require.Empty(d.t, a.Header.Get("Deprecation"), "nothing is to be removed")
			require.Empty(d.t, a.Header.Get("Sunset"))
		}
	})

	// "Legacy client: a client created before scopes were introduced."
	d.run("9_a_legacy_client_is_imported", func(d *suite) {
		r := d.importing(`{"id":"imported","name":"Imported","owner":"alice","redirect_uris":["` + callback + `"],"secret":"imported-secret"}`)
		require.Equal(d.t, cli.ExitOK, r.Code, r.Err)
		require.Equal(d.t, "legacy", d.client("imported")["kind"])
		require.Empty(d.t, d.granted(with("imported", "scope", "")).Scope)
		require.Equal(d.t, cli.ExitLocal, d.cli().Run("", addClient("made-legacy", "--legacy", "--scope", "PROFILE_READ")...).Code, "none is made after it")
	})
	// "Its tokens access any resource on behalf of the authorizing user without scope restrictions."
	d.run("9_legacy_tokens_access_any_resource_of_their_user", func(d *suite) {
		api := newResourceServer(d)
		for _, user := range []string{"alice", "bob"} {
			issued := d.grantedBy(user, good("legacy-app"))
			require.Empty(d.t, issued.Scope)
			refreshed := tokensOf(d.t, d.refresh("legacy-app", issued.Refresh))
			for _, token := range []string{issued.Access, refreshed.Access} {
				require.Equal(d.t, true, claimsOf(d.t, token)["legacy"])
				for _, row := range scopeRows {
					api.opens(d, user, row.routes()[0], token)
				}
				for _, route := range publicRoutes {
					require.Equal(d.t, http.StatusOK, api.call(d, route, token).Status)
				}
			}
		}
	})
}
