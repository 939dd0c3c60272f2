package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/oauth"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// everyApp may ask for every scope.
var everyApp = `  - {id: every-app, name: Every App, owner: alice, redirect_uris: ["` + callback + `"], secrets: [every-app-secret], scopes: [` +
	strings.Join(scope.All().Names(), ", ") + `]}`

// A scopeRow is one row of a table of section 2.4, with routes that do what
// it says.
type scopeRow struct{ name, allows, under string }

func (r scopeRow) scope() string { return strings.TrimPrefix(r.name, "2.4_") }

func (r scopeRow) level() scope.Level {
	switch prefix, _, _ := strings.Cut(r.scope(), "_"); prefix {
	case "TEAM":
		return scope.Team
	case "ORG":
		return scope.Organization
	}
	return scope.User
}

const (
	team         = "/v2/teams/{teamId}"
	teamOf       = "/v2/organizations/{orgId}/teams/{teamId}"
	organization = "/v2/organizations/{orgId}"
)

// routes are those of under, which are separated by commas; those of a team
// are there below both of its addresses.
func (r scopeRow) routes() (list []string) {
	for route := range strings.SplitSeq(r.under, ", ") {
		method, path, _ := strings.Cut(route, " ")
		switch r.level() {
		case scope.User:
			list = append(list, method+" /v2"+path)
		case scope.Team:
			list = append(list, method+" "+team+path, method+" "+teamOf+path)
		case scope.Organization:
			list = append(list, method+" "+organization+path)
		}
	}
	return list
}

