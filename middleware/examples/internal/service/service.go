// Package service has what the examples share: the flags, the guard, and the policy with
// its Member. It has no route and no router. Copy it together with an example.
package service

import (
	"context"
	"flag"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier"
)

// Open parses the flags, listens, and makes a guard for the issuer's tokens. It exits the
// program on an error.
func Open() (net.Listener, *middleware.Guard) {
	listen := flag.String("listen", "127.0.0.1:8090", "address of the service")
	issuer := flag.String("issuer", "http://127.0.0.1:8080", "issuer and audience of the tokens")
	flag.Parse()
	v, err := verifier.New(verifier.Config{Issuer: *issuer, Audience: *issuer})
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	return l, middleware.New(v, middleware.Config{})
}

// Serve runs a router that is guarded as a whole.
func Serve(byPolicy func(*middleware.Guard, *policy.Policy) http.Handler) {
	p, err := NewPolicy()
	if err != nil {
		log.Fatal(err)
	}
	l, guard := Open()
	log.Printf("http://%s", l.Addr())
	log.Fatal(http.Serve(l, byPolicy(guard, p)))
}

// rules decide every route. A route without a row is closed to tokens with scopes.
const rules = `
GET   /v2/bookings                  BOOKING_READ
POST  /v2/bookings                  PUBLIC
GET   /v2/bookings/:uid             BOOKING_READ
GET   /v2/teams/:teamId/bookings    TEAM_BOOKING_READ
`

// NewPolicy returns the policy of the bookings.
func NewPolicy() (*policy.Policy, error) {
	table, err := policy.Load(strings.NewReader(rules))
	if err != nil {
		return nil, err
	}
	return policy.New(table, policy.Config{Member: belongs})
}

// belongs is called for each path with the id of a team: the scope allows the application
// to read bookings of teams, and belongs checks that its user is in this one.
func belongs(_ context.Context, token *verifier.Claims, kind policy.Kind, id string) (bool, error) {
	return kind == policy.Team && slices.Contains(members[id], token.Subject()), nil
}

// members is a placeholder for the service's own data.
var members = map[string][]string{"7": {"user-1", "u-demo"}}
