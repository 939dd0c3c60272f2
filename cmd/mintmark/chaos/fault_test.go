package chaos

import (
	"fmt"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// A fault is injected and later healed. After each fault the test judges the history (S1
// to S10, L2), the time until a write (L1), whether all nodes recovered (L3), and the
// number of leadership changes (L4). The comment of a fault describes what it breaks, and
// what else is judged.
type fault struct {
	name string
	// inject causes the fault. heal ends it, and starts nodes that died.
	inject, heal func(*round) error
	// hadEffect reports whether the fault has had an effect. A round without an effect
	// proves nothing.
	hadEffect func(*round) bool
	// lasts is the least time between inject and heal.
	lasts time.Duration
	// majority reports that the other nodes can continue meanwhile (L1).
	majority bool
	// halts is set if nothing can be committed between inject and heal.
	halts bool
	// moves is how often leadership may change because of the fault (L4).
	moves int
	// crash marks faults that end the leader by force, planned those that transfer
	// leadership; their write gaps are reported.
	crash, planned bool
}

// A round is one injection of a fault.
type round struct {
	*env
	fault   fault
	leader  *node // when the fault was injected
	victims []*node

	injected, healed time.Duration
	struck           time.Duration    // when it took effect, which may be after injected
	before           map[string]int64 // counters before the injection
	halted           time.Duration    // from when nothing could be committed; 0: from the end of inject
	hadEffect        bool
	heldGrants       []*grant // used by a directed schedule
}

// hits adds victims, whose missing answers are excused.
func (r *round) hits(nodes ...*node) []*node {
	r.victims = append(r.victims, nodes...)
	return nodes
}

// strike records that the fault takes effect now; the first call counts.
func (r *round) strike() {
	if r.struck == 0 {
		r.struck = r.c.now()
	}
}

// awaitRequest waits until a request to a node is in progress, so that the fault affects
// a request too.
func (r *round) awaitRequest(n *node) error {
	if !testkit.Until(5*time.Second, func() bool { return r.h.waiting(n.Name) > 0 }) {
		return fmt.Errorf("no request to %s", n.Name)
	}
	return nil
}

// restart starts the victims that are down and waits for them.
func (r *round) restart() error {
	for _, n := range r.victims {
		if !n.Running() {
			if err := n.start(); err != nil {
				return err
			}
		}
	}
	return nil
}

// A target selects the nodes that a fault affects.
type target struct {
	name  string
	nodes func(*round) []*node
	// left reports that a majority is left; moves is how often leadership may change.
	left  bool
	moves int
}

var (
	theLeader = target{"the leader", func(r *round) []*node { return []*node{r.leader} }, true, 1}
	aFollower = target{"a follower", func(r *round) []*node { return []*node{r.other(r.leader)} }, true, 0}
	twoNodes  = target{"two nodes", func(r *round) []*node { return []*node{r.leader, r.other(r.leader)} }, false, 2}
	allNodes  = target{"all nodes", func(r *round) []*node { return r.c.all() }, false, 2}
)

// other returns a node other than n.
func (r *round) other(n *node) *node {
	for {
		if o := r.c.any(); o != n {
			return o
		}
	}
}
