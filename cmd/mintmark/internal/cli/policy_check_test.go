package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
	"github.com/mintmark-auth/mintmark/middleware/policy"
)

// file writes a text to a file of its own.
func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const bookingsPolicy = "GET /v2/bookings BOOKING_READ\nPOST /v2/bookings PUBLIC\nGET /v2/teams/:teamId TEAM_PROFILE_READ\n"

const bookingsYAML = `
openapi: 3.1.0
info: {title: Bookings, version: "1", description: "\u263a"}
servers:
  - {url: "https://{region}.example.com/v2", variables: {region: {default: eu}}}
  - {url: http://127.0.0.1:8080/v2/}
paths:
  /bookings:
    parameters: []
    get: {responses: {200: {description: ok}}}
    post:
  /teams/{teamId}: {$ref: "#/components/pathItems/a~1b"}
components:
  pathItems:
    a/b: {get: {}}
`

func TestPolicyCheck(t *testing.T) {
	table := file(t, "policy.txt", bookingsPolicy)
	check := func(description string, args ...string) testkit.Result {
		t.Helper()
		return runLine(t, append([]string{"policy", "check", "--openapi", file(t, "openapi", description), "--policy", table}, args...)...)
	}
	clean := check(bookingsYAML)
	require.Equal(t, testkit.Result{Out: "3 routes, 3 rows: nothing found\n", Code: ExitOK}, clean)

	json := `{"openapi": "3.0.3", "info": {"title": "\ud83d\ude00"}, "paths": {
		"/v2/bookings": {"get": {}, "post": {}, "put": {}},
		"/v2/bookings/{uid}": {"get": {}},
		"/v2/files/{path}.json": {"get": {}}
	}}`
	r := check(json)
	require.Equal(t, ExitRefused, r.Code)
	require.Equal(t, strings.Join([]string{
		"no decision: PUT /v2/bookings",
		"no decision: GET /v2/bookings/{uid}",
		`not expressible: GET /v2/files/{path}.json, segment "{path}.json" has a character other than letters, digits, '-', '.' and '_'`,
		"no route: GET /v2/teams/:teamId TEAM_PROFILE_READ",
		"",
	}, "\n"), r.Out)
	require.Equal(t, "mintmark: 4 findings\n", r.Err)

	require.Equal(t, ExitOK, check(strings.Replace(bookingsYAML, "/v2", "/v3", 1), "--base-path", "/v2").Code)
	require.Equal(t, ExitOK, check("swagger: '2.0'\nbasePath: /v2/\npaths: {/bookings: {get: {}, post: {}}, '/teams/{teamId}': {get: {}, x-note: 1}}").Code)
	require.Equal(t, ExitOK, check("openapi: 3.2.0\npaths:\n  /v2/bookings: {get: {}, additionalOperations: {POST: {}}}\n  /teams/{teamId}: {get: {}, servers: [{url: /v2}]}").Code)
}

func TestPolicyCheckRefuses(t *testing.T) {
	table := file(t, "policy.txt", bookingsPolicy)
	for name, row := range map[string]struct{ description, want string }{
		"no description":  {"a: b", "no OpenAPI description"},
		"no YAML":         {"a: [", "parse:"},
		"no mapping":      {"- a", "parse:"},
		"a path twice":    {`{"openapi": "3.0.3", "paths": {"/a": {}, "/a": {}}}`, "already defined"},
		"paths in a list": {"openapi: 3.1.0\npaths: [a]", "paths is not a mapping"},
		"no path item":    {"openapi: 3.1.0\npaths: {/a: 1}", "/a: not a path item"},
		"another file":    {"openapi: 3.1.0\npaths: {/a: {$ref: './a.yaml'}}", "bundle the description first"},
		"nowhere":         {"openapi: 3.1.0\npaths: {/a: {$ref: '#/components/x'}}", "not a path item"},
		"itself":          {"openapi: 3.1.0\npaths: {/a: {$ref: '#/paths/~1a'}}", "refers to itself"},
		"two base paths":  {"openapi: 3.1.0\nservers: [{url: /a}, {url: /b}]\npaths: {}", "--base-path"},
	} {
		t.Run(name, func(t *testing.T) {
			r := runLine(t, "policy", "check", "--openapi", file(t, "openapi", row.description), "--policy", table)
			require.Equal(t, ExitLocal, r.Code)
			require.Contains(t, r.Err, row.want)
			require.Empty(t, r.Out)
		})
	}
	require.Equal(t, ExitLocal, runLine(t, "policy", "check").Code, "a flag is missing")
	require.Equal(t, ExitLocal, runLine(t, "policy", "check", "--openapi", "no-such-file").Code)
	require.Contains(t, runLine(t, "policy", "check", "--openapi", table, "--policy", file(t, "p", "GET /x ?")).Err, "line 1")
}

// The built-in table is the default, and can be joined with rows of one's own.
func TestPolicyCheckScheduling(t *testing.T) {
	var description strings.Builder
	description.WriteString("openapi: 3.1.0\npaths:\n")
	paths := map[string][]string{}
	for _, row := range policy.Scheduling().Rows() {
		var segments []string
		for s := range strings.SplitSeq(row.Pattern, "/") {
			if name, ok := strings.CutPrefix(s, ":"); ok {
				s = "{" + name + "}"
			}
			segments = append(segments, s)
		}
		path := strings.Join(segments, "/")
		paths[path] = append(paths[path], strings.ToLower(row.Method)+": {}")
	}
	for path, operations := range paths {
		fmt.Fprintf(&description, "  %s: {%s}\n", path, strings.Join(operations, ", "))
	}
	r := runLine(t, "policy", "check", "--openapi", file(t, "a", description.String()))
	require.Equal(t, ExitOK, r.Code, r.Out)

	description.WriteString("  /healthz: {get: {}}\n")
	with := file(t, "b", description.String())
	require.Equal(t, "no decision: GET /healthz\n", runLine(t, "policy", "check", "--openapi", with).Out)
	own := file(t, "own", "GET /healthz PUBLIC")
	require.Equal(t, ExitOK, runLine(t, "policy", "check", "--openapi", with, "--policy", "scheduling", "--policy", own).Code)
}
