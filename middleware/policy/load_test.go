package policy_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/middleware/policy"
)

// load loads a table that must be valid.
func load(t testing.TB, text string) *policy.Table {
	t.Helper()
	table, err := policy.Load(strings.NewReader(text))
	require.NoError(t, err)
	return table
}

func TestLoad(t *testing.T) {
	table := load(t, `
# a comment
GET	/v2/bookings	BOOKING_READ	# why
POST   /v2/bookings   PUBLIC
  DELETE /v2/teams/{teamId} CLOSED # {x} and :x are the same
PATCH /v2/teams/:teamId TEAM_PROFILE_WRITE #
GET / PUBLIC
GET /:x/x CLOSED FRESH
GET /x/:x/y CLOSED
`)
	assert.Equal(t, []policy.Row{
		{Method: "GET", Pattern: "/v2/bookings", Access: policy.Scoped, Scope: "BOOKING_READ", Line: 3},
		{Method: "POST", Pattern: "/v2/bookings", Access: policy.Public, Line: 4},
		{Method: "DELETE", Pattern: "/v2/teams/{teamId}", Access: policy.Closed, Line: 5},
		{Method: "PATCH", Pattern: "/v2/teams/:teamId", Access: policy.Scoped, Scope: "TEAM_PROFILE_WRITE", Line: 6},
		{Method: "GET", Pattern: "/", Access: policy.Public, Line: 7},
		{Method: "GET", Pattern: "/:x/x", Access: policy.Closed, Fresh: true, Line: 8},
		{Method: "GET", Pattern: "/x/:x/y", Access: policy.Closed, Line: 9},
	}, table.Rows())
	assert.Equal(t, []string{"BOOKING_READ", "TEAM_PROFILE_WRITE"}, table.Scopes())

	table.Rows()[0].Scope = "X"
	assert.Equal(t, "BOOKING_READ", table.Rows()[0].Scope, "Rows is a copy")
}

func TestLoadRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"two columns", "GET /x", "line 1: the line is not"},
		{"four columns", "GET /x BOOKING_READ PROFILE_READ", "line 1: the line is not"},
		{"unknown scope", "GET /x BOOKINGS_READ", `line 1: "BOOKINGS_READ" is not a scope`},
		{"undecided", "GET /x ?", `"?" is not a scope`},
		{"scope in small letters", "GET /x booking_read", "is not a scope"},
		{"public in small letters", "GET /x public", "is not a scope"},
		{"two scopes", "GET /x BOOKING_READ,PROFILE_READ", "is not a scope"},
		{"method in small letters", "get /x PUBLIC", `line 1, get /x: "get" is not a method`},
		{"any method", "* /x PUBLIC", "is not a method"},
		{"no slash", "GET x PUBLIC", "does not begin with a slash"},
		{"slash at the end", "GET /x/ PUBLIC", "an empty segment"},
		{"empty segment", "GET /x//y PUBLIC", "an empty segment"},
		{"dot segment", "GET /x/../y PUBLIC", "a dot segment"},
		{"a single dot", "GET /x/. PUBLIC", "a dot segment"},
		{"the end of a parameter", "GET /x/ab} PUBLIC", "has a character other than letters"},
		{"the beginning of a parameter", "GET /x/{ab PUBLIC", "has a character other than letters"},
		{"a name twice beside a literal", "GET /:x/x/:x PUBLIC", " twice"},
		{"fresh without a token", "GET /x PUBLIC FRESH", "FRESH with PUBLIC"},
		{"a long method", "ABCDEFGHIJKLMNOPQ /x PUBLIC", "is not a method"},
		{"encoded", "GET /x%20y PUBLIC", "has a character other than letters"},
		{"query", "GET /x?y PUBLIC", "has a character other than letters"},
		{"wildcard", "GET /x/* PUBLIC", "has a character other than letters"},
		{"rest", "GET /x/{rest...} PUBLIC", "has a character other than letters"},
		{"expression", "GET /x/{id:[0-9]+} PUBLIC", "has a character other than letters"},
		{"no name", "GET /x/: PUBLIC", "has a character other than letters"},
		{"half a parameter", "GET /x/{id}.json PUBLIC", "has a character other than letters"},
		{"a name twice", "GET /:x/:x PUBLIC", " twice"},
		{"17 segments", "GET " + strings.Repeat("/x", 17) + " PUBLIC", "more than 16"},
		{"a row twice", "GET /x/:a PUBLIC\n\nGET /x/{b} BOOKING_READ", "line 3, GET /x/{b}: decides the same route as line 1, GET /x/:a"},
		{"line of 1 MiB", "GET /x PUBLIC #" + strings.Repeat("x", 1<<20), "too long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			table, err := policy.Load(strings.NewReader(tt.text))
			require.ErrorContains(t, err, tt.want)
			assert.Nil(t, table)
		})
	}

	_, err := policy.Load(strings.NewReader("GET /x ?\nGET /y\nGET /z/ PUBLIC"))
	for _, line := range []string{"line 1", "line 2", "line 3"} {
		assert.ErrorContains(t, err, line, "all errors are reported")
	}
}

