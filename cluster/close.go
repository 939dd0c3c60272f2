package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"
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
	n.barriers.mu.Lock() // so that no Barrier starts after this
	n.unauthenticatedBarriers.mu.Lock()
	close(n.closing)
	n.unauthenticatedBarriers.mu.Unlock()
	n.barriers.mu.Unlock()
	var errs []error
	if n.raft != nil {
		n.drain(ctx)
	}
	close(n.stopped)
	if n.raft != nil {
		if err := n.stopRaft(); err != nil {
			return err // it still uses the rest
		}
	}
	if n.transport != nil {
		n.transport.CloseStreams()
		errs = append(errs, n.transport.Close())
		n.peers.Close()
	}
	n.running.Wait()
	n.closeLive()
	if n.raft == nil && n.watchdog.disk != nil {
		n.watchdog.disk.Close() // nobody guards
	}
	if n.raft != nil {
		errs = append(errs, n.writeLastRun())
	}
	return errors.Join(append(errs, n.closeFiles())...)
}

// drain waits until what was queued has been answered, or ctx ends.
func (n *Node) drain(ctx context.Context) {
	select {
	case <-n.built:
	case <-ctx.Done():
		return
	}
	for range maxEntriesInFlight {
		select {
		case n.entries <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
}

// stopTimeout is for a raft that hangs in its disk. It has nothing to wait for
// but the write, the batch and the snapshot chunk it is at.
const stopTimeout = 10 * time.Second

func (n *Node) stopRaft() error {
	done := make(chan error, 1)
	go func() { done <- n.raft.Shutdown().Error() }()
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("stop raft: %w", err)
		}
		return nil
	case <-timer.C:
		return errors.New("stop raft: it hangs, and keeps the data directory")
	}
}

func (n *Node) isClosing() bool {
	select {
	case <-n.closing:
		return true
	default:
		return false
	}
}

// untilStopped is a context that ends when raft is told to stop.
func (n *Node) untilStopped() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		select {
		case <-n.stopped:
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// wait waits so long, and says whether it did before ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
