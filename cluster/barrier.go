package cluster

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// barriers shares Barriers: at most one is under way, and everybody who asks
// meanwhile waits for the next one. One that is under way is no use to them: it
// may have been put into the log before the write they want to see.
type barriers struct {
	mu      sync.Mutex
	running *round
	next    *round // only while running is not nil
	passed  uint64 // how many went through the log
}

// round is one Barrier and those who wait for it.
type round struct {
	done chan struct{}
	err  error // set before done is closed
}

// barrier waits for a Barrier that starts after the call, at most
// Config.ProposeTimeout.
func (n *Node) barrier(ctx context.Context) error {
	if err := cmp.Or(n.Removed(), n.Twin()); err != nil {
		return fmt.Errorf("barrier: %w: %w", ErrUnavailable, err)
	}
	r := n.joinBarrier()
	if r == nil {
		return fmt.Errorf("barrier: %w: %w", ErrUnavailable, errClosed)
	}
	timer := time.NewTimer(n.config.ProposeTimeout)
	defer timer.Stop()
	select {
	case <-r.done:
		if r.err != nil {
			return fmt.Errorf("barrier: %w: %w", ErrUnavailable, r.err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("barrier: %w: %w", ErrUnavailable, ctx.Err())
	case <-timer.C:
		return fmt.Errorf("barrier: %w: %w", ErrUnavailable, errDeadline)
	}
}

// joinBarrier returns the round to wait for, or nil when the node closes.
func (n *Node) joinBarrier() *round {
	b := &n.barriers
	b.mu.Lock()
	defer b.mu.Unlock()
	if n.isClosing() {
		return nil
	}
	if b.running == nil {
		b.running = &round{done: make(chan struct{})}
		n.running.Go(n.runBarriers)
		return b.running
	}
	if b.next == nil {
		b.next = &round{done: make(chan struct{})}
	}
	return b.next
}

// runBarriers runs rounds until nobody waits.
func (n *Node) runBarriers() {
	b := &n.barriers
	for r := b.running; r != nil; {
		r.err = n.passBarrier()
		close(r.done)
		b.mu.Lock()
		if r.err == nil {
			b.passed++
		}
		b.running, b.next = b.next, nil
		r = b.running
		b.mu.Unlock()
	}
}

// passBarrier has a Barrier go through the log, by way of the leader, and
// returns when this node has applied what was before it.
func (n *Node) passBarrier() error {
	patience := time.Now().Add(n.config.LeaderTimeout)
	for {
		w := n.leader.route()
		err := n.barrierBy(w)
		if !errors.Is(err, errNotLeading) || n.pause(context.Background(), w, patience) != nil {
			return err
		}
	}
}

func (n *Node) barrierBy(w way) error {
	switch {
	case w.leading:
		err := await(n.raft.Barrier(n.config.ProposeTimeout), n.stopped)
		if errors.Is(err, raft.ErrNotLeader) || errors.Is(err, raft.ErrLeadershipLost) ||
			errors.Is(err, raft.ErrLeadershipTransferInProgress) {
			return fmt.Errorf("%w: %w", errNotLeading, err) // a Barrier does no harm twice
		}
		return err
	case !n.elsewhere(w):
		return errNotLeading
	}
	ctx, cancel := context.WithTimeout(context.Background(), n.config.ProposeTimeout)
	defer cancel()
	answer, err := n.ask(ctx, w.leader, w.moved, opBarrier, nil, n.config.ProposeTimeout)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotLeading, err)
	}
	if answer.status != replyOK {
		return answer.err()
	}
	if len(answer.body) != 8 {
		return errors.New("a short answer of the leader")
	}
	return n.core.progress.wait(ctx, n.stopped, binary.BigEndian.Uint64(answer.body))
}
