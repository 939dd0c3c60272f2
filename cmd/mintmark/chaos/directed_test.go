package chaos

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// TestDirected runs the schedules that find planted bugs on the unchanged program: they
// must find nothing.
func TestDirected(t *testing.T) {
	s := newSummary()
	s.run(t, newCluster3(t, build(t)), anotherAuthority(), raced(10), queued(20), unheard(20), queued(20), unheard(20),
		overtaken("hole", 20), overtaken("stall", 20))
	s.print(t)
	require.Zero(t, s.voids, "%v", s.voidReasons)
}

// Schedules that target one bug each.

// codes makes grants whose codes are unused.
func (w *env) codes(n int) (list []*grant) {
	b := newBrowser(w)
	for tries := 0; len(list) < n && tries < 3*n; tries++ {
		if g := b.allow(context.Background(), steady[0]); g != nil {
			list = append(list, g)
		}
	}
	return list
}

// race exchanges each of some codes many times concurrently.
func (w *env) race(codes int) error {
	list := w.codes(codes)
	if len(list) < codes {
		return errors.New("no codes")
	}
	for _, g := range list {
		var all sync.WaitGroup
		for range 16 {
			a := newApplication(w)
			all.Go(func() {
				a.exchange(context.Background(), w.c.any(), &grant{client: g.client, id: g.id, code: g.code}, false)
				a.http.CloseIdleConnections()
			})
		}
		all.Wait()
	}
	return nil
}

// queued pauses the leader until another one leads and has advanced some grants. Requests
// in its queue are the first that it handles when it runs again and still believes to be
// the leader.
func queued(grants int) fault {
	const requests = 3
	f := paused(theLeader, time.Millisecond)
	f.name = "requests queued at a paused leader"
	inject := f.inject
	var waiting sync.WaitGroup
	f.inject = func(r *round) error {
		list, a := r.codes(grants), newApplication(r.env)
		for _, g := range list {
			if o, next := a.exchange(context.Background(), r.leader, g, false); o.Class == ok {
				g.tokens = append(g.tokens, next)
			}
		}
		if err := inject(r); err != nil {
			return err
		}
		if !testkit.Until(eventually, r.other(r.leader).Ready) {
			return errors.New("no other leader was elected")
		}
		for _, g := range list {
			if len(g.tokens) < 2 {
				continue
			}
			if o, next := a.refresh(context.Background(), r.other(r.leader), g, 1, 0); o.Class == ok {
				g.tokens = append(g.tokens, next)
			}
		}
		before := r.h.waiting(r.leader.Name)
		for _, g := range list {
			if g.gen() < 2 {
				continue
			}
			for range requests {
				waiting.Go(func() {
					copied := *g
					newApplication(r.env).refresh(context.Background(), r.leader, &copied, 2, 0)
				})
			}
		}
		if !testkit.Until(eventually, func() bool { return r.h.waiting(r.leader.Name) >= before+grants }) {
			return errors.New("no requests are waiting")
		}
		return nil
	}
	f.heal = func(r *round) error {
		err := r.leader.Process().Signal(syscall.SIGCONT)
		waiting.Wait()
		return err
	}
	return f
}

// unheard loses the leader's answers to a follower that has forwarded exchanges. They are
// decided, and the follower, which can't know, proposes them again when its connections
// break.
func unheard(codes int) fault {
	var waiting sync.WaitGroup
	var lost pair
	return fault{
		name: "answers of the leader lost", majority: true, lasts: 700 * time.Millisecond,
		inject: func(r *round) error {
			list, via := r.codes(codes), r.other(r.leader)
			lost = pair{r.leader.Name, via.Name}
			before := r.h.waiting(via.Name)
			r.before = map[string]int64{"": dropped.Load()}
			if err := r.c.links.disturb(lost, "hole", ""); err != nil {
				return err
			}
			for _, g := range list {
				waiting.Go(func() { newApplication(r.env).exchange(context.Background(), via, g, false) })
			}
			if !testkit.Until(eventually, func() bool { return r.h.waiting(via.Name) >= before+len(list) }) || len(list) < codes {
				return errors.New("no exchanges are waiting")
			}
			return nil
		},
		hadEffect: func(r *round) bool { return dropped.Load() > r.before[""]+int64(codes/10) },
		heal: func(r *round) error {
			err := r.c.links.calm(lost, "hole")
			waiting.Wait()
			return err
		},
	}
}

// overtaken sends a refresh through a follower that is cut off from the leader in one
// direction, and the same refresh through another node, where it succeeds. The follower's
// copy is decided first, and its answer lost (toxic "hole" on what the leader sends), or
// decided last (toxic "stall" on what the leader receives). Neither is reuse.
func overtaken(kind string, grants int) fault {
	var waiting sync.WaitGroup
	var touched pair
	counted := &dropped
	if kind == "stall" {
		counted = &stalled
	}
	return fault{
		name: "refreshes overtaken by their copies: " + kind, majority: true, lasts: 700 * time.Millisecond,
		inject: func(r *round) error {
			list, a, via := r.codes(grants), newApplication(r.env), r.other(r.leader)
			for _, g := range list {
				if o, next := a.exchange(context.Background(), r.leader, g, false); o.Class == ok {
					g.tokens = append(g.tokens, next)
				}
			}
			touched = pair{r.leader.Name, via.Name}
			if kind == "stall" {
				touched = pair{via.Name, r.leader.Name}
			}
			r.before = map[string]int64{"": counted.Load()}
			if err := r.c.links.disturb(touched, kind, ""); err != nil {
				return err
			}
			before := r.h.waiting(via.Name)
			for _, g := range list {
				copied := *g
				waiting.Go(func() { newApplication(r.env).refresh(context.Background(), via, &copied, copied.gen(), 0) })
			}
			if !testkit.Until(eventually, func() bool { return r.h.waiting(via.Name) >= before+len(list) }) || len(list) < grants {
				return errors.New("no refreshes are waiting")
			}
			for _, g := range list {
				for range 2 {
					if o, next := a.refresh(context.Background(), r.leader, g, g.gen(), 0); o.Class == ok && o.Got == g.gen()+1 {
						g.tokens = append(g.tokens, next)
					}
				}
			}
			r.heldGrants = list
			return nil
		},
		hadEffect: func(r *round) bool { return counted.Load() > r.before[""] },
		heal: func(r *round) error {
			err := r.c.links.calm(touched, kind)
			waiting.Wait()
			a := newApplication(r.env)
			for _, g := range r.heldGrants {
				a.refresh(context.Background(), r.leader, g, g.gen(), 0)
			}
			return err
		},
	}
}

// raced is not a fault: it sends many concurrent exchanges of one code.
func raced(codes int) fault {
	return fault{
		name: "exchanges at once", lasts: time.Millisecond, majority: true,
		inject:    func(r *round) error { return r.race(codes) },
		hadEffect: func(*round) bool { return true },
		heal:      func(*round) error { return nil },
	}
}
