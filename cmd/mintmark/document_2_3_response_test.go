package main

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// documentCode: section 2.2.
func documentCode(t *testing.T) {
	d := newSuite(t)

	// "Issued to `redirect_uri` as the URL parameter `code`, together with the `state` value that the application sent."
	d.run("2.2_code_is_issued_to_the_redirect_uri_with_state", func(d *suite) {
		for _, uri := range []string{callback, "https://cal.example/callback"} {
			to := d.browserOf("alice").allow("alice", with("cal-app", "redirect_uri", uri, "state", "sent by the app"))
			base, _, _ := strings.Cut(to.String(), "?")
			require.Equal(d.t, uri, base)
			require.Empty(d.t, to.Fragment)
			require.Len(d.t, to.Query()["code"], 1)
			require.Equal(d.t, []string{"sent by the app"}, to.Query()["state"])

			issued := d.form("grant_type", "authorization_code", "code", to.Query().Get("code"), "redirect_uri", uri,
				"client_id", "cal-app", "client_secret", "cal-app-secret")
			require.Equal(d.t, http.StatusOK, issued.Status, issued.Body)
		}
	})
}

// members are the members of an answer as they were written.
func (d *suite) members(a answer) map[string]json.RawMessage {
	d.t.Helper()
	require.Equal(d.t, http.StatusOK, a.Status, a.Body)
	var m map[string]json.RawMessage
	require.NoError(d.t, json.Unmarshal([]byte(a.Body), &m))
	return m
}

// documentResponse: section 2.3, for exchange and refresh alike.
func documentResponse(t *testing.T) {
	d := newSuite(t)
	exchanged := d.exchange("cal-app", d.codeFor(with("cal-app", "scope", "PROFILE_READ BOOKING_READ BOOKING_WRITE")))
	refreshed := d.refresh("cal-app", tokensOf(t, exchanged).Refresh)
	both := func(d *suite, check func(map[string]json.RawMessage)) {
		d.t.Helper()
		check(d.members(exchanged))
		check(d.members(refreshed))
	}
	isString := func(d *suite, m map[string]json.RawMessage, name string) string {
		d.t.Helper()
		var s string
		require.NoError(d.t, json.Unmarshal(m[name], &s), name)
		require.NotEmpty(d.t, s)
		return s
	}

	// "| `access_token` | string | Bearer token, <ACCESS_TOKEN>. |"
	d.run("2.3_access_token_is_a_bearer_token", func(d *suite) {
		both(d, func(m map[string]json.RawMessage) {
			require.Len(d.t, m, 5, "these five members and no other")
			token := isString(d, m, "access_token")
			require.Equal(d.t, http.StatusOK, d.request(http.MethodGet, oauth.PathMe, "", "Authorization", "Bearer "+token).Status)
			require.Equal(d.t, http.StatusUnauthorized, d.request(http.MethodGet, oauth.PathMe, "", "Authorization", "Basic "+token).Status)
		})
	})
	// "| `refresh_token` | string | <REFRESH_TOKEN>."
	d.run("2.3_refresh_token_is_a_string", func(d *suite) {
		both(d, func(m map[string]json.RawMessage) {
			token := isString(d, m, "refresh_token")
			require.Regexp(d.t, regexp.MustCompile(`^[!-~]+$`), token)
			require.Equal(d.t, http.StatusUnauthorized, d.me(token).Status, "it is no access token")
		})
	})
	// "A new one is returned with each response."
	d.run("2.3_a_new_refresh_token_with_each_response", func(d *suite) {
		issued := d.granted(good("cal-app"))
		var all []string
		for range 5 {
			require.NotContains(d.t, all, issued.Refresh)
			all = append(all, issued.Refresh)
			issued = tokensOf(d.t, d.refresh("cal-app", issued.Refresh))
		}
		refused(d.t, d.refresh("cal-app", all[0]), http.StatusBadRequest, oauth.InvalidGrant) // the old ones are spent
	})
	// "| `token_type` | string | The value is `bearer`. |"
	d.run("2.3_token_type_is_bearer", func(d *suite) {
		both(d, func(m map[string]json.RawMessage) { require.Equal(d.t, `"bearer"`, string(m["token_type"])) })
	})
	// "| `expires_in` | integer | Seconds until the access token expires. The value is 1800. |"
	d.run("2.3_expires_in_is_1800", func(d *suite) {
		both(d, func(m map[string]json.RawMessage) {
			require.Equal(d.t, "1800", string(m["expires_in"]))
			claims := claimsOf(d.t, isString(d, m, "access_token"))
			require.InDelta(d.t, 1800, claims["exp"].(float64)-claims["iat"].(float64), 0)
		})
	})
	// "| `scope` | string | Granted scopes separated by single spaces. |"
	d.run("2.3_scope_is_separated_by_single_spaces", func(d *suite) {
		both(d, func(m map[string]json.RawMessage) {
			require.Equal(d.t, "PROFILE_READ BOOKING_READ BOOKING_WRITE", isString(d, m, "scope"))
			require.Equal(d.t, "PROFILE_READ BOOKING_READ BOOKING_WRITE", claimsOf(d.t, isString(d, m, "access_token"))["scope"])
		})
		odd := d.granted(with("cal-app", "scope", ", BOOKING_READ,,  PROFILE_READ ,BOOKING_READ "))
		names := strings.Split(odd.Scope, " ")
		slices.Sort(names)
		require.Equal(d.t, []string{"BOOKING_READ", "PROFILE_READ"}, names)
	})
}
