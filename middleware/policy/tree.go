package policy

import "github.com/mintmark-auth/mintmark/verifier/scope"

// route is a row, ready to be matched.
type route struct {
	row     Row
	need    scope.Set // of Scoped
	members []membership
	names   []segment
}

// node is a place in the tree of the patterns of one method. Nothing changes
// after New.
type node struct {
	few   []literal        // literals, while there are so few that looking is faster than hashing
	many  map[string]*node // all literals, once there are more; nil before
	param *node
	route *route // of the pattern that ends here, or nil
}

type literal struct {
	text string
	next *node
}

const fewLiterals = 8

// literal is the node behind a literal, or nil.
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

// find walks the tree: at each segment, from the left, a literal goes before a
// parameter. No node is met twice, so a walk is never longer than the table.
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
