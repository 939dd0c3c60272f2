package chaos

import (
	"fmt"
	"time"
)

// A fault is injected and healed again. After each fault the test judges the history
// (S1 to S9, L2), how soon there was a write (L1), whether all nodes came back (L3),
// and how often leadership moved (L4). The comment of a fault says what it breaks, and
// what else is judged.
type fault struct {
	name string
	// inject makes it so. heal puts it right; what has died is started.
	inject, heal func(*round) error
	// hadEffect reports whether it has had an effect. A round of a fault that did not
	// bite proves nothing.
	hadEffect func(*round) bool
	// lasts is the least time between the two.
	lasts time.Duration
	// majority says that the nodes that are left can go on meanwhile (L1).
	majority bool
	// halts is set if nothing can be committed between inject and heal.
	halts bool
	// moves is how often leadership may change because of it (L4).
	moves int
	// crash marks what leadership is taken from by force, planned what it is
	// handed over for; their gaps are reported.
	crash, planned bool
}

// A round is one play of a fault.
type round struct {
	*env
	fault   fault
	leader  *node // when the fault was injected
	victims []*node

	injected, healed time.Duration
	struck           time.Duration    // when it hit, which may be later than injected
	before           map[string]int64 // counters, from before the injection
	halted           time.Duration    // from when nothing could be committed; 0: from the end of inject
	hadEffect        bool
	heldGrants       []*grant // by a directed schedule
}

// hits adds victims, which are excused for what they can't answer.
func (r *round) hits(nodes ...*node) []*node {
	r.victims = append(r.victims, nodes...)
	return nodes
}

// strike notes that the fault hits now; the first time counts.
func (r *round) strike() {
	if r.struck == 0 {
		r.struck = r.c.now()
	}
}

// awaitRequest waits until an answer of a node is awaited, so that what happens to it
// then happens to a request too.
func (r *round) awaitRequest(n *node) error {
	if !until(5*time.Second, func() bool { return r.h.waiting(n.name) > 0 }) {
		return fmt.Errorf("nobody asks %s", n.name)
	}
	return nil
}

// restart starts the victims that are down and waits for them.
func (r *round) restart() error {
	for _, n := range r.victims {
		if !n.running() {
			if err := n.start(); err != nil {
				return err
			}
		}
	}
	return nil
}

// A target is the nodes that a fault hits.
type target struct {
	name  string
	nodes func(*round) []*node
	// left says that a majority is left, moves that leadership may move.
	left  bool
	moves int
}

var (
	theLeader = target{"the leader", func(r *round) []*node { return []*node{r.leader} }, true, 1}
	aFollower = target{"a follower", func(r *round) []*node { return []*node{r.other(r.leader)} }, true, 0}
	twoNodes  = target{"two nodes", func(r *round) []*node { return []*node{r.leader, r.other(r.leader)} }, false, 2}
	allNodes  = target{"all nodes", func(r *round) []*node { return r.c.all() }, false, 2}
)

// other is some node that is not n.
func (r *round) other(n *node) *node {
	for {
		if o := r.c.any(); o != n {
			return o
		}
	}
}
