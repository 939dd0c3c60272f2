package policy_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/scope"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// compile makes a policy of a table, without Member.
func compile(t testing.TB, table *policy.Table) *policy.Policy {
	t.Helper()
	p, err := policy.New(table, policy.Config{SkipMember: true})
	require.NoError(t, err)
	return p
}

// requestURL parses a request target as net/http does.
func requestURL(t testing.TB, target string) *url.URL {
	t.Helper()
	u, err := url.ParseRequestURI(target)
	require.NoError(t, err)
	return u
}

func TestMatch(t *testing.T) {
	p := compile(t, load(t, `
GET    /                  PUBLIC
GET    /a                 PUBLIC
GET    /a/:x              PUBLIC
GET    /a/b               PUBLIC
GET    /a/b/:y            PUBLIC
GET    /a/:x/c            PUBLIC
GET    /a/:x/c/d          PUBLIC
GET    /a/b/:y/e          PUBLIC
GET    /:p/:q/:r/:s/:t    PUBLIC
DELETE /a/:x              PUBLIC
HEAD   /h                 PUBLIC
GET    /h                 PUBLIC
`))
	tests := []struct{ method, path, want string }{
		{"GET", "/", "/"},
		{"GET", "/a", "/a"},
		{"GET", "/a/b", "/a/b"},
		{"GET", "/a/z", "/a/:x"},
		{"GET", "/a/b%21", "/a/:x"},
		{"GET", "/a/b/c", "/a/b/:y"},             // leftmost first
		{"GET", "/a/z/c", "/a/:x/c"},             //
		{"GET", "/a/b/c/d", "/a/:x/c/d"},         // backtracks from /a/b/:y
		{"GET", "/a/b/c/e", "/a/b/:y/e"},         //
		{"GET", "/a/b/c/d/e", "/:p/:q/:r/:s/:t"}, // backtracks from every literal
		{"GET", "/a/b/c/f", ""},
		{"GET", "/b", ""},
		{"GET", "/A", ""},
		{"DELETE", "/a/b", "/a/:x"}, // the literal belongs to another method
		{"HEAD", "/a/b", "/a/b"},    // GET decides HEAD
		{"HEAD", "/h", "/h"},
		{"get", "/a", ""},
		{"OPTIONS", "/a", ""},
		{"GET", "/a?access_token=x", "/a"},
		{"GET", strings.Repeat("/a", 16), ""},
		{"GET", strings.Repeat("/a", 17), ""},
		{"GET", strings.Repeat("/a", 1000), ""},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			m, err := p.Match(tt.method, requestURL(t, tt.path))
			require.NoError(t, err)
			row, ok := m.Row()
			assert.Equal(t, tt.want, row.Pattern)
			assert.Equal(t, tt.want != "", ok)
			assert.Equal(t, ok, m.Public())
			if tt.method == "HEAD" && tt.path == "/h" {
				assert.Equal(t, "HEAD", row.Method, "a row of HEAD overrides that of GET")
			}
		})
	}
}

// A path that is longer than any pattern matches none.
func TestMatchBeyondTheLongestPattern(t *testing.T) {
	p := compile(t, load(t, "GET "+strings.Repeat("/a", 16)+" PUBLIC"))
	for n, want := range map[int]bool{15: false, 16: true, 17: false} {
		m, err := p.Match("GET", requestURL(t, strings.Repeat("/a", n)))
		require.NoError(t, err)
		assert.Equal(t, want, m.Public(), n)
	}
}

// Without a row of GET, HEAD has no row.
func TestMatchHeadWithoutGet(t *testing.T) {
	m, err := compile(t, load(t, "POST /a PUBLIC")).Match("HEAD", requestURL(t, "/a"))
	require.NoError(t, err)
	assert.False(t, m.Public())
}

func TestFresh(t *testing.T) {
	table := load(t, "GET /a BOOKING_READ FRESH\nPOST /a CLOSED FRESH\nGET /b BOOKING_READ\nGET /c PUBLIC")
	assert.Equal(t, "GET /a BOOKING_READ FRESH", table.Rows()[0].String())
	assert.Equal(t, "GET /b BOOKING_READ", table.Rows()[2].String())
	p := compile(t, table)
	assert.True(t, p.WantsFresh())
	for request, want := range map[string]bool{"GET /a": true, "POST /a": true, "GET /b": false, "GET /c": false, "GET /d": false} {
		method, path, _ := strings.Cut(request, " ")
		m, err := p.Match(method, requestURL(t, path))
		require.NoError(t, err)
		assert.Equal(t, want, m.Fresh(), request)
	}
	assert.False(t, compile(t, load(t, "GET /b BOOKING_READ")).WantsFresh())
	assert.True(t, compile(t, load(t, "GET /a CLOSED FRESH\nGET /b BOOKING_READ")).WantsFresh())
}

