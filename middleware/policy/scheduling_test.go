package policy_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// callbacks are the rows of the table that are not in the list of endpoints: browsers are
// redirected there, without a token.
var callbacks = []string{
	"GET /v2/calendars/:calendar/save PUBLIC",
	"GET /v2/conferencing/:app/oauth/callback PUBLIC",
	"GET /v2/stripe/save PUBLIC",
	"GET /v2/organizations/:orgId/teams/:teamId/conferencing/:app/oauth/callback PUBLIC",
	"GET /v2/organizations/:orgId/teams/:teamId/stripe/save PUBLIC",
}

// The table agrees with the product's list of endpoints, and decides what that leaves
// open. Only the callbacks are additional.
func TestSchedulingIsTheListOfEndpoints(t *testing.T) {
	list, err := os.ReadFile(filepath.Join("testdata", "endpoints.tsv"))
	require.NoError(t, err)
	// The product's own list, if it is beside this checkout.
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
		assert.Equal(t, columns[2], row.Requirement(), row.Pattern)
	}
	var own []string
	for _, row := range table[rows:] {
		own = append(own, row.String())
	}
	assert.Equal(t, callbacks, own)
	assert.Equal(t, open+len(callbacks), strings.Count(schedulingText(t), " # "), "each decision has a comment")
}

func schedulingText(t *testing.T) string {
	text, err := os.ReadFile("scheduling.txt")
	require.NoError(t, err)
	return string(text)
}

// The statements of section 2.4 about whole families of routes apply to each row, from
// the list or not.
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
			// A READ scope never opens a route that changes something. Two GETs begin a
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

// Member is called for a legacy token's user on every path that names a team or an
// organization: no scope limits such a token, so Member alone keeps other users out. The
// product has routes that the table doesn't list, and a route may take more methods and
// longer paths than its row.
func TestSchedulingAsksMemberBelowEachTeamAndOrganization(t *testing.T) {
	var asked []string
	p, err := policy.New(policy.Scheduling(), policy.Config{Member: func(_ context.Context, _ *verifier.Claims, kind policy.Kind, id string) (bool, error) {
		asked = append(asked, string(kind)+" "+id)
		return true, nil
	}})
	require.NoError(t, err)
	prefixes := map[string][]string{
		"/v2/teams/7":                 {"team 7"},
		"/v2/organizations/3":         {"organization 3"},
		"/v2/organizations/3/teams/7": {"organization 3", "team 7"},
	}
	paths := map[string][]string{}
	for prefix, want := range prefixes {
		for _, rest := range []string{"", "/x", "/x/y/z", "/webhooks", "/roles/5/permissions", "/stripe/check", strings.Repeat("/x", 20)} {
			paths[prefix+rest] = want
		}
	}
	ids := strings.NewReplacer(":orgId", "3", ":teamId", "7")
	for _, row := range policy.Scheduling().Rows() {
		var want []string
		if strings.Contains(row.Pattern, ":orgId") {
			want = append(want, "organization 3")
		}
		if strings.Contains(row.Pattern, ":teamId") {
			want = append(want, "team 7")
		}
		if len(want) > 0 && !strings.HasSuffix(row.Pattern, "/teams/me") && !strings.HasSuffix(row.Pattern, "/teams/event-types") {
			paths[ids.Replace(row.Pattern)] = want
		}
	}
	for path, want := range paths {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "get"} {
			m, err := p.Match(method, &url.URL{Path: path})
			require.NoError(t, err)
			if m.Public() {
				row, _ := m.Row()
				assert.Contains(t, callbacks, row.String())
				continue
			}
			asked = nil
			ok, err := m.Belongs(t.Context(), verifiertest.Claims(verifiertest.Legacy()))
			require.NoError(t, err)
			assert.True(t, ok)
			assert.Equal(t, want, asked, "%s %s", method, path)
		}
	}
	// A literal of a row is not an id.
	for _, path := range []string{"/v2/organizations/3/teams/me", "/v2/organizations/3/teams/event-types"} {
		for method, want := range map[string][]string{
			"GET": {"organization 3"}, "DELETE": {"organization 3", "team " + path[strings.LastIndex(path, "/")+1:]},
		} {
			asked = nil
			m, err := p.Match(method, &url.URL{Path: path})
			require.NoError(t, err)
			_, err = m.Belongs(t.Context(), verifiertest.Claims(verifiertest.Legacy()))
			require.NoError(t, err)
			assert.Equal(t, want, asked, "%s %s", method, path)
		}
	}
}
