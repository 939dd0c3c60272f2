package policy

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// Route is a route of a service, in the spelling of its router or its API description: a
// parameter is ":name" or "{name}".
type Route struct{ Method, Pattern string }

// Problem is the kind of a [Finding].
type Problem string

// The problems that Check finds.
const (
	Undecided           Problem = "no decision"     // the table has no row for the route
	Borrowed            Problem = "borrowed"        // only another route's row matches the route's paths
	Unrouted            Problem = "no route"        // the row has no route
	MembershipUnchecked Problem = "no membership"   // the route has the id of a team or organization, its row doesn't
	NotExpressible      Problem = "not expressible" // the route's pattern is not valid in a row
)

// Finding is one difference between a table and the routes of a service.
type Finding struct {
	Problem Problem
	Route   Route  // empty for Unrouted
	Row     Row    // of Unrouted; of Borrowed and MembershipUnchecked, the row that decides
	Reason  string // of NotExpressible
}

func (f Finding) String() string {
	route := f.Route.Method + " " + f.Route.Pattern
	switch f.Problem {
	case Borrowed:
		return fmt.Sprintf("%s: %s, decided by %s", f.Problem, route, f.Row)
	case Unrouted:
		return fmt.Sprintf("%s: %s", f.Problem, f.Row)
	case MembershipUnchecked:
		return fmt.Sprintf("%s: %s, decided by %s, which has no parameter for the id of a team or organization", f.Problem, route, f.Row)
	case NotExpressible:
		return fmt.Sprintf("%s: %s, %s", f.Problem, route, f.Reason)
	}
	return fmt.Sprintf("%s: %s", f.Problem, route)
}

// Check compares the table with all routes of a service. It finds routes without a row of
// their own, and rows without a route. Findings about routes come first, in the order of
// the routes.
func (t *Table) Check(routes []Route) []Finding {
	var found []Finding
	used := make([]bool, len(t.rows))
	policy, err := New(t, Config{SkipMember: true})
	if err != nil {
		panic(err) // unreachable: NewTable has checked the rows
	}
	for _, route := range routes {
		segments, err := parsePattern(route.Pattern)
		switch {
		case err != nil:
			found = append(found, Finding{Problem: NotExpressible, Route: route, Reason: err.Error()})
			continue
		case !isMethod(route.Method):
			found = append(found, Finding{Problem: NotExpressible, Route: route, Reason: "the method is not in upper case"})
			continue
		}
		// The pattern is matched as a path. No literal of a row equals the text of a
		// parameter, so the pattern's parameters match only parameters of rows.
		match, err := policy.Match(route.Method, &url.URL{Path: route.Pattern})
		if err != nil {
			panic(err) // unreachable: parsePattern refuses ambiguous patterns
		}
		row, _ := match.Row()
		i, ok := t.row(route.Method, segments)
		if !ok {
			f := Finding{Problem: Undecided, Route: route}
			if match.route != nil {
				f.Problem, f.Row = Borrowed, row
			}
			found = append(found, f)
			continue
		}
		used[i] = true
		if asked := slices.Collect(match.ids); row.Access != Public && slices.ContainsFunc(memberships(segments), func(in membership) bool { return !slices.Contains(asked, in) }) {
			found = append(found, Finding{Problem: MembershipUnchecked, Route: route, Row: row})
		}
	}
	for i, row := range t.rows {
		if !used[i] {
			found = append(found, Finding{Problem: Unrouted, Row: row})
		}
	}
	return found
}

// row returns the row of a route; a row of GET also counts for HEAD.
func (t *Table) row(method string, segments []segment) (int, bool) {
	i, ok := t.shapes[method+" "+shape(segments)]
	if !ok && method == http.MethodHead {
		i, ok = t.shapes[http.MethodGet+" "+shape(segments)]
	}
	return i, ok
}