// Paths that two programs may read differently are refused.
func TestMatchRefusesAmbiguousPaths(t *testing.T) {
	p := compile(t, load(t, "GET /:a PUBLIC\nGET /:a/:b PUBLIC\nGET /:a/:b/:c PUBLIC"))
	for _, target := range []string{
		"/a/", "//a", "/a//b", "/a/b//", "//",
		"/.", "/..", "/a/..", "/a/./b", "/../a", "/a/%2e", "/a/%2E%2e/b", "/a/.%2e", "/%2e",
		"/a%2fb", "/a%2Fb", "/%2F", "/a%5cb", "/a%5Cb", `/a\b`,
		"/a%00", "/a%0ab", "/a%7f",
		"/%61", "/a/%41b", "/a%2Dc", "/a%5f", "/a%30", // letters, digits, - and _ that are encoded
		"/a%252fb", "/a%252Fb", "/a/%252e%252e", "/a%255cb", "/a%2500", "/%2561",
	} {
		t.Run(target, func(t *testing.T) {
			m, err := p.Match("GET", requestURL(t, target))
			require.ErrorIs(t, err, policy.ErrPath)
			assert.False(t, m.Public())
			assert.False(t, m.Opens(verifiertest.Claims(verifiertest.Scope(scope.All().Names()...))))
		})
	}
	for name, u := range map[string]*url.URL{
		"asterisk":               {Path: "*"},
		"empty":                  {},
		"no slash":               {Path: "a"},
		"raw of another path":    {Path: "/a", RawPath: "/b"},
		"raw that is shorter":    {Path: "/ab", RawPath: "/a"},
		"raw that is longer":     {Path: "/a", RawPath: "/ab"},
		"raw with a broken end":  {Path: "/a%", RawPath: "/a%"},
		"raw with half an octet": {Path: "/@", RawPath: "/%4z"},
		"no slash, two letters":  {Path: "ab"},
	} {
		_, err := p.Match("GET", u)
		assert.ErrorIs(t, err, policy.ErrPath, name)
	}
	// Unusual paths with one reading.
	for target, want := range map[string]string{
		"/a%20b": "a b", "/a@b": "a@b", "/a%40b": "a@b", "/a!b": "a!b", "/%C3%A9": "é", "/a;b": "a;b", "/100%25": "100%",
		"/...": "...", "/a%3Ab": "a:b", "/%7Ea": "~a", "/a+b": "a+b", "/a%2Bb": "a+b", "/50%25ok": "50%ok",
		// After a second decoding there is still no slash, dot or letter, or no octet at
		// all.
		"/a%2520b": "a%20b", "/a%25z1": "a%z1", "/a%253z": "a%3z", "/a%25!1": "a%!1", "/a%25:1": "a%:1", "/a%25g1": "a%g1", "/a%25G1": "a%G1",
	} {
		m, err := p.Match("GET", requestURL(t, target))
		require.NoError(t, err, target)
		assert.Equal(t, want, m.Param("a"), target)
	}
}

// Member gets the same id as the handler, whether the router passes on decoded segments
// or those of the raw path.
func TestMatchRefusesIDsWithTwoSpellings(t *testing.T) {
	p := compile(t, load(t, "GET /o/:orgId/t/:teamId/x/:id TEAM_PROFILE_READ\nGET /t/:teamId PUBLIC"))
	for target, ok := range map[string]bool{
		"/o/1/t/2/x/3":         true,
		"/o/1/t/2/x/a%40b":     true, // this parameter is not an id of a team or organization
		"/o/a@b/t/2!/x/a%40b":  true,
		"/o/a%20b/t/2/x/3":     true, // net/url's own spelling: there is no raw path
		"/o/a%40b/t/2/x/3":     false,
		"/o/1/t/a%40b/x/3":     false,
		"/o/1/t/2%21/x/3":      true, // as above
		"/o/1/t/2%21/x/a%40b":  false,
		"/o/a%20b/t/2/x/a%40b": false,
		"/t/a%40b":             false,
		"/o/a+b/t/2/x/3":       true,
		"/o/a+b/t/2/x/a%40b":   false, // gin decodes a '+' to a space where there is a raw path
		"/o/1/t/2/x/a+%40b":    true,
		// Not listed, but with an id.
		"/o/a%40b":           false,
		"/o/a%40b/z":         false,
		"/o/1/t/2/z/a%40b":   true,
		"/o/1/t/a%40b/z":     false,
		"/o/a+b/z/a%40b":     false,
		"/o/1/t/a+b/z/a%40b": false,
		"/z/a%40b":           true,
	} {
		_, err := p.Match("GET", requestURL(t, target))
		assert.Equal(t, ok, err == nil, target)
	}
}

