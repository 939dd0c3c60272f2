// Command grpc is a guarded gRPC service: two interceptors, to be copied, and the gRPC
// form of a refusal. Run it beside "make run":
//
//	go run ./grpc
package main

import (
	"log"
	"strings"

	"google.golang.org/grpc"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/middleware/examples/internal/service"
	"github.com/mintmark-auth/mintmark/middleware/policy"
)

func main() {
	p, err := newPolicy()
	if err != nil {
		log.Fatal(err)
	}
	l, guard := service.Open()
	log.Printf("grpc://%s", l.Addr())
	log.Fatal(newServer(guard, p).Serve(l))
}

func newServer(guard *middleware.Guard, p *policy.Policy) *grpc.Server {
	s := grpc.NewServer(grpc.UnaryInterceptor(guardUnary(guard, p)), grpc.StreamInterceptor(guardStream(guard, p)))
	s.RegisterService(&bookings, nil)
	return s
}

// rules decide every method. A method without a row is closed to tokens with scopes.
const rules = `
POST /booking.v1.Bookings/List    BOOKING_READ
POST /booking.v1.Bookings/Watch   BOOKING_READ
POST /booking.v1.Bookings/Slots   PUBLIC
`

// newPolicy has no Member, since no pattern has the id of a team: in gRPC the id is in
// the message, so the method itself must check membership.
func newPolicy() (*policy.Policy, error) {
	table, err := policy.Load(strings.NewReader(rules))
	if err != nil {
		return nil, err
	}
	return policy.New(table, policy.Config{})
}
