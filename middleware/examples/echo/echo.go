package main

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// byPolicy guards all routes at once, in front of echo. Pre is not enough: other
// middleware there may rewrite the path after the guard.
func byPolicy(guard *middleware.Guard, p *policy.Policy) http.Handler {
	e := echo.New()
	e.GET("/v2/bookings", list)
	e.POST("/v2/bookings", book)
	e.GET("/v2/bookings/:uid", show)
	e.GET("/v2/teams/:teamId/bookings", team)
	return guard.Enforce(p)(e)
}

// byRoute sets a scope for each route. The handler then checks that the user belongs to
// the team.
func byRoute(guard *middleware.Guard) http.Handler {
	read := echo.WrapMiddleware(guard.Require(scope.BookingRead))
	e := echo.New()
	e.GET("/v2/bookings", list, read)
	e.POST("/v2/bookings", book, echo.WrapMiddleware(guard.Optional()))
	e.GET("/v2/bookings/:uid", show, read)
	e.GET("/v2/teams/:teamId/bookings", team, echo.WrapMiddleware(guard.Require(scope.TeamBookingRead)))
	return e
}

func list(c echo.Context) error {
	token, _ := middleware.FromContext(c.Request().Context())
	return c.String(http.StatusOK, "bookings of "+token.Subject())
}

func show(c echo.Context) error {
	token, _ := middleware.FromContext(c.Request().Context())
	return c.String(http.StatusOK, fmt.Sprintf("booking %s of %s", c.Param("uid"), token.Subject()))
}

func book(c echo.Context) error {
	by := "a guest"
	if token, ok := middleware.FromContext(c.Request().Context()); ok {
		by = token.Subject()
	}
	return c.String(http.StatusOK, "booked by "+by)
}

func team(c echo.Context) error {
	return c.String(http.StatusOK, "bookings of team "+c.Param("teamId"))
}
