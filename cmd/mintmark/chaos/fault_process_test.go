package chaos

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// killed sends SIGKILL, and starts the nodes again. Writes that reached the kernel
// survive. Judged: the others continue meanwhile if they are a majority.
func killed(whom target) fault {
	return fault{
		name: "kill " + whom.name, majority: whom.left, moves: whom.moves, crash: whom.name == theLeader.name,
		lasts: 500 * time.Millisecond,
		inject: func(r *round) error {
			return eachOf(r.hits(whom.nodes(r)...), func(n *node) error {
				err := r.awaitRequest(n)
				r.strike()
				n.Process().Kill()
				return err
			})
		},
		hadEffect: func(r *round) bool {
			for _, n := range r.victims {
				if n.Running() {
					return false
				}
			}
			return true
		},
		heal: (*round).restart,
	}
}

// powerCut kills all nodes, and removes all unsynced data from their disks. Judged:
// everything acknowledged still exists (S6).
func powerCut() fault {
	f := killed(allNodes)
	f.name = "power cut of all nodes"
	f.heal = func(r *round) error {
		for _, n := range r.victims {
			if err := n.loseUnsynced(); err != nil {
				return err
			}
		}
		return r.restart()
	}
	return f
}

// paused sends SIGSTOP while requests are queued, and SIGCONT later. Judged: the others
// continue meanwhile if they are a majority, and no queued request gets a stale answer.
func paused(whom target, lasts time.Duration) fault {
	return fault{
		name: fmt.Sprintf("pause %s for %s", whom.name, lasts), lasts: lasts,
		majority: whom.left && lasts > time.Second, moves: whom.moves,
		inject: func(r *round) error {
			return eachOf(r.hits(whom.nodes(r)...), func(n *node) error {
				err := r.awaitRequest(n)
				r.strike()
				return errors.Join(err, n.Process().Signal(syscall.SIGSTOP))
			})
		},
		hadEffect: func(r *round) bool {
			for _, n := range r.victims {
				if !n.Process().Paused() || r.h.waiting(n.Name) == 0 {
					return false
				}
			}
			return true
		},
		heal: func(r *round) error {
			return eachOf(r.victims, func(n *node) error { return n.Process().Signal(syscall.SIGCONT) })
		},
	}
}

// rolling stops and starts one node after the other. Judged: each node stops and is
// ready again, and writes continue.
func rolling() fault {
	return fault{
		name: "rolling restart", planned: true, majority: true, moves: 3,
		inject: func(r *round) error {
			// The leader goes first, so that the gap is that of its stop.
			order := []*node{r.leader}
			for _, n := range r.c.all() {
				if n != r.leader {
					order = append(order, n)
				}
			}
			return eachOf(r.hits(order...), func(n *node) error {
				if err := n.Process().Stop(syscall.SIGTERM, 2*maxRequestTime); err != nil {
					return fmt.Errorf("%s: %w", n.Name, err)
				}
				if err := n.start(); err != nil {
					return err
				}
				if !testkit.Until(eventually, n.Ready) {
					return fmt.Errorf("%s is not ready after a restart", n.Name)
				}
				return nil
			})
		},
		hadEffect: func(*round) bool { return true },
		heal:      func(*round) error { return nil },
	}
}

// transferred transfers leadership. Judged: writes continue.
func transferred() fault {
	return fault{
		name: "transfer of leadership", planned: true, majority: true, moves: 1,
		inject: func(r *round) error {
			a := r.leader.run("cluster", "transfer-leader")
			if a.Code != exitOK {
				return fmt.Errorf("transfer-leader: exit code %d: %s", a.Code, a.Err)
			}
			return nil
		},
		hadEffect: func(r *round) bool {
			now := r.c.leader()
			return now != nil && now != r.leader
		},
		heal: func(*round) error { return nil },
	}
}

func eachOf(nodes []*node, do func(*node) error) error {
	var errs []error
	for _, n := range nodes {
		errs = append(errs, do(n))
	}
	return errors.Join(errs...)
}
