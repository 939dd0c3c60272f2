package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/middleware/policy"
)

// The table says what the product's list of endpoints says, and decides what
// that leaves open; it has no row of its own.
func TestSchedulingIsTheListOfEndpoints(t *testing.T) {
	list, err := os.ReadFile(filepath.Join("testdata", "endpoints.tsv"))
	require.NoError(t, err)
	// The product's own, where it is beside this checkout.
	if now, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "scheduling-endpoints.tsv")); !os.IsNotExist(err) {
		require.NoError(t, err)
		require.Equal(t, string(now), string(list))
	}
	table := policy.Scheduling().Rows()
	rows, open := 0, 0
	for line := range strings.Lines(string(list)) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		require.Len(t, columns, 3, line)
		require.Less(t, rows, len(table))
		row := table[rows]
		rows++
		assert.Equal(t, columns[:2], []string{row.Method, row.Pattern})
		if columns[2] == "?" {
			open++
			assert.Equal(t, policy.Scoped, row.Access, "%s is left open, so it is not public", row)
			continue
		}
		assert.Equal(t, columns[2], row.Asks(), row.Pattern)
	}
	assert.Len(t, table, rows)
	assert.Equal(t, open, strings.Count(schedulingText(t), " # "), "each decision says why")
}

func schedulingText(t *testing.T) string {
	text, err := os.ReadFile("scheduling.txt")
	require.NoError(t, err)
	return string(text)
}

// What section 2.4 says of whole families of routes holds for each row, decided
// by us or not.
func TestSchedulingKeepsSection24(t *testing.T) {
	for _, row := range policy.Scheduling().Rows() {
		if row.Access == policy.Public {
			continue
		}
		t.Run(row.Method+row.Pattern, func(t *testing.T) {
			require.Equal(t, policy.Scoped, row.Access)
			// "endpoints under /v2/teams/:teamId/... and
			// /v2/organizations/:orgId/teams/:teamId/...", and those that make or
			// list teams; the organization's teams themselves are its own.
			team := strings.HasPrefix(row.Pattern, "/v2/teams") || strings.HasPrefix(row.Pattern, "/v2/organizations/:orgId/teams/:teamId")
			itself := row.Pattern == "/v2/organizations/:orgId/teams/:teamId" && row.Method != "GET"
			switch {
			case itself:
				assert.Equal(t, "ORG_PROFILE_WRITE", row.Scope)
			case team:
				assert.True(t, strings.HasPrefix(row.Scope, "TEAM_"), row.Scope)
			case strings.HasPrefix(row.Pattern, "/v2/organizations"):
				assert.True(t, strings.HasPrefix(row.Scope, "ORG_"), row.Scope)
			default:
				assert.False(t, strings.HasPrefix(row.Scope, "TEAM_") || strings.HasPrefix(row.Scope, "ORG_"), row.Scope)
			}
			// Reading never opens what changes something. Two GETs begin a
			// connection.
			connects := strings.HasSuffix(row.Pattern, "/connect") || strings.HasSuffix(row.Pattern, "/auth-url")
			writes := row.Method != "GET" || connects
			assert.Equal(t, writes, strings.HasSuffix(row.Scope, "_WRITE"), row.Scope)
			// The area is that of the path.
			for _, area := range []struct{ path, scope string }{
				{"/event-types", "EVENT_TYPE"},
				{"/bookings", "BOOKING"},
				{"/schedules", "SCHEDULE"},
				{"/ooo", "SCHEDULE"},
				{"/memberships", "MEMBERSHIP"},
				{"/invite", "MEMBERSHIP"},
				{"/calendars", "APPS"},
				{"/conferencing/", "APPS"},
				{"/destination-calendars", "APPS"},
				{"/selected-calendars", "APPS"},
			} {
				if strings.Contains(row.Pattern+"/", area.path+"/") {
					assert.Contains(t, row.Scope, area.scope)
					break
				}
			}
		})
	}
}
