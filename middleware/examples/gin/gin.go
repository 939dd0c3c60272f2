package main

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// newEngine turns off gin's correction of paths, which redirects.
func newEngine() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.RedirectTrailingSlash, r.RedirectFixedPath = false, false
	return r
}

// byPolicy guards all routes at once: the guard wraps the engine.
func byPolicy(guard *middleware.Guard, p *policy.Policy) http.Handler {
	r := newEngine()
	r.GET("/v2/bookings", list)
	r.POST("/v2/bookings", book)
	r.GET("/v2/bookings/:uid", show)
	r.GET("/v2/teams/:teamId/bookings", team)
	return guard.Enforce(p)(r)
}

// byRoute sets a scope for each route. The handler then checks that the user belongs to
// the team.
func byRoute(guard *middleware.Guard) http.Handler {
	read := guarded(guard.Require(scope.BookingRead))
	r := newEngine()
	r.GET("/v2/bookings", read, list)
	r.POST("/v2/bookings", guarded(guard.Optional()), book)
	r.GET("/v2/bookings/:uid", read, show)
	r.GET("/v2/teams/:teamId/bookings", guarded(guard.Require(scope.TeamBookingRead)), team)
	return r
}

// guarded adapts a guard to gin's middleware.
func guarded(guard func(http.Handler) http.Handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		passed := false
		guard(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			passed = true
			c.Request = r
			c.Next()
		})).ServeHTTP(c.Writer, c.Request)
		if !passed {
			c.Abort() // the guard has answered
		}
	}
}

func list(c *gin.Context) {
	token, _ := middleware.FromContext(c.Request.Context())
	c.String(http.StatusOK, "bookings of %s", token.Subject())
}

func show(c *gin.Context) {
	token, _ := middleware.FromContext(c.Request.Context())
	c.String(http.StatusOK, "booking %s of %s", c.Param("uid"), token.Subject())
}

func book(c *gin.Context) {
	by := "a guest"
	if token, ok := middleware.FromContext(c.Request.Context()); ok {
		by = token.Subject()
	}
	c.String(http.StatusOK, "booked by %s", by)
}

func team(c *gin.Context) {
	c.String(http.StatusOK, "bookings of team %s", c.Param("teamId"))
}
