package chaos

import (
	"errors"
	"fmt"
	"time"
)

// A shape is the set of directions that a network fault affects.
type shape struct {
	name  string
	pairs func(*round) []pair
	left  bool
	moves int
}

// around returns all directions to and from a node.
func (r *round) around(n *node) []pair { return append(r.from(n), r.to(n)...) }

func (r *round) from(n *node) (list []pair) {
	for _, o := range r.c.all() {
		if o != n {
			list = append(list, pair{n.Name, o.Name})
		}
	}
	return list
}

func (r *round) to(n *node) (list []pair) {
	for _, p := range r.from(n) {
		list = append(list, pair{p.to, p.from})
	}
	return list
}

var (
	leaderAlone           = shape{"the leader and the others", func(r *round) []pair { return r.around(r.leader) }, true, 1}
	followerAlone         = shape{"a follower and the others", func(r *round) []pair { return r.around(r.other(r.leader)) }, true, 1}
	leaderSendsNothing    = shape{"what the leader sends", func(r *round) []pair { return r.from(r.leader) }, true, 1}
	leaderReceivesNothing = shape{"what the leader hears", func(r *round) []pair { return r.to(r.leader) }, true, 1}
	allNodesApart         = shape{"all nodes", func(r *round) (all []pair) {
		for _, n := range r.c.all() {
			all = append(all, r.from(n)...)
		}
		return all
	}, false, 2}
	ring = shape{"a ring", func(r *round) (all []pair) {
		nodes := r.c.all()
		for i, n := range nodes {
			all = append(all, pair{n.Name, nodes[(i+1)%len(nodes)].Name})
		}
		return all
	}, false, 2}
	twoApart = shape{"the leader and a follower", func(r *round) []pair {
		o := r.other(r.leader)
		return []pair{{r.leader.Name, o.Name}, {o.Name, r.leader.Name}}
	}, true, 1}
)

// disturbed adds a toxic to some directions of links. Judged: nodes that still reach
// each other continue meanwhile if they are a majority.
func disturbed(what, kind, attributes string, s shape, lasts time.Duration, count func() int64) fault {
	var touched []pair
	return fault{
		name: fmt.Sprintf("%s between %s", what, s.name), lasts: lasts, majority: s.left, moves: s.moves,
		inject: func(r *round) error {
			touched = s.pairs(r)
			r.before = map[string]int64{kind: count()}
			return eachPair(touched, func(p pair) error { return r.c.links.disturb(p, kind, attributes) })
		},
		hadEffect: func(r *round) bool { return count() > r.before[kind] },
		heal: func(r *round) error {
			return eachPair(touched, func(p pair) error { return r.c.links.calm(p, kind) })
		},
	}
}

// cut drops all packets.
func cut(s shape, lasts time.Duration) fault {
	f := disturbed("partition", "hole", "", s, lasts, dropped.Load)
	f.crash = s.name == leaderAlone.name
	return f
}

// stallOf delays all packets until the fault ends.
func stallOf(s shape, lasts time.Duration) fault {
	return disturbed("stall", "stall", "", s, lasts, stalled.Load)
}

// slowed delays all packets. Judged: writes continue, because the delay is too short to
// move leadership.
func slowed(s shape, milliseconds, jitter int, lasts time.Duration) fault {
	f := disturbed(fmt.Sprintf("delay of %d±%d ms", milliseconds, jitter), "lag",
		fmt.Sprintf(`"ms": %d, "jitter": %d`, milliseconds, jitter), s, lasts, delayed.Load)
	f.majority = true
	return f
}

// resets closes all connections between nodes repeatedly. Judged: writes continue.
func resets() fault {
	stop := make(chan struct{})
	done := make(chan error, 1)
	return fault{
		name: "connections reset", lasts: 2 * time.Second, majority: true, moves: 2,
		inject: func(r *round) error {
			r.before = map[string]int64{"": dialledAll(r)}
			stop = make(chan struct{})
			go func() {
				tick := time.NewTicker(250 * time.Millisecond)
				defer tick.Stop()
				for {
					if err := eachPair(allNodesApart.pairs(r), r.c.links.reset); err != nil {
						done <- err
						return
					}
					select {
					case <-tick.C:
					case <-stop:
						done <- nil
						return
					}
				}
			}()
			return nil
		},
		hadEffect: func(r *round) bool { return dialledAll(r) > r.before[""]+4 },
		heal: func(*round) error {
			close(stop)
			return <-done
		},
	}
}

func dialledAll(r *round) (n int64) {
	for _, p := range allNodesApart.pairs(r) {
		n += int64(dialled(p))
	}
	return n
}

func eachPair(pairs []pair, do func(pair) error) error {
	var errs []error
	for _, p := range pairs {
		if err := do(p); err != nil {
			errs = append(errs, fmt.Errorf("%s to %s: %w", p.from, p.to, err))
		}
	}
	return errors.Join(errs...)
}
