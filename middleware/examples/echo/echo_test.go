package main

import (
	"net/http"
	"testing"

	"github.com/labstack/echo/v4"

	"github.com/mintmark-auth/mintmark/middleware/examples/internal/trial"
	"github.com/mintmark-auth/mintmark/middleware/policy"
)

func TestByRoute(t *testing.T) { trial.ByRoute(t, byRoute) }

func TestByPolicy(t *testing.T) { trial.ByPolicy(t, byPolicy) }

func TestPolicyAgrees(t *testing.T) { agreement(t).Test(t) }

func FuzzPolicyAgrees(f *testing.F) { agreement(f).Fuzz(f) }

// A parameter at the end of a pattern matches slashes in echo, so its routes are wider
// than the rows already.
func agreement(t testing.TB) *trial.Agreement {
	wide := []string{"/v2/organizations/:orgId", "/v2/organizations/:orgId/teams/:teamId/*", "/v2/teams/:teamId/roles"}
	return trial.NewAgreement(t, policy.Scheduling().Rows(), wide, func(routes []trial.Route) http.Handler {
		e := echo.New()
		for _, route := range routes {
			h := func(c echo.Context) error { route.Run(c.Param); return nil }
			if route.Method == "" {
				e.Any(route.Pattern, h)
			} else {
				e.Add(route.Method, route.Pattern, h)
			}
		}
		return e
	})
}
