package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// Close stops the node: leadership is transferred, commands that wait are put into the log and answered as
// long as ctx lasts, new ones are refused. After Close the data directory may be
// opened again, and nothing of the node is left but the views that were taken.
func (n *Node) Close(ctx context.Context) error {
	n.closeOnce.Do(func() { n.closeErr = n.close(ctx) })
	return n.closeErr
}

func (n *Node) close(ctx context.Context) error {
	if n.raft != nil {
		n.StepDown(ctx)
	}
	n.barriers.closeWith(func() { close(n.closing) })
	var errs []error
	if n.raft != nil {
		n.pipeline.drain(ctx)
	}
	close(n.stopped)
	if n.raft != nil {
		if err := n.stopRaft(); err != nil {
			return err // it still uses the rest
		}
	}
	if n.net != nil {
		n.net.raft.CloseStreams()
		errs = append(errs, n.net.raft.Close())
		n.net.peers.Close()
	}
	n.running.Wait()
	n.live.close()
	if n.raft == nil && n.watchdog != nil {
		n.watchdog.disk.Close() // the watchdog does not run
	}
	if n.raft != nil {
		errs = append(errs, withinStopTimeout(n.watchdog.writeLastRun, errors.New("write time of last run: not written in time")))
	}
	if n.folder != nil {
		errs = append(errs, n.folder.Close())
	}
	return errors.Join(errs...)
}

// stopTimeout is for a disk that hangs. There is nothing to wait for but the write, the
// batch and the snapshot chunk that are under way.
const stopTimeout = 10 * time.Second

// withinStopTimeout returns the error of f, or late if f has not returned within stopTimeout.
func withinStopTimeout(f func() error, late error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return late
	}
}

func (n *Node) stopRaft() error {
	return withinStopTimeout(func() error {
		if err := n.raft.Shutdown().Error(); err != nil {
			return fmt.Errorf("stop raft: %w", err)
		}
		return nil
	}, errors.New("stop raft: not stopped in time, the data directory stays in use"))
}

// lifecycle has the channels by which a node stops.
type lifecycle struct {
	closing   chan struct{} // closed first: nothing new
	stopped   chan struct{} // closed before raft is stopped: no request is answered after that
	closeOnce sync.Once
	closeErr  error
	running   sync.WaitGroup // goroutines of this package, but for those of transport.Await
}

func newLifecycle() lifecycle {
	return lifecycle{closing: make(chan struct{}), stopped: make(chan struct{})}
}

func (l *lifecycle) isClosing() bool { return isClosed(l.closing) }

// waitFor polls a condition that nothing announces.
func (l *lifecycle) waitFor(ctx context.Context, met func() bool) error {
	for !met() {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		case <-l.stopped:
			return command.ErrClosed
		}
	}
	return nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
