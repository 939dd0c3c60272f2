// Package service is what the examples have in common: what they are told on the
// command line, the guard, and the policy with its Member. It owns no route and
// knows no router. Whoever copies an example copies this beside it.
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

// Open reads the command line, listens, and makes a guard that takes the tokens of
// the issuer. It ends the program where that can't be done.
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

// rules decide every route. What is not here is closed to tokens with scopes.
const rules = `
GET   /v2/bookings                  BOOKING_READ
POST  /v2/bookings                  PUBLIC
GET   /v2/bookings/:uid             BOOKING_READ
GET   /v2/teams/:teamId/bookings    TEAM_BOOKING_READ
`

// NewPolicy is the policy of the bookings.
func NewPolicy() (*policy.Policy, error) {
	table, err := policy.Load(strings.NewReader(rules))
	if err != nil {
		return nil, err
	}
	return policy.New(table, policy.Config{Member: belongs})
}

// belongs is asked whenever a path names a team: the scope says that the
// application may read bookings of teams, not that its user is in this one.
func belongs(_ context.Context, token *verifier.Claims, kind policy.Kind, id string) (bool, error) {
	return kind == policy.Team && slices.Contains(members[id], token.Subject()), nil
}

// members stands for your own data.
var members = map[string][]string{"7": {"user-1", "u-demo"}}
