package policy_test

import (
	"context"
	"fmt"
	"log"
	"net/url"
	"strings"

	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/scope"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

const bookings = `
# method  pattern                      scope, PUBLIC or CLOSED
GET       /v2/bookings                 BOOKING_READ
POST      /v2/bookings                 PUBLIC
GET       /v2/teams/:teamId/bookings   TEAM_BOOKING_READ
`

// A table is a text; an error names the line.
func ExampleLoad() {
	table, err := policy.Load(strings.NewReader(bookings))
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range table.Rows() {
		fmt.Println(row)
	}
	_, err = policy.Load(strings.NewReader("GET /v2/bookings BOOKINGS_READ\nGET /v2/slots/ PUBLIC"))
	fmt.Println(err)
	// Output:
	// GET /v2/bookings BOOKING_READ
	// POST /v2/bookings PUBLIC
	// GET /v2/teams/:teamId/bookings TEAM_BOOKING_READ
	// load policy: line 1: "BOOKINGS_READ" is not a scope, PUBLIC or CLOSED
	// line 2, GET /v2/slots/: the pattern has an empty segment, or a slash at the end
}

// A scope tells what the application may do, not whose team is in the path: New requires
// a Member.
func ExampleNew() {
	table, err := policy.Load(strings.NewReader(bookings))
	if err != nil {
		log.Fatal(err)
	}
	_, err = policy.New(table, policy.Config{})
	fmt.Println(err)

	members := map[string][]string{"7": {"user-1"}} // from the service's own data
	_, err = policy.New(table, policy.Config{
		Member: func(_ context.Context, token *verifier.Claims, kind policy.Kind, id string) (bool, error) {
			for _, user := range members[id] {
				if kind == policy.Team && user == token.Subject() {
					return true, nil
				}
			}
			return false, nil
		},
	})
	fmt.Println(err)
	// Output:
	// new policy: line 5, GET /v2/teams/:teamId/bookings has the team's id, and Config has neither Member nor SkipMember
	// <nil>
}

// A service adds rows for its own routes.
func ExampleJoin() {
	own, err := policy.Load(strings.NewReader("GET /healthz PUBLIC"))
	if err != nil {
		log.Fatal(err)
	}
	table, err := policy.Join(policy.Scheduling(), own)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(table.Rows()) - len(policy.Scheduling().Rows()))
	_, err = policy.Join(table, own)
	fmt.Println(err)
	// Output:
	// 1
	// line 1, GET /healthz: decides the same route as line 1, GET /healthz
}

// A service's test compares its table with the routes of its router. The command
// "mintmark policy check" compares it with an OpenAPI description.
func ExampleTable_Check() {
	table, err := policy.Load(strings.NewReader(bookings))
	if err != nil {
		log.Fatal(err)
	}
	for _, finding := range table.Check([]policy.Route{
		{Method: "GET", Pattern: "/v2/bookings"},
		{Method: "POST", Pattern: "/v2/bookings"},
		{Method: "DELETE", Pattern: "/v2/bookings/{uid}"},
		{Method: "GET", Pattern: "/v2/teams/mine/bookings"},
	}) {
		fmt.Println(finding)
	}
	// Output:
	// no decision: DELETE /v2/bookings/{uid}
	// borrowed: GET /v2/teams/mine/bookings, decided by GET /v2/teams/:teamId/bookings TEAM_BOOKING_READ
	// no route: GET /v2/teams/:teamId/bookings TEAM_BOOKING_READ
}

// The two checks of a request, without package middleware.
func ExamplePolicy_Match() {
	rules, err := policy.New(policy.Scheduling(), policy.Config{
		Member: func(_ context.Context, _ *verifier.Claims, kind policy.Kind, id string) (bool, error) {
			fmt.Println("member of", kind, id)
			return id == "acme", nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	match, err := rules.Match("GET", &url.URL{Path: "/v2/organizations/acme/bookings"})
	if err != nil {
		log.Fatal(err)
	}
	token := verifiertest.Claims(verifiertest.Scope(scope.OrgBookingRead))
	member, err := match.Belongs(context.Background(), token)
	fmt.Println(match.Scope(), match.Opens(token), member, err)

	// A path that two programs may read differently is refused.
	u, _ := url.Parse("/v2/organizations/acme%2Fbookings")
	_, err = rules.Match("GET", u)
	fmt.Println(err)
	// Output:
	// member of organization acme
	// ORG_BOOKING_READ true true <nil>
	// the path is ambiguous
}

// The ready table has the scopes for a resource server's metadata.
func ExampleScheduling() {
	table := policy.Scheduling()
	fmt.Println(len(table.Rows()), "rows,", len(table.Scopes()), "scopes")
	fmt.Println(table.Rows()[1])
	// Output:
	// 154 rows, 27 scopes
	// GET /v2/bookings BOOKING_READ
}
