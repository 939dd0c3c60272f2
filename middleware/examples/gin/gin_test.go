package main

import (
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/mintmark-auth/mintmark/middleware/examples/internal/trial"
	"github.com/mintmark-auth/mintmark/middleware/policy"
)

func TestByRoute(t *testing.T) { trial.ByRoute(t, byRoute) }

func TestByPolicy(t *testing.T) { trial.ByPolicy(t, byPolicy) }

func TestPolicyAgrees(t *testing.T) { agreement(t, newEngine()).Test(t) }

func FuzzPolicyAgrees(f *testing.F) { agreement(f, newEngine()).Fuzz(f) }

// newRawEngine matches on the raw path if there is one, and decodes the parameters as in
// a query.
func newRawEngine() *gin.Engine {
	r := newEngine()
	r.UseRawPath = true
	return r
}

func TestPolicyAgreesOnRawPaths(t *testing.T) { agreement(t, newRawEngine()).Test(t) }

func FuzzPolicyAgreesOnRawPaths(f *testing.F) { agreement(f, newRawEngine()).Fuzz(f) }

func agreement(t testing.TB, r *gin.Engine) *trial.Agreement {
	wide := []string{"/v2/organizations/:orgId", "/v2/teams/:teamId/roles", "/v2/organizations/:orgId/teams/:teamId/roles/*"}
	return trial.NewAgreement(t, policy.Scheduling().Rows(), wide, func(routes []trial.Route) http.Handler {
		for _, route := range routes {
			h := func(c *gin.Context) { route.Run(c.Param) }
			switch pattern := route.Pattern; {
			case route.Method != "":
				r.Handle(route.Method, pattern, h)
			case pattern[len(pattern)-1] == '*':
				r.Any(pattern+"rest", h)
			default:
				r.Any(pattern, h)
			}
		}
		return r
	})
}
