package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/middleware/policy"
)

func TestCheck(t *testing.T) {
	table := load(t, `
GET    /bookings        BOOKING_READ
GET    /bookings/:uid   BOOKING_READ
POST   /bookings        PUBLIC
GET    /teams/:id       TEAM_PROFILE_READ
GET    /o/:org_id/t/:teamId TEAM_PROFILE_READ
GET    /open/:id        PUBLIC
DELETE /gone            CLOSED
GET    /own             PUBLIC
HEAD   /own             PUBLIC
`)
	found := table.Check([]policy.Route{
		{"GET", "/bookings"},
		{"HEAD", "/bookings"},
		{"GET", "/bookings/{bookingUid}"},
		{"GET", "/bookings/search"},
		{"HEAD", "/bookings/search"},
		{"POST", "/bookings"},
		{"PUT", "/bookings"},
		{"GET", "/teams/{teamId}"},
		{"GET", "/o/{orgId}/t/{teamId}"},
		{"GET", "/open/{teamId}"},
		{"GET", "/files/{path...}"},
		{"get", "/bookings"},
	})
	var text []string
	for _, f := range found {
		text = append(text, f.String())
	}
	assert.Equal(t, []string{
		"borrowed: GET /bookings/search, decided by GET /bookings/:uid BOOKING_READ",
		"borrowed: HEAD /bookings/search, decided by GET /bookings/:uid BOOKING_READ",
		"no decision: PUT /bookings",
		"no membership: GET /teams/{teamId}, decided by GET /teams/:id TEAM_PROFILE_READ, which has no parameter for the id of a team or organization",
		`not expressible: GET /files/{path...}, parameter "{path...}" has a character other than letters, digits and _`,
		"not expressible: get /bookings, the method is not in upper case",
		"no route: DELETE /gone CLOSED",
		"no route: GET /own PUBLIC",
		"no route: HEAD /own PUBLIC",
	}, text)

	assert.Empty(t, table.Check([]policy.Route{
		{"GET", "/bookings"},
		{"GET", "/bookings/:x"},
		{"POST", "/bookings"},
		{"GET", "/teams/:x"},
		{"GET", "/o/:orgId/t/:teamId"},
		{"GET", "/open/:x"},
		{"DELETE", "/gone"},
		{"GET", "/own"},
		{"HEAD", "/own"},
	}))
}