var scopeRows = []scopeRow{
	{"2.4_EVENT_TYPE_READ", "Listing and viewing event types, their private links, and event type webhooks.", "GET /event-types, GET /event-types/{id}, GET /event-types/{id}/private-links, GET /event-types/{id}/webhooks"},
	{"2.4_EVENT_TYPE_WRITE", "Creating, updating and deleting event types; managing private links; managing event type webhooks.", "POST /event-types, PATCH /event-types/{id}, DELETE /event-types/{id}, POST /event-types/{id}/private-links, POST /event-types/{id}/webhooks"},
	{"2.4_BOOKING_READ", "Listing bookings; viewing recordings, transcripts, calendar links, references, and booking attendees.", "GET /bookings, GET /bookings/{uid}/recordings, GET /bookings/{uid}/transcripts, GET /bookings/{uid}/calendar-links, GET /bookings/{uid}/references, GET /bookings/{uid}/attendees"},
	{"2.4_BOOKING_WRITE", "Adding guests and attendees, updating locations, confirming, declining, and reassigning bookings.", "POST /bookings/{uid}/guests, POST /bookings/{uid}/attendees, PATCH /bookings/{uid}/location, POST /bookings/{uid}/confirm, POST /bookings/{uid}/decline, POST /bookings/{uid}/reassign"},
	{"2.4_SCHEDULE_READ", "Listing and viewing schedules; viewing out-of-office entries.", "GET /schedules, GET /schedules/{id}, GET /me/ooo"},
	{"2.4_SCHEDULE_WRITE", "Creating, updating and deleting schedules and out-of-office entries.", "POST /schedules, PATCH /schedules/{id}, DELETE /schedules/{id}, POST /me/ooo, PATCH /me/ooo/{id}, DELETE /me/ooo/{id}"},
	{"2.4_APPS_READ", "Listing connected calendars, checking busy times, checking ICS feeds, verifying calendar connections, viewing conferencing apps.", "GET /calendars, GET /calendars/busy-times, GET /calendars/ics-feed/check, GET /conferencing"},
	{"2.4_APPS_WRITE", "Saving ICS feeds, connecting calendars via OAuth, saving Apple calendar credentials, disconnecting calendars, connecting and disconnecting conferencing apps, managing selected and destination calendars.", "POST /calendars/ics-feed/save, GET /calendars/{calendar}/connect, POST /calendars/{calendar}/credentials, POST /calendars/{calendar}/disconnect, POST /conferencing/{app}/connect, DELETE /conferencing/{app}/disconnect, POST /selected-calendars, PUT /destination-calendars"},
	{"2.4_PROFILE_READ", "Viewing the authorized user's profile.", "GET /me"},
	{"2.4_PROFILE_WRITE", "Updating the authorized user's profile.", "PATCH /me"},

	{"2.4_TEAM_EVENT_TYPE_READ", "View team event types, their private links, and webhooks.", "GET /event-types, GET /event-types/{id}/private-links, GET /event-types/{id}/webhooks"},
	{"2.4_TEAM_EVENT_TYPE_WRITE", "Create, edit, delete team event types, their private links, and webhooks.", "POST /event-types, PATCH /event-types/{id}, DELETE /event-types/{id}, POST /event-types/{id}/private-links, POST /event-types/{id}/webhooks"},
	{"2.4_TEAM_BOOKING_READ", "View team bookings.", "GET /bookings"},
	{"2.4_TEAM_BOOKING_WRITE", "Create, edit, delete team bookings.", "POST /bookings, PATCH /bookings/{uid}, DELETE /bookings/{uid}"},
	{"2.4_TEAM_SCHEDULE_READ", "View team schedules and out-of-office entries.", "GET /schedules, GET /users/{userId}/ooo"},
	{"2.4_TEAM_SCHEDULE_WRITE", "Create, edit, delete team schedules and out-of-office entries.", "POST /schedules, PATCH /schedules/{id}, DELETE /schedules/{id}, POST /users/{userId}/ooo"},
	{"2.4_TEAM_PROFILE_READ", "View team profiles.", "GET /profile"},
	{"2.4_TEAM_PROFILE_WRITE", "Create, edit, delete teams.", "PATCH /profile, DELETE /profile"},
	{"2.4_TEAM_MEMBERSHIP_READ", "View team memberships.", "GET /memberships, GET /memberships/{id}"},
	{"2.4_TEAM_MEMBERSHIP_WRITE", "Create, edit, delete team memberships.", "POST /memberships, PATCH /memberships/{id}, DELETE /memberships/{id}"},

	{"2.4_ORG_EVENT_TYPE_READ", "View all event types across the organization.", "GET /teams/event-types"},
	{"2.4_ORG_EVENT_TYPE_WRITE", "Create, edit, delete event types across the organization.", "POST /event-types, PATCH /event-types/{id}, DELETE /event-types/{id}"},
	{"2.4_ORG_BOOKING_READ", "View all bookings across the organization.", "GET /bookings"},
	{"2.4_ORG_BOOKING_WRITE", "Create, edit, delete bookings across the organization.", "POST /bookings, PATCH /bookings/{uid}, DELETE /bookings/{uid}"},
	{"2.4_ORG_SCHEDULE_READ", "View schedules and out-of-office entries across the organization.", "GET /schedules, GET /ooo, GET /users/{userId}/schedules"},
	{"2.4_ORG_SCHEDULE_WRITE", "Create, edit, delete schedules and out-of-office entries across the organization.", "POST /users/{userId}/schedules, PATCH /users/{userId}/schedules/{id}, DELETE /users/{userId}/schedules/{id}, POST /users/{userId}/ooo"},
	{"2.4_ORG_PROFILE_READ", "View organization teams.", "GET /teams"},
	{"2.4_ORG_PROFILE_WRITE", "Create, edit, delete organization teams.", "POST /teams, PATCH /teams/{teamId}, DELETE /teams/{teamId}"},
	{"2.4_ORG_MEMBERSHIP_READ", "View organization memberships and users.", "GET /memberships, GET /users"},
	{"2.4_ORG_MEMBERSHIP_WRITE", "Create, edit, delete organization memberships and users.", "POST /memberships, PATCH /memberships/{id}, DELETE /memberships/{id}, POST /users, PATCH /users/{userId}"},
}

// grants says whether one scope opens what another names.
func (r scopeRow) grants(other scopeRow) bool {
	return r == other || r.scope() == strings.Replace(other.scope(), "TEAM_", "ORG_", 1)
}

