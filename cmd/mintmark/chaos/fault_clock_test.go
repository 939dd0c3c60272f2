package chaos

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

const days400 = 400 * 24 * time.Hour

// startedWrong restarts nodes with a clock that is wrong for a while, like that of a
// machine that starts before its clock is synchronised. Judged: no token is ahead of
// the clocks, and the nodes recover without an operator.
func startedWrong(whom target, by, lasts time.Duration) fault {
	f := clock(whom, by, lasts)
	f.name = clockPrefix + whom.name + " wrong by " + by.String() + " at a start"
	f.inject = func(r *round) error {
		return eachOf(r.hits(whom.nodes(r)...), func(n *node) error {
			return errors.Join(n.Process().Stop(syscall.SIGTERM, 2*maxRequestTime), r.setClock(n, by), n.start())
		})
	}
	return f
}

// autoAcceptedJump is the greatest jump that nodes accept without an operator.
const autoAcceptedJump = 5 * time.Minute

// clockStays moves the clocks of a majority permanently. If the jump is greater than
// autoAcceptedJump, an operator accepts the clocks of these nodes. The clocks of the other
// nodes are set to the same time. Judged: the nodes decide nothing before that, no
// token is ahead of the clocks, the jump does not count against the retry window, and
// all nodes are ready at the end.
func clockStays(whom target, by time.Duration) fault {
	f := clock(whom, by, time.Second)
	f.name += " for good"
	f.inject = func(r *round) error {
		return r.awaitClockRefusal(by, eachOf(r.hits(whom.nodes(r)...), func(n *node) error { return r.setClock(n, by) }))
	}
	f.heal = func(r *round) error { return r.acceptClocks(by) }
	f.halts = true
	return f
}

// startStays restarts a majority with permanently moved clocks. Judged: the same
// as of clockStays.
func startStays(whom target, by time.Duration) fault {
	f := clockStays(whom, by)
	f.name = clockPrefix + whom.name + " by " + by.String() + " at a start, for good"
	f.moves += 3 // for the rolling restart
	f.inject = func(r *round) error {
		return r.awaitClockRefusal(by, eachOf(r.hits(whom.nodes(r)...), func(n *node) error {
			return errors.Join(n.Process().Stop(syscall.SIGTERM, 2*maxRequestTime), r.setClock(n, by), n.start())
		}))
	}
	return f
}

// rolledStays restarts all nodes one after the other with a clock that was moved
// permanently, each after the previous one has found that the others' clocks differ.
// Judged: the same as for clockStays.
func rolledStays(by time.Duration) fault {
	f := clockStays(allNodes, by)
	f.name = clockPrefix + allNodes.name + " by " + by.String() + " at a rolling restart, for good"
	f.moves += 3
	f.inject = func(r *round) error {
		return r.awaitClockRefusal(by, eachOf(r.hits(r.c.all()...), func(n *node) error {
			err := errors.Join(n.Process().Stop(syscall.SIGTERM, 2*maxRequestTime), r.setClock(n, by), n.start())
			var a testkit.Result
			if err == nil && !testkit.Until(eventually, func() bool {
				a = n.run("cluster", "status")
				return strings.Contains(a.Out, "ahead of the clocks of nodes that run steadily")
			}) {
				err = fmt.Errorf("%s accepted its clock: %s%s", n.Name, a.Out, a.Err)
			}
			return err
		}))
	}
	return f
}

// awaitClockRefusal waits until all nodes refuse to continue: the victims with their
// clocks, which were set unless err is not nil, and the others, which compare clocks once
// a second, without the victims. From then on the judge uses these clocks.
func (r *round) awaitClockRefusal(by time.Duration, err error) error {
	if err != nil {
		return err
	}
	if !testkit.Until(eventually, func() bool {
		return r.controlApplied("clock") && !slices.ContainsFunc(r.c.all(), func(n *node) bool { return !n.Alive() || n.Ready() })
	}) {
		return errors.New("the nodes accepted their clocks")
	}
	r.halted = r.c.now()
	r.recordClockStep(by)
	return nil
}

// acceptClocks makes all nodes continue with the clocks of the victims.
func (r *round) acceptClocks(by time.Duration) error {
	for _, n := range r.victims {
		if by.Abs() <= autoAcceptedJump {
			continue
		}
		var a testkit.Result
		if !testkit.Until(eventually, func() bool { a = n.run("cluster", "accept-clock"); return a.Code == exitOK }) {
			return fmt.Errorf("accept-clock on %s: exit code %d: %s", n.Name, a.Code, a.Err)
		}
	}
	for _, n := range r.c.all() {
		if err := r.setClock(n, 0); err != nil {
			return err
		}
	}
	for _, n := range r.c.all() {
		if !testkit.Until(2*eventually, n.Ready) {
			return fmt.Errorf("%s is not ready with a clock that was accepted", n.Name)
		}
	}
	for _, n := range r.c.all() { // otherwise the jumps of several rounds would add up
		if a := n.run("cluster", "accept-clock"); a.Code != exitOK {
			return fmt.Errorf("accept-clock on %s: exit code %d: %s", n.Name, a.Code, a.Err)
		}
	}
	return nil
}
