package main

import (
	"strings"

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
