package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/julienschmidt/httprouter"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// newRouter turns off httprouter's correction of paths, which redirects.
func newRouter() *httprouter.Router {
	r := httprouter.New()
	r.RedirectTrailingSlash, r.RedirectFixedPath = false, false
	return r
}

// byPolicy guards all routes at once: the guard wraps the router.
func byPolicy(guard *middleware.Guard, p *policy.Policy) http.Handler {
	r := newRouter()
	r.GET("/v2/bookings", list)
	r.POST("/v2/bookings", book)
	r.GET("/v2/bookings/:uid", show)
	r.GET("/v2/teams/:teamId/bookings", team)
	return guard.Enforce(p)(r)
}

// byRoute sets a scope for each route. The handler then checks that the user belongs to
// the team.
func byRoute(guard *middleware.Guard) http.Handler {
	read := guard.Require(scope.BookingRead)
	r := newRouter()
	r.GET("/v2/bookings", guarded(read, list))
	r.POST("/v2/bookings", guarded(guard.Optional(), book))
	r.GET("/v2/bookings/:uid", guarded(read, show))
	r.GET("/v2/teams/:teamId/bookings", guarded(guard.Require(scope.TeamBookingRead), team))
	return r
}

// guarded adapts a guard to a Handle. The parameters are in the context, as with
// httprouter's Handler.
func guarded(guard func(http.Handler) http.Handler, h httprouter.Handle) httprouter.Handle {
	next := guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h(w, r, httprouter.ParamsFromContext(r.Context()))
	}))
	return func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), httprouter.ParamsKey, params)))
	}
}

func list(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	token, _ := middleware.FromContext(r.Context())
	fmt.Fprintf(w, "bookings of %s", token.Subject())
}

func show(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
	token, _ := middleware.FromContext(r.Context())
	fmt.Fprintf(w, "booking %s of %s", params.ByName("uid"), token.Subject())
}

func book(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
	by := "a guest"
	if token, ok := middleware.FromContext(r.Context()); ok {
		by = token.Subject()
	}
	fmt.Fprintf(w, "booked by %s", by)
}

func team(w http.ResponseWriter, _ *http.Request, params httprouter.Params) {
	fmt.Fprintf(w, "bookings of team %s", params.ByName("teamId"))
}
