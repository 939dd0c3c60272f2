package policy

import (
	"slices"
	"strings"

	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// route is a row, prepared for matching.
type route struct {
	row     Row
	need    scope.Set // of Scoped
	members []membership
	names   []segment
}

// settles reports whether the pattern determines the meaning of segment i: it has a
// literal there, or the id of a team or an organization.
func (r *route) settles(i int) bool {
	if !r.names[i].param {
		return true
	}
	return slices.ContainsFunc(r.members, func(in membership) bool { return in.segment == i })
}

// spelled reports whether the path has the literals of the pattern in their own letter
// case.
func (r *route) spelled(p *path) bool {
	for i, s := range r.names {
		if !s.param && s.text != p.segment(i) {
			return false
		}
	}
	return true
}

// node is a node in the tree of the patterns of one method. It is immutable after New.
type node struct {
	few   []literal        // all literals; searched one by one while there are at most fewLiterals, which is faster than hashing
	many  map[string]*node // the same literals if there are more than fewLiterals, otherwise nil
	param *node
	route *route // of the pattern that ends here, or nil
}

type literal struct {
	text string
	next *node
}

const fewLiterals = 8

// literal returns the child for a literal, or nil.
func (n *node) literal(text string) *node {
	if n.many != nil {
		return n.many[text]
	}
	for i := range n.few {
		if n.few[i].text == text {
			return n.few[i].next
		}
	}
	return nil
}

func (n *node) addLiteral(text string) *node {
	next := new(node)
	n.few = append(n.few, literal{text, next})
	if len(n.few) > fewLiterals {
		n.many = map[string]*node{}
		for _, l := range n.few {
			n.many[l.text] = l.next
		}
	}
	return next
}

func (n *node) add(segments []segment, r *route) {
	for _, s := range segments {
		if s.param {
			if n.param == nil {
				n.param = new(node)
			}
			n = n.param
			continue
		}
		next := n.literal(s.text)
		if next == nil {
			next = n.addLiteral(s.text)
		}
		n = next
	}
	n.route = r
}

// find walks the tree: at each segment, from the left, a literal overrides a parameter.
// No node is visited twice, so a walk is never longer than the table.
func (n *node) find(p *path, i int) *route {
	if i == p.n {
		return n.route
	}
	if next := n.literal(p.segment(i)); next != nil {
		if r := next.find(p, i+1); r != nil {
			return r
		}
	}
	if n.param != nil {
		return n.param.find(p, i+1)
	}
	return nil
}

// longest returns the route whose pattern matches the most segments of the path, or
// nil. Among patterns of the same length, a literal overrides a parameter, from the
// left. With folded, a literal also matches a segment in another letter case; it
// overrides a parameter too, but not a literal in the path's own letter case.
func (n *node) longest(p *path, i int, folded bool) *route {
	best := n.route
	if i == min(p.n, maxSegments) {
		return best
	}
	text := p.segment(i)
	best = n.literal(text).longer(best, p, i+1, folded)
	if folded {
		for _, l := range n.few {
			if l.text != text && strings.EqualFold(l.text, text) {
				best = l.next.longer(best, p, i+1, folded)
			}
		}
	}
	return n.param.longer(best, p, i+1, folded)
}

// longer returns the longest route below n if it is longer than best, and otherwise
// best. n may be nil.
func (n *node) longer(best *route, p *path, i int, folded bool) *route {
	if n == nil {
		return best
	}
	if r := n.longest(p, i, folded); r != nil && (best == nil || len(r.names) > len(best.names)) {
		return r
	}
	return best
}