func TestMatchParameters(t *testing.T) {
	p := compile(t, load(t, "GET /o/:orgId/t/{teamId} TEAM_PROFILE_READ"))
	m, err := p.Match("GET", requestURL(t, "/o/a%20b/t/2"))
	require.NoError(t, err)
	assert.Equal(t, "a b", m.Param("orgId"))
	assert.Equal(t, "2", m.Param("teamId"))
	assert.Empty(t, m.Param("o"), "a literal is not a parameter")
	assert.Empty(t, m.Param(""))
	assert.Equal(t, "TEAM_PROFILE_READ", m.Scope())
	m, err = p.Match("GET", requestURL(t, "/x"))
	require.NoError(t, err)
	assert.Empty(t, m.Param("orgId"))
	assert.Empty(t, m.Scope())
}

func TestOpens(t *testing.T) {
	p := compile(t, load(t, "GET /p PUBLIC\nGET /c CLOSED\nGET /s TEAM_BOOKING_READ"))
	tests := []struct {
		name  string
		token *verifier.Claims
		opens string // of p, c, s, and a path that is not listed
	}{
		{"no scope", verifiertest.Claims(), "p"},
		{"the scope", verifiertest.Claims(verifiertest.Scope("TEAM_BOOKING_READ")), "ps"},
		{"the organization's", verifiertest.Claims(verifiertest.Scope("ORG_BOOKING_READ")), "ps"},
		{"the user's", verifiertest.Claims(verifiertest.Scope("BOOKING_READ")), "p"},
		{"writing", verifiertest.Claims(verifiertest.Scope("TEAM_BOOKING_WRITE")), "p"},
		{"all", verifiertest.Claims(verifiertest.Scope(scope.All().Names()...)), "ps"},
		{"legacy", verifiertest.Claims(verifiertest.Legacy()), "pcsx"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			opens := ""
			for _, path := range []string{"p", "c", "s", "x"} {
				m, err := p.Match("GET", &url.URL{Path: "/" + path})
				require.NoError(t, err)
				if m.Opens(tt.token) {
					opens += path
				}
			}
			assert.Equal(t, tt.opens, opens)
		})
	}
}

// serveMux returns a net/http router with the patterns of a table.
func serveMux(table *policy.Table) *http.ServeMux {
	mux := http.NewServeMux()
	for _, row := range table.Rows() {
		segments := strings.Split(row.Pattern, "/")
		for i, s := range segments {
			if name, ok := strings.CutPrefix(s, ":"); ok {
				segments[i] = "{" + name + "}"
			}
		}
		mux.Handle(row.Method+" "+strings.Join(segments, "/"), http.NotFoundHandler())
	}
	return mux
}

// The policy matches each path as net/http's router does; it refuses paths that the
// router would read differently.
func FuzzMatchAgreesWithServeMux(f *testing.F) {
	p, err := policy.New(policy.Scheduling(), policy.Config{SkipMember: true})
	require.NoError(f, err)
	mux := serveMux(policy.Scheduling())
	for _, row := range policy.Scheduling().Rows() {
		f.Add(row.Method, row.Pattern)
	}
	for _, s := range []string{
		"/v2/bookings/", "//v2/bookings", "/v2/x/../bookings", "/v2/bookings%2Fx", "/v2/%62ookings", "/v2/organizations/1/teams/m%65",
		"/v2/calendars/a%40b/event/%21", "/v2/calendars/ics-feed/check", "/v2/calendars/ics-feed/connect", "/v2/a\\b", "/v2/a%252fb", "/", "*",
	} {
		f.Add("GET", s)
		f.Add("HEAD", s)
	}
	f.Fuzz(func(t *testing.T, method, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || u.Host != "" || method == http.MethodConnect {
			return
		}
		m, err := p.Match(method, u)
		if err != nil {
			return
		}
		row, _ := m.Row()
		_, pattern := mux.Handler(&http.Request{Method: method, URL: u, Host: "x"})
		_, path, _ := strings.Cut(pattern, " ")
		want := strings.NewReplacer("{", ":", "}", "").Replace(path)
		if row.Pattern != want {
			t.Fatalf("%s %q: the policy matches %q, the router %q", method, target, row.Pattern, want)
		}
	})
}

