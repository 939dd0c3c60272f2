package chaos

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// A starved process runs for a small part of each turn.
const (
	starvePause = 17 * time.Millisecond
	starveRun   = 3 * time.Millisecond
)

// starved stops nodes most of the time, as an overloaded machine does. Judged: writes
// continue.
func starved(whom target, lasts time.Duration) fault {
	var turns atomic.Int64 // turns in which the process was seen paused
	var stop chan struct{}
	var all sync.WaitGroup
	return fault{
		name: "no processor for " + whom.name, lasts: lasts, majority: true, moves: 1,
		inject: func(r *round) error {
			turns.Store(0)
			stop = make(chan struct{})
			for _, n := range r.hits(whom.nodes(r)...) {
				p := n.Process()
				all.Go(func() {
					for {
						_ = p.Signal(syscall.SIGSTOP)
						if p.Paused() {
							turns.Add(1)
						}
						time.Sleep(starvePause)
						_ = p.Signal(syscall.SIGCONT)
						select {
						case <-stop:
							return
						case <-time.After(starveRun):
						}
					}
				})
			}
			return nil
		},
		hadEffect: func(r *round) bool {
			return turns.Load() >= int64(len(r.victims))*int64(lasts/(starvePause+starveRun)/4)
		},
		heal: func(r *round) error {
			close(stop)
			all.Wait()
			return r.restart()
		},
	}
}

// descriptors lowers the limit on open files of nodes, so that they can open neither
// files nor connections. Judged: the others continue meanwhile.
func descriptors(whom target, lasts time.Duration) fault {
	had := map[*node]unix.Rlimit{}
	return fault{
		name: "no descriptor for " + whom.name, lasts: lasts, majority: whom.left, moves: whom.moves,
		inject: func(r *round) error {
			clear(had)
			return eachOf(r.hits(whom.nodes(r)...), func(n *node) error {
				pid := n.Process().PID()
				var old unix.Rlimit
				if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &old); err != nil {
					return err
				}
				had[n] = old
				// Open files stay open.
				return unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: old.Max}, nil)
			})
		},
		// A new connection now waits, or the node has stopped because it could not write.
		hadEffect: func(r *round) bool {
			for _, n := range r.victims {
				if n.Running() && n.answersAtOnce() {
					return false
				}
			}
			return true
		},
		heal: func(r *round) error {
			err := eachOf(r.victims, func(n *node) error {
				if !n.Running() {
					return nil
				}
				old := had[n]
				return unix.Prlimit(n.Process().PID(), unix.RLIMIT_NOFILE, &old, nil)
			})
			return errors.Join(err, r.restart())
		},
	}
}

// answersAtOnce reports whether the node accepts a new connection.
func (n *node) answersAtOnce() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, n.OpsURL()+"/livez", nil)
	if err != nil {
		return false
	}
	answer, err := testkit.Probe.Do(r)
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil
}