// documentScopes: section 2.4 and what 5.1 says of scopes. Each token comes
// from a whole authorization that asks for one scope.
func documentScopes(t *testing.T) {
	d := newDesk(t, everyApp)
	api := newResourceServer(d)
	described := map[string]scope.Scope{}
	for _, s := range scope.Catalogue() {
		described[s.Name] = s
	}
	supported := d.request(http.MethodGet, oauth.PathMetadata, "").json(t)["scopes_supported"]
	only := map[string]string{} // the token of each scope
	for _, row := range scopeRows {
		d.run(row.name, func(d *desk) {
			require.Equal(d.t, row.allows, described[row.scope()].Allows)
			require.Equal(d.t, row.level(), described[row.scope()].Level)
			require.Equal(d.t, strings.HasSuffix(row.name, "_WRITE"), described[row.scope()].Writes)
			require.Contains(d.t, supported, row.scope())

			issued := d.granted(asking("every-app", "scope", row.scope()))
			only[row.scope()] = issued.Access
			require.Equal(d.t, row.scope(), issued.Scope)
			for _, route := range row.routes() {
				api.opens(d, "alice", route, issued.Access)
				require.Equal(d.t, http.StatusUnauthorized, api.call(d, route, "").Status, "%s without a token", route)
			}
			for _, other := range scopeRows {
				if row.grants(other) {
					api.opens(d, "alice", other.routes()[0], issued.Access)
				} else {
					api.closed(d, other.routes()[0], other.scope(), issued.Access)
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
	d.run("2.4_user_level_scopes_cover_the_users_own_resources", func(d *desk) {
		names := levels(scope.User)
		require.Len(d.t, names, 10)
		for _, user := range []string{"alice", "bob"} {
			issued := d.grantedBy(user, asking("every-app", "scope", strings.Join(names, " ")))
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
	d.run("2.4_team_scopes_cover_both_addresses_of_a_team", func(d *desk) {
		names := levels(scope.Team)
		require.Len(d.t, names, 10)
		issued := d.granted(asking("every-app", "scope", strings.Join(names, " ")))
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
	d.run("2.4_organization_scopes_cover_what_names_no_team", func(d *desk) {
		names := levels(scope.Organization)
		require.Len(d.t, names, 10)
		issued := d.granted(asking("every-app", "scope", strings.Join(names, " ")))
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
	d.run("5.1_only_endpoints_covered_by_the_scopes_granted", func(d *desk) {
		issued := d.granted(asking("every-app", "scope", "BOOKING_READ SCHEDULE_WRITE"))
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
	d.run("5.1_public_endpoints_need_no_scope", func(d *desk) {
		for _, route := range publicRoutes {
			require.Equal(d.t, http.StatusOK, api.call(d, route, "").Status, route)
			require.Equal(d.t, http.StatusUnauthorized, api.call(d, route, only["APPS_READ"]+"x").Status, "a token that comes along must be good")
		}
	})
	// "An access token may call them, and no additional scope is required."
	d.run("5.1_an_access_token_may_call_public_endpoints", func(d *desk) {
		for name, token := range only {
			for _, route := range publicRoutes {
				a := api.call(d, route, token)
				require.Equal(d.t, http.StatusOK, a.Status, "%s with %s", route, name)
				require.Equal(d.t, "u-alice", a.Body)
			}
		}
	})
	// "An `ORG_` scope also grants the corresponding `TEAM_` scope (for example `ORG_PROFILE_READ` grants `TEAM_PROFILE_READ`)."
	d.run("5.1_an_ORG_scope_grants_its_TEAM_scope", func(d *desk) {
		pairs := 0
		for _, row := range scopeRows {
			area, ok := strings.CutPrefix(row.scope(), "TEAM_")
			if !ok {
				continue
			}
			pairs++
			for _, route := range row.routes() {
				api.opens(d, "alice", route, only["ORG_"+area])
			}
			for _, other := range scopeRows {
				if other.scope() == "ORG_"+area {
					api.closed(d, other.routes()[0], other.scope(), only["TEAM_"+area]) // not the reverse
				}
			}
		}
		require.Equal(d.t, 10, pairs)
		api.opens(d, "alice", "GET "+team+"/profile", only["ORG_PROFILE_READ"])
	})
	// "Tokens of a legacy client are not limited by scope (section 9)."
	d.run("5.1_tokens_of_a_legacy_client_are_not_limited", func(d *desk) {
		issued := d.granted(good("legacy-app"))
		require.Empty(d.t, issued.Scope)
		for _, row := range scopeRows {
			for _, route := range row.routes() {
				api.opens(d, "alice", route, issued.Access)
			}
		}
	})
	// "API calls carry the header `Authorization: Bearer <ACCESS_TOKEN>`."
	d.run("5.1_calls_carry_the_Authorization_header", func(d *desk) {
		token := only["PROFILE_READ"]
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