// A simple reference matcher: of the rows that match a path, the row that has a literal
// at the first difference from the others.
func FuzzMatchAgreesWithReference(f *testing.F) {
	f.Add("/a/:x /a/b /:p/b /a/:x/c /a/b/:y /:p/:q/c /:p/b/:r", "/a/b/c")
	f.Add("/ /:a /:a/:b", "/")
	f.Add("/a/:b/c/:d /a/b/:c/d /:a/b/c/e /a/:b/:c/:d", "/a/b/c/e")
	f.Fuzz(func(t *testing.T, patterns, path string) {
		var rows []policy.Row
		for _, pattern := range strings.Fields(patterns[:min(len(patterns), 100)]) {
			row := policy.Row{Method: "GET", Pattern: pattern, Access: policy.Public}
			if _, err := policy.NewTable(append(slices.Clone(rows), row)...); err == nil {
				rows = append(rows, row)
			}
		}
		table, err := policy.NewTable(rows...)
		require.NoError(t, err)
		m, err := compile(t, table).Match("GET", &url.URL{Path: path})
		if err != nil {
			return
		}
		row, _ := m.Row()
		if want := reference(rows, path); row.Pattern != want {
			t.Fatalf("%q among %v: %q, want %q", path, rows, row.Pattern, want)
		}
	})
}

func reference(rows []policy.Row, path string) string {
	cut := func(s string) []string { return strings.Split(strings.TrimPrefix(s, "/"), "/") }
	best, order := "", ""
	for _, row := range rows {
		have, want := cut(path), cut(row.Pattern)
		if len(have) != len(want) {
			continue
		}
		kinds := "" // literal is less than parameter
		for i, s := range want {
			switch {
			case strings.HasPrefix(s, ":") || strings.HasPrefix(s, "{"):
				kinds += "1"
				if have[i] == "" {
					kinds += "!"
				}
			case s == have[i]:
				kinds += "0"
			default:
				kinds += "!"
			}
		}
		if !strings.Contains(kinds, "!") && (order == "" || kinds < order) {
			best, order = row.Pattern, kinds
		}
	}
	return best
}

// wide returns a table of n routes, most of which are prefixes of each other.
func wide(t testing.TB, n int) (*policy.Table, []*url.URL) {
	rows := policy.Scheduling().Rows()
	names := scope.All().Names()
	for i := len(rows); i < n; i++ {
		rows = append(rows, policy.Row{
			Method: "GET", Access: policy.Scoped, Scope: names[i%len(names)],
			Pattern: fmt.Sprintf("/v2/organizations/:orgId/teams/:teamId/area-%d/:id", i),
		})
	}
	table, err := policy.NewTable(rows...)
	require.NoError(t, err)
	var urls []*url.URL
	for _, row := range rows {
		path := strings.NewReplacer(":orgId", "4217", ":teamId", "981", ":bookingUid", "bk_9fYqLx2mNc", ":id", "77").Replace(row.Pattern)
		urls = append(urls, &url.URL{Path: strings.ReplaceAll(path, ":", "x")})
	}
	return table, urls
}

func TestMatchDoesNotAllocate(t *testing.T) {
	table, urls := wide(t, 300)
	p := compile(t, table)
	urls = append(urls, requestURL(t, "/v2/calendars/google/event/a%40b"), requestURL(t, "/v2/a%2fb"), &url.URL{Path: "/nothing/here"})
	token := verifiertest.Claims(verifiertest.Scope("ORG_BOOKING_READ"))
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		for _, u := range urls {
			m, err := p.Match("GET", u)
			_, _ = m.Opens(token), err
		}
	}))
}

// BenchmarkMatch matches the longest path of the table, with the parameters before
// its last literal, and then all rows of the table in turn: without a Member, and
// with one, which makes Match look for other letter cases too.
func BenchmarkMatch(b *testing.B) {
	table, urls := wide(b, 300)
	deep := []*url.URL{{Path: "/v2/organizations/4217/teams/981/event-types/55/private-links"}}
	token := verifiertest.Claims(verifiertest.Scope("ORG_EVENT_TYPE_READ"))
	everybody := func(context.Context, *verifier.Claims, policy.Kind, string) (bool, error) { return true, nil }
	for _, row := range []struct {
		name   string
		config policy.Config
		urls   []*url.URL
	}{
		{"deep", policy.Config{SkipMember: true}, deep},
		{"deep,member", policy.Config{Member: everybody}, deep},
		{"all", policy.Config{SkipMember: true}, urls},
		{"all,member", policy.Config{Member: everybody}, urls},
	} {
		b.Run(row.name, func(b *testing.B) {
			p, err := policy.New(table, row.config)
			require.NoError(b, err)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if m, err := p.Match("GET", row.urls[i]); err != nil || m.Opens(token) && m.Scope() == "" && !m.Public() {
					b.Fatal(err)
				}
				if i++; i == len(row.urls) {
					i = 0
				}
			}
		})
	}
}
