package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// documentScopes: section 2.4 and what 5.1 says of scopes. Each token comes
// from a whole authorization that asks for one scope.
func documentScopes(t *testing.T) {
	d := newSuite(t, everyApp)
	api := newResourceServer(d)
	described := map[string]scope.Scope{}
	for _, s := range scope.Catalogue() {
		described[s.Name] = s
	}
	supported := d.request(http.MethodGet, oauth.PathMetadata, "").JSON(t)["scopes_supported"]
	held := map[string]string{}
	only := func(d *suite, name string) string { // the token of one scope
		d.t.Helper()
		if held[name] == "" {
			issued := d.granted(with("every-app", "scope", name))
			require.Equal(d.t, name, issued.Scope)
			held[name] = issued.Access
		}
		return held[name]
	}
	for _, row := range scopeRows {
		d.run(row.name, func(d *suite) {
			require.Equal(d.t, row.allows, described[row.scope()].Allows)
			require.Equal(d.t, row.level(), described[row.scope()].Level)
			require.Equal(d.t, strings.HasSuffix(row.name, "_WRITE"), described[row.scope()].Writes)
			require.Contains(d.t, supported, row.scope())

			token := only(d, row.scope())
			for _, route := range row.routes() {
				api.opens(d, "alice", route, token)
				require.Equal(d.t, http.StatusUnauthorized, api.call(d, route, "").Status, "%s without a token", route)
			}
			for _, other := range scopeRows {
				if row.grants(other) {
					api.opens(d, "alice", other.routes()[0], token)
				} else {
					api.closed(d, other.routes()[0], other.scope(), token)
				}
			}
		})
	}
	levels := func(l scope.Level) (names []string) {
		for _, row := range scopeRows {
			if row.level() == l {
				names = append(names, row.scope())
			}
		}
		return names
	}

	// "User-level scopes (they cover the authorized user's own resources):"
	d.run("2.4_user_level_scopes_cover_the_users_own_resources", func(d *suite) {
		names := levels(scope.User)
		require.Len(d.t, names, 10)
		for _, user := range []string{"alice", "bob"} {
			issued := d.grantedBy(user, with("every-app", "scope", strings.Join(names, " ")))
			for _, row := range scopeRows {
				for _, route := range row.routes() {
					if row.level() == scope.User {
						api.opens(d, user, route, issued.Access) // as this user
					} else {
						api.closed(d, route, row.scope(), issued.Access)
					}
				}
			}
		}
	})
	// "Team scopes (endpoints under `/v2/teams/:teamId/...` and `/v2/organizations/:orgId/teams/:teamId/...`):"
	d.run("2.4_team_scopes_cover_both_addresses_of_a_team", func(d *suite) {
		names := levels(scope.Team)
		require.Len(d.t, names, 10)
		issued := d.granted(with("every-app", "scope", strings.Join(names, " ")))
		for _, row := range scopeRows {
			for _, route := range row.routes() {
				_, path, _ := strings.Cut(route, " ")
				if strings.HasPrefix(path, team+"/") || strings.HasPrefix(path, teamOf+"/") {
					api.opens(d, "alice", route, issued.Access)
				} else {
					api.closed(d, route, row.scope(), issued.Access)
				}
			}
		}
	})
	// "Organization scopes (endpoints under `/v2/organizations/:orgId/...` that do not target a specific team):"
	d.run("2.4_organization_scopes_cover_what_names_no_team", func(d *suite) {
		names := levels(scope.Organization)
		require.Len(d.t, names, 10)
		issued := d.granted(with("every-app", "scope", strings.Join(names, " ")))
		for _, row := range scopeRows {
			for _, route := range row.routes() {
				if row.level() == scope.User {
					api.closed(d, route, row.scope(), issued.Access)
				} else {
					api.opens(d, "alice", route, issued.Access)
				}
			}
		}
	})

	// "An access token only calls endpoints covered by the scopes granted to it; any other request is rejected."
	d.run("5.1_only_endpoints_covered_by_the_scopes_granted", func(d *suite) {
		issued := d.granted(with("every-app", "scope", "BOOKING_READ SCHEDULE_WRITE"))
		for _, row := range scopeRows {
			for _, route := range row.routes() {
				if row.scope() == "BOOKING_READ" || row.scope() == "SCHEDULE_WRITE" {
					api.opens(d, "alice", route, issued.Access)
				} else {
					api.closed(d, route, row.scope(), issued.Access)
				}
			}
		}
		narrow := tokensOf(d.t, d.refresh("every-app", issued.Refresh, "scope", "SCHEDULE_WRITE"))
		api.closed(d, "GET /v2/bookings", "BOOKING_READ", narrow.Access)
		api.opens(d, "alice", "POST /v2/schedules", narrow.Access)
	})
	// "Some endpoints, such as creating, cancelling and rescheduling bookings, are public and need no scope."
	d.run("5.1_public_endpoints_need_no_scope", func(d *suite) {
		for _, route := range publicRoutes {
			require.Equal(d.t, http.StatusOK, api.call(d, route, "").Status, route)
			require.Equal(d.t, http.StatusUnauthorized, api.call(d, route, only(d, "APPS_READ")+"x").Status, "a token that comes along must be good")
		}
	})
	// "An access token may call them, and no additional scope is required."
	d.run("5.1_an_access_token_may_call_public_endpoints", func(d *suite) {
		for _, row := range scopeRows {
			for _, route := range publicRoutes {
				a := api.call(d, route, only(d, row.scope()))
				require.Equal(d.t, http.StatusOK, a.Status, "%s with %s", route, row.scope())
				require.Equal(d.t, "u-alice", a.Body)
			}
		}
	})
	// "An `ORG_` scope also grants the corresponding `TEAM_` scope (for example `ORG_PROFILE_READ` grants `TEAM_PROFILE_READ`)."
	d.run("5.1_an_ORG_scope_grants_its_TEAM_scope", func(d *suite) {
		pairs := 0
		for _, row := range scopeRows {
			area, ok := strings.CutPrefix(row.scope(), "TEAM_")
			if !ok {
				continue
			}
			pairs++
			for _, route := range row.routes() {
				api.opens(d, "alice", route, only(d, "ORG_"+area))
			}
			for _, other := range scopeRows {
				if other.scope() == "ORG_"+area {
					api.closed(d, other.routes()[0], other.scope(), only(d, "TEAM_"+area)) // not the reverse
				}
			}
		}
		require.Equal(d.t, 10, pairs)
		api.opens(d, "alice", "GET "+team+"/profile", only(d, "ORG_PROFILE_READ"))
	})
	// "Tokens of a legacy client are not limited by scope (section 9)."
	d.run("5.1_tokens_of_a_legacy_client_are_not_limited", func(d *suite) {
		issued := d.granted(good("legacy-app"))
		require.Empty(d.t, issued.Scope)
		for _, row := range scopeRows {
			for _, route := range row.routes() {
				api.opens(d, "alice", route, issued.Access)
			}
		}
	})
	// "API calls carry the header `Authorization: Bearer <ACCESS_TOKEN>`."
	d.run("5.1_calls_carry_the_Authorization_header", func(d *suite) {
		token := only(d, "PROFILE_READ")
		for _, base := range []string{d.Base, api.URL} {
			get := func(path string, headers ...string) int {
				d.t.Helper()
				return d.request(http.MethodGet, base+path, "", headers...).Status
			}
			require.Equal(d.t, http.StatusOK, get("/v2/me", "Authorization", "Bearer "+token))
			for _, headers := range [][]string{nil, {"X-Access-Token", token}, {"Cookie", "access_token=" + token}} {
				require.Equal(d.t, http.StatusUnauthorized, get("/v2/me?access_token="+token, headers...))
			}
			require.Equal(d.t, http.StatusUnauthorized, get("/v2/me", "Authorization", "Token "+token))
			require.Equal(d.t, http.StatusBadRequest, get("/v2/me", "Authorization", "Bearer"))
		}
	})
}
