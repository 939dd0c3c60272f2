package main

import (
	"fmt"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// byPolicy guards all routes at once. Nothing that rewrites a path may precede the guard,
// such as chi's CleanPath and StripSlashes.
func byPolicy(guard *middleware.Guard, p *policy.Policy) http.Handler {
	r := chi.NewRouter()
	r.Use(guard.Enforce(p))
	r.Get("/v2/bookings", list)
	r.Post("/v2/bookings", book)
	r.Get("/v2/bookings/{uid}", show)
	r.Get("/v2/teams/{teamId}/bookings", team)
	return r
}

// byRoute sets a scope for each route. The handler then checks that the user belongs to
// the team.
func byRoute(guard *middleware.Guard) http.Handler {
	r := chi.NewRouter()
	r.With(guard.Optional()).Post("/v2/bookings", book)
	r.Group(func(r chi.Router) {
		r.Use(guard.Require(scope.BookingRead))
		r.Get("/v2/bookings", list)
		r.Get("/v2/bookings/{uid}", show)
	})
	r.With(guard.Require(scope.TeamBookingRead)).Get("/v2/teams/{teamId}/bookings", team)
	return r
}

func list(w http.ResponseWriter, r *http.Request) {
	token, _ := middleware.FromContext(r.Context())
	fmt.Fprintf(w, "bookings of %s", token.Subject())
}

func show(w http.ResponseWriter, r *http.Request) {
	token, _ := middleware.FromContext(r.Context())
	fmt.Fprintf(w, "booking %s of %s", chi.URLParam(r, "uid"), token.Subject())
}

func book(w http.ResponseWriter, r *http.Request) {
	by := "a guest"
	if token, ok := middleware.FromContext(r.Context()); ok {
		by = token.Subject()
	}
	fmt.Fprintf(w, "booked by %s", by)
}

func team(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "bookings of team %s", chi.URLParam(r, "teamId"))
}
