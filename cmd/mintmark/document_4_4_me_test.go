package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// documentMe: section 4.4.
func documentMe(t *testing.T) {
	d := newSuite(t)
	token := d.granted(with("cal-app", "scope", "PROFILE_READ")).Access

	// "`GET {base_url}/v2/me`"
	d.run("4.4_GET_me", func(d *suite) {
		require.Equal(d.t, http.StatusOK, d.request(http.MethodGet, d.Base+"/v2/me", "", "Authorization", "Bearer "+token).Status)
		for _, method := range []string{http.MethodPost, http.MethodDelete} {
			require.Equal(d.t, http.StatusMethodNotAllowed, d.request(method, d.Base+"/v2/me", "", "Authorization", "Bearer "+token).Status)
		}
		require.Equal(d.t, http.StatusNotFound, d.request(http.MethodGet, d.Base+"/me", "", "Authorization", "Bearer "+token).Status)
	})
	// "Header: `Authorization: Bearer <ACCESS_TOKEN>`."
	d.run("4.4_header_is_Authorization_Bearer", func(d *suite) {
		none := d.request(http.MethodGet, oauth.PathMe, "")
		require.Equal(d.t, http.StatusUnauthorized, none.Status)
		require.Equal(d.t, `Bearer resource_metadata="`+d.Base+`/.well-known/oauth-protected-resource/v2/me"`, none.Header.Get("WWW-Authenticate"))
		described := d.request(http.MethodGet, "/.well-known/oauth-protected-resource/v2/me", "") // RFC 9728 §3
		require.Equal(d.t, http.StatusOK, described.Status)
		require.Equal(d.t, "application/json", described.Header.Get("Content-Type"))
		require.Equal(d.t, map[string]any{
			"resource": d.Base + "/v2/me", "authorization_servers": []any{d.Base},
			"scopes_supported": []any{"PROFILE_READ", "PROFILE_WRITE"}, "bearer_methods_supported": []any{"header"},
		}, described.JSON(d.t))
		require.Equal(d.t, http.StatusUnauthorized, d.me(token+"A").Status)
		require.Equal(d.t, http.StatusUnauthorized, d.me(token[:len(token)-4]).Status)
		require.Equal(d.t, http.StatusOK, d.me(token).Status)
	})
	// "Returns the authorized user's profile"
	d.run("4.4_returns_the_profile_of_the_authorized_user", func(d *suite) {
		for user, mail := range map[string]string{"alice": "alice@example.com", "bob": "bob@example.com"} {
			me := d.me(d.grantedBy(user, with("cal-app", "scope", "PROFILE_READ")).Access)
			data := me.JSON(d.t)["data"].(map[string]any)
			require.Equal(d.t, "u-"+user, data["id"])
			require.Equal(d.t, user, data["username"])
			require.Equal(d.t, mail, data["email"])
		}
	})
	// "the token needs scope `PROFILE_READ` for scoped clients."
	d.run("4.4_needs_PROFILE_READ_for_scoped_clients", func(d *suite) {
		for _, text := range []string{"BOOKING_READ", "BOOKING_READ BOOKING_WRITE ORG_PROFILE_READ"} {
			a := d.me(d.granted(with("cal-app", "scope", text)).Access)
			require.Equal(d.t, http.StatusForbidden, a.Status, text)
			require.Contains(d.t, a.Header.Get("WWW-Authenticate"), `scope="PROFILE_READ"`)
		}
		legacy := d.granted(good("legacy-app"))
		require.Empty(d.t, legacy.Scope)
		require.Equal(d.t, http.StatusOK, d.me(legacy.Access).Status)
	})
	// "Fields of the response: not shown."
	d.run("4.4_not_shown_fields_of_the_response", func(d *suite) {
		m := d.me(token).JSON(d.t)
		require.Equal(d.t, "success", m["status"])
		require.Len(d.t, m, 2)
		data := m["data"].(map[string]any)
		var names []string
		for name, value := range data {
			names = append(names, name)
			switch name {
			case "timeFormat":
				require.IsType(d.t, 0.0, value)
			default:
				if value != nil {
					require.IsType(d.t, "", value, name)
				}
			}
		}
		require.ElementsMatch(d.t, []string{
			"id", "username", "email", "name", "avatarUrl", "bio", "timeFormat", "defaultScheduleId", "weekStart", "timeZone", "locale", "organizationId",
		}, names)
		require.Equal(d.t, "Europe/London", data["timeZone"])
		require.Nil(d.t, data["bio"])
	})
}
