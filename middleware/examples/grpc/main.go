// Command grpc is a guarded gRPC service. It owns two interceptors, to be copied,
// and how a refusal is said in gRPC; what is refused, the guard decides. Run it
// beside "make run":
//
//	go run ./grpc
package main

import (
	"flag"
	"log"
	"net"
	"strings"

	"google.golang.org/grpc"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8090", "address of the service")
	issuer := flag.String("issuer", "http://127.0.0.1:8080", "issuer and audience of the tokens")
	flag.Parse()
	v, err := verifier.New(verifier.Config{Issuer: *issuer, Audience: *issuer})
	if err != nil {
		log.Fatal(err)
	}
	p, err := newPolicy()
	if err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("grpc://%s", l.Addr())
	log.Fatal(newServer(middleware.New(v), p).Serve(l))
}

func newServer(guard *middleware.Guard, p *policy.Policy) *grpc.Server {
	s := grpc.NewServer(grpc.UnaryInterceptor(guardUnary(guard, p)), grpc.StreamInterceptor(guardStream(guard, p)))
	s.RegisterService(&bookings, nil)
	return s
}

// rules decide every method. What is not here is closed to tokens with scopes.
const rules = `
POST /booking.v1.Bookings/List    BOOKING_READ
POST /booking.v1.Bookings/Watch   BOOKING_READ
POST /booking.v1.Bookings/Slots   PUBLIC
`

// newPolicy has no Member, since no pattern names a team: in gRPC its id is in the
// message, so there the method itself must ask whether the user belongs to it.
func newPolicy() (*policy.Policy, error) {
	table, err := policy.Load(strings.NewReader(rules))
	if err != nil {
		return nil, err
	}
	return policy.New(table, policy.Config{})
}
