package main

import (
	"net/http"
	"testing"

	"github.com/julienschmidt/httprouter"

	"github.com/mintmark-auth/mintmark/middleware/examples/internal/trial"
	"github.com/mintmark-auth/mintmark/middleware/policy"
)

func TestByRoute(t *testing.T) { trial.ByRoute(t, byRoute) }

func TestByPolicy(t *testing.T) { trial.ByPolicy(t, byPolicy) }

func TestPolicyAgrees(t *testing.T) { agreement(t).Test(t) }

func FuzzPolicyAgrees(f *testing.F) { agreement(f).Fuzz(f) }

func agreement(t testing.TB) *trial.Agreement {
	// httprouter can't have a literal and a parameter in one place, so some rows are left
	// out.
	var rows []policy.Row
	for _, row := range policy.Scheduling().Rows() {
		if fits(append(rows[:len(rows):len(rows)], row)) {
			rows = append(rows, row)
		}
	}
	wide := []string{"/v2/organizations/:orgId", "/v2/teams/:teamId", "/v2/organizations/:orgId/roles/*"}
	return trial.NewAgreement(t, rows, wide, build)
}

func build(routes []trial.Route) http.Handler {
	r := newRouter()
	for _, route := range routes {
		h := func(_ http.ResponseWriter, _ *http.Request, params httprouter.Params) { route.Run(params.ByName) }
		switch pattern := route.Pattern; {
		case route.Method != "":
			r.Handle(route.Method, pattern, h)
		case pattern[len(pattern)-1] == '*':
			r.Handle("PROPFIND", pattern+"rest", h)
		default:
			r.Handle("PROPFIND", pattern, h)
		}
	}
	return r
}

// fits reports whether the router accepts the rows together.
func fits(rows []policy.Row) (ok bool) {
	defer func() { ok = recover() == nil }()
	var routes []trial.Route
	for _, row := range rows {
		routes = append(routes, trial.Route{Method: row.Method, Pattern: row.Pattern})
	}
	build(routes)
	return true
}