func TestJoin(t *testing.T) {
	own := load(t, "GET /healthz PUBLIC")
	both, err := policy.Join(policy.Scheduling(), own)
	require.NoError(t, err)
	assert.Len(t, both.Rows(), len(policy.Scheduling().Rows())+1)
	_, err = policy.Join(both, own)
	assert.ErrorContains(t, err, "decides the same route")
}

func TestNewTableChecksAccess(t *testing.T) {
	_, err := policy.NewTable(policy.Row{Method: "GET", Pattern: "/x", Access: policy.Scoped, Scope: "nope"})
	require.Error(t, err)
	_, err = policy.NewTable(policy.Row{Method: "GET", Pattern: "/x", Access: policy.Scoped})
	require.Error(t, err, "a scope is missing")
	_, err = policy.NewTable(policy.Row{Method: "GET", Pattern: "/x", Access: policy.Scoped, Scope: "PUBLIC"})
	require.Error(t, err, "PUBLIC is not a scope")
	_, err = policy.NewTable(policy.Row{Method: "GET", Pattern: "/x", Access: 7})
	require.Error(t, err)
	_, err = policy.NewTable(policy.Row{Method: "GET", Pattern: "/x", Scope: "BOOKING_READ"})
	require.Error(t, err, "a scope without Scoped would be ignored")
	_, err = policy.NewTable(policy.Row{Pattern: "/x", Access: policy.Public})
	require.ErrorContains(t, err, "is not a method")
	require.NotContains(t, err.Error(), "line", "the row is not from a file")
}

// A table that Load accepts is the same after String and Load, and a valid policy.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{
		"GET /v2/bookings BOOKING_READ # x", "GET /:a/{b} PUBLIC\nGET / CLOSED", "GET /x ?", "#", "\t \n", "GET /x#y PUBLIC", "GET /x PUBLIC#", "\xff /x PUBLIC", "GET /x PUBLIC\r\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		table, err := policy.Load(strings.NewReader(text))
		if err != nil {
			if table != nil {
				t.Fatal("a table beside an error")
			}
			return
		}
		var again strings.Builder
		for _, row := range table.Rows() {
			again.WriteString(row.String() + "\n")
		}
		same, err := policy.Load(strings.NewReader(again.String()))
		if err != nil {
			t.Fatalf("%q: %v", again.String(), err)
		}
		routes := []policy.Route{}
		for i, row := range same.Rows() {
			row.Line = table.Rows()[i].Line
			if row != table.Rows()[i] {
				t.Fatalf("%v became %v", table.Rows()[i], row)
			}
			routes = append(routes, policy.Route{Method: row.Method, Pattern: row.Pattern})
		}
		if found := table.Check(routes); len(found) > 0 {
			t.Fatalf("a table differs from its own routes: %v", found)
		}
	})
}
