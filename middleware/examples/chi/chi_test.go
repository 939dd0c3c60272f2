package main

import (
	"net/http"
	"testing"

	"github.com/go-chi/chi/v5"

	"github.com/mintmark-auth/mintmark/middleware/examples/internal/trial"
	"github.com/mintmark-auth/mintmark/middleware/policy"
)

func TestByRoute(t *testing.T) { trial.ByRoute(t, byRoute) }

func TestByPolicy(t *testing.T) { trial.ByPolicy(t, byPolicy) }

func TestPolicyAgrees(t *testing.T) { agreement(t).Test(t) }

func FuzzPolicyAgrees(f *testing.F) { agreement(f).Fuzz(f) }

func agreement(t testing.TB) *trial.Agreement {
	wide := []string{"/v2/teams/:teamId/*", "/v2/organizations/:orgId/*", "/v2/organizations/:orgId/teams/:teamId/*", "/v2/organizations/:orgId", "/v2/teams/:teamId/roles"}
	return trial.NewAgreement(t, policy.Scheduling().Rows(), wide, func(routes []trial.Route) http.Handler {
		r := chi.NewRouter()
		for _, route := range routes {
			h := func(_ http.ResponseWriter, r *http.Request) {
				route.Run(func(name string) string { return chi.URLParam(r, name) })
			}
			if route.Method == "" {
				r.HandleFunc(route.Braces(), h)
			} else {
				r.MethodFunc(route.Method, route.Braces(), h)
			}
		}
		return r
	})
}
