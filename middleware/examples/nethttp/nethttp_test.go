package main

import (
	"net/http"
	"strings"
	"testing"

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
		mux := http.NewServeMux()
		for _, route := range routes {
			mux.HandleFunc(strings.TrimSpace(route.Method+" "+strings.TrimSuffix(route.Braces(), "*")), func(_ http.ResponseWriter, r *http.Request) {
				route.Run(r.PathValue)
			})
		}
		return mux
	})
}
