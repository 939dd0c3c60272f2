package policy

import (
	"fmt"
	"net/http"
	"slices"
)

// Route is a route that a service has, as its router or its API description
// writes it: a parameter is ":name" or "{name}".
type Route struct{ Method, Pattern string }

// Problem is the kind of a [Finding].
type Problem string

// What Check finds.
const (
	Undecided Problem = "no decision"     // the table has no row for the route
	Borrowed  Problem = "borrowed"        // only another route's row meets its paths
	Unrouted  Problem = "no route"        // no route is behind the row
	Unasked   Problem = "no membership"   // the route names a team or organization, its row doesn't
	Unsayable Problem = "not expressible" // no row can say the route's pattern
)

// Finding is one way in which a table and the routes of a service differ.
type Finding struct {
	Problem Problem
	Route   Route  // empty for Unrouted
	Row     Row    // of Unrouted; of Borrowed and Unasked, the row that decides
	Reason  string // of Unsayable
}

func (f Finding) String() string {
	route := f.Route.Method + " " + f.Route.Pattern
	switch f.Problem {
	case Borrowed:
		return fmt.Sprintf("%s: %s, %s decides it", f.Problem, route, f.Row)
	case Unrouted:
		return fmt.Sprintf("%s: %s", f.Problem, f.Row)
	case Unasked:
		return fmt.Sprintf("%s: %s is decided by %s, where no parameter has the name of a team's or an organization's", f.Problem, route, f.Row)
	case Unsayable:
		return fmt.Sprintf("%s: %s, %s", f.Problem, route, f.Reason)
	}
	return fmt.Sprintf("%s: %s", f.Problem, route)
}

// Check compares the table with the routes that a service has, all of them. It
// finds routes without a decision of their own, and rows that no route is
// behind. Findings about routes come first, in the order of the routes.
func (t *Table) Check(routes []Route) []Finding {
	var found []Finding
	used := make([]bool, len(t.rows))
	policy, err := New(t, Config{SkipMember: true})
	if err != nil {
		panic(err) // NewTable has checked the rows
	}
	for _, route := range routes {
		segments, err := parsePattern(route.Pattern)
		switch {
		case err != nil:
			found = append(found, Finding{Problem: Unsayable, Route: route, Reason: err.Error()})
			continue
		case !isMethod(route.Method):
			found = append(found, Finding{Problem: Unsayable, Route: route, Reason: "the method is not in capital letters"})
			continue
		}
		i, ok := t.row(route.Method, segments)
		if !ok {
			f := Finding{Problem: Undecided, Route: route}
			if row, ok := policy.meets(route.Method, segments); ok {
				f.Problem, f.Row = Borrowed, row
			}
			found = append(found, f)
			continue
		}
		used[i] = true
		if t.rows[i].Access != Public && !slices.Equal(memberships(segments), memberships(t.parsed[i])) && len(memberships(segments)) > 0 {
			found = append(found, Finding{Problem: Unasked, Route: route, Row: t.rows[i]})
		}
	}
	for i, row := range t.rows {
		if !used[i] {
			found = append(found, Finding{Problem: Unrouted, Row: row})
		}
	}
	return found
}

// row is the row of a route; one of GET stands in for HEAD.
func (t *Table) row(method string, segments []segment) (int, bool) {
	i, ok := t.shapes[method+" "+shape(segments)]
	if !ok && method == http.MethodHead {
		i, ok = t.shapes[http.MethodGet+" "+shape(segments)]
	}
	return i, ok
}

// meets is the row that decides about the paths of a pattern that has none of
// its own: the tree is walked with the pattern itself, whose parameters only a
// parameter meets.
func (p *Policy) meets(method string, segments []segment) (Row, bool) {
	methods := []string{method}
	if method == http.MethodHead {
		methods = append(methods, http.MethodGet)
	}
	for _, m := range methods {
		if tree := p.trees[m]; tree != nil {
			if r := tree.covering(segments); r != nil {
				return r.row, true
			}
		}
	}
	return Row{}, false
}

func (n *node) covering(segments []segment) *route {
	if len(segments) == 0 {
		return n.route
	}
	if next := n.literal(segments[0].text); next != nil && !segments[0].param {
		if r := next.covering(segments[1:]); r != nil {
			return r
		}
	}
	if n.param != nil {
		return n.param.covering(segments[1:])
	}
	return nil
}
