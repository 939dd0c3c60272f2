package main

import (
	"fmt"
	"net/http"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// byPolicy guards all routes at once: the guard wraps the router.
func byPolicy(guard *middleware.Guard, p *policy.Policy) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/bookings", list)
	mux.HandleFunc("POST /v2/bookings", book)
	mux.HandleFunc("GET /v2/bookings/{uid}", show)
	mux.HandleFunc("GET /v2/teams/{teamId}/bookings", team)
	return guard.Enforce(p)(mux)
}

// byRoute sets a scope for each route. The handler then checks that the user belongs to
// the team.
func byRoute(guard *middleware.Guard) http.Handler {
	read := guard.Require(scope.BookingRead)
	mux := http.NewServeMux()
	mux.Handle("GET /v2/bookings", read(http.HandlerFunc(list)))
	mux.Handle("POST /v2/bookings", guard.Optional()(http.HandlerFunc(book)))
	mux.Handle("GET /v2/bookings/{uid}", read(http.HandlerFunc(show)))
	mux.Handle("GET /v2/teams/{teamId}/bookings", guard.Require(scope.TeamBookingRead)(http.HandlerFunc(team)))
	return mux
}

func list(w http.ResponseWriter, r *http.Request) {
	token, _ := middleware.FromContext(r.Context())
	fmt.Fprintf(w, "bookings of %s", token.Subject())
}

func show(w http.ResponseWriter, r *http.Request) {
	token, _ := middleware.FromContext(r.Context())
	fmt.Fprintf(w, "booking %s of %s", r.PathValue("uid"), token.Subject())
}

func book(w http.ResponseWriter, r *http.Request) {
	by := "a guest"
	if token, ok := middleware.FromContext(r.Context()); ok {
		by = token.Subject()
	}
	fmt.Fprintf(w, "booked by %s", by)
}

func team(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "bookings of team %s", r.PathValue("teamId"))
}
