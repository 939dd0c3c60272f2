package chaos

import (
	"fmt"
	"slices"
	"strings"
)

// withEnds adds the commands that ended all grants of a publisher to the history of each of its
// grants, as revocations of it. One that overlaps the Allow may have come before it.
func withEnds(ops []op) []op {
	all := slices.Clone(ops)
	for _, a := range ops {
		if a.Kind != allow || a.Class != ok || a.Publisher == "" {
			continue
		}
		for _, e := range ops {
			if e.Kind != endGrants && e.Kind != rejectPublisher || e.Publisher != a.Publisher || e.Class != ok && e.Class != unknown {
				continue
			}
			end := op{Kind: revokeGrant, Node: e.Node, Grant: a.Grant, Start: e.Start, End: e.End, Class: e.Class}
			switch {
			case e.Class == ok && e.End < a.Start:
				continue
			case e.Start < a.End:
				end.Class = unknown
			}
			all = append(all, end)
		}
	}
	return all
}

// withinCeilings checks S10: a grant for an agent has the scope that it asked for, cut to a ceiling
// that its publisher had during the Allow, and each token has that, cut to one during its request.
func withinCeilings(ops []op) (bad []string) {
	allowed, granted := map[string]op{}, map[string][]string{}
	for _, o := range ops {
		if o.Kind == allow && o.Class == ok && o.Publisher != "" {
			allowed[o.Grant], granted[o.Grant] = o, ceilings(ops, o)
		}
	}
	for _, o := range ops {
		a, known := allowed[o.Grant]
		if !known || o.Class != ok || o.Kind != exchange && o.Kind != refresh {
			continue
		}
		now := o
		now.Publisher = a.Publisher
		possible, was := ceilings(ops, now), granted[o.Grant]
		granted[o.Grant] = slices.DeleteFunc(slices.Clone(was), func(scope string) bool {
			return !slices.ContainsFunc(possible, func(ceiling string) bool { return common(scope, ceiling) == o.Scope })
		})
		if len(granted[o.Grant]) == 0 {
			return append(bad, fmt.Sprintf("S10: the scope of grant %s is %q; it was one of %q, and the ceiling is one of %q", o.Grant, o.Scope, was, possible))
		}
	}
	return bad
}

// common returns the names of a that b has too.
func common(a, b string) string {
	has := strings.Fields(b)
	return strings.Join(slices.DeleteFunc(strings.Fields(a), func(name string) bool { return !slices.Contains(has, name) }), " ")
}

// ceilings returns those that the publisher may have had during an op. One at a time is set; a
// command of unknown fate may take effect at any later time.
func ceilings(ops []op, a op) (possible []string) {
	last := op{Scope: wideCeiling} // at first
	for _, o := range ops {
		if o.Class == ok && o.sets(a.Publisher) && o.End < a.Start && o.End >= last.End {
			last = o
		}
	}
	possible = []string{last.Scope}
	for _, o := range ops {
		if o.sets(a.Publisher) && o.Start < a.End && (o.Class == unknown || o.Class == ok && o.End >= a.Start) {
			possible = append(possible, o.Scope)
		}
	}
	return possible
}

// sets reports whether the op sets the ceiling of a publisher.
func (o op) sets(publisher string) bool {
	return (o.Kind == setCeiling || o.Kind == approvePublisher) && o.Publisher == publisher
}
