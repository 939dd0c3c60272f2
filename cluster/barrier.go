package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/election"
	"github.com/mintmark-auth/mintmark/cluster/transport"
)

// unauthenticatedPace is the least time between two Barriers that unauthenticated callers
// cause in a cluster. A Barrier is an entry of the log, which every node writes to
// its disk, so without a bound anybody could load the whole cluster.
const unauthenticatedPace = time.Second / 20

// nodeBarriers are the two of a node: all for authenticated callers and the node itself,
// unauthenticated for all others.
type nodeBarriers struct{ all, unauthenticated barriers }

// barriers shares Barriers: at most one is under way, and everybody who asks
// meanwhile waits for the next one. One that is under way is no use to them: it
// may have been put into the log before the write they want to see.
//
// A node has two of these. The one with a pace is for unauthenticated callers, so
// that authenticated callers don't wait for that pace. All nodes ask the leader
// for their Barriers, so its pace bounds the whole cluster.
type barriers struct {
	pace    time.Duration // least time between the beginnings of two rounds; 0 for none
	pass    func() error  // has a Barrier go through the log
	closing <-chan struct{}
	run     func(func()) // starts a goroutine that the end of the node waits for

	mu      sync.Mutex
	running bool      // whether runRounds runs
	next    *round    // nil while no caller waits
	began   time.Time // when the last round began
	passed  uint64    // how many Barriers went through the log
}

// round is one Barrier and those who wait for it.
type round struct {
	done chan struct{}
	err  error // set before done is closed
}

// waitBarrier waits for a Barrier that starts after the call, at most Config.LeaderTimeout.
func (n *Node) waitBarrier(ctx context.Context, b *barriers) error {
	err := n.checks.excluded()
	if err == nil {
		// Not ProposeTimeout, although the round continues until then: the caller has proposed
		// nothing yet, so it should learn soon that nothing can be decided, for example while
		// the leader's disk hangs.
		err = b.wait(ctx, n.config.LeaderTimeout)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUnavailable):
		return fmt.Errorf("barrier: %w", err)
	}
	return fmt.Errorf("barrier: %w: %w", ErrUnavailable, err)
}

// wait waits for the next round, for patience at most.
func (b *barriers) wait(ctx context.Context, patience time.Duration) error {
	r := b.join()
	if r == nil {
		return command.ErrClosed
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return errDeadline
	}
}

// join returns the round to wait for, or nil when the node closes.
func (b *barriers) join() *round {
	b.mu.Lock()
	defer b.mu.Unlock()
	if isClosed(b.closing) {
		return nil
	}
	if b.next == nil {
		b.next = &round{done: make(chan struct{})}
	}
	if !b.running {
		b.running = true
		b.run(b.runRounds)
	}
	return b.next
}

// runRounds runs rounds until no caller waits.
func (b *barriers) runRounds() {
	for r := b.nextRound(); r != nil; r = b.nextRound() {
		r.err = b.pass()
		if r.err == nil {
			b.mu.Lock()
			b.passed++
			b.mu.Unlock()
		}
		close(r.done)
	}
}

// nextRound waits until the next round may begin, and returns it. Until then further
// callers join that round. It returns nil if no caller waits.
func (b *barriers) nextRound() *round {
	b.mu.Lock()
	defer b.mu.Unlock()
	if due := time.Until(b.began.Add(b.pace)); b.next != nil && due > 0 {
		b.mu.Unlock()
		select {
		case <-time.After(due):
		case <-b.closing:
		}
		b.mu.Lock()
	}
	r := b.next
	b.next, b.running = nil, r != nil
	if r != nil {
		b.began = time.Now()
	}
	return r
}

// closeWith calls f, which closes the channel closing, while no Barrier starts.
func (b *nodeBarriers) closeWith(f func()) {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	b.unauthenticated.mu.Lock()
	defer b.unauthenticated.mu.Unlock()
	f()
}

// passBarrier appends a Barrier to the log through the leader, to which op requests it, and
// returns when this node has applied the entries before it.
func (n *Node) passBarrier(op byte) error {
	patience := time.Now().Add(n.config.LeaderTimeout)
	for {
		w := n.leader.Route()
		err := n.barrierVia(w, op)
		if !errors.Is(err, errNotLeading) || n.awaitRoute(context.Background(), w, patience) != nil {
			return err
		}
	}
}

func (n *Node) barrierVia(w election.Route, op byte) error {
	switch {
	case w.Leading:
		err := transport.Await(n.raft.Barrier(n.config.ProposeTimeout), n.stopped)
		if errors.Is(err, raft.ErrNotLeader) || errors.Is(err, raft.ErrLeadershipLost) ||
			errors.Is(err, raft.ErrLeadershipTransferInProgress) {
			return fmt.Errorf("%w: %w", errNotLeading, err) // a Barrier does no harm twice
		}
		return err
	case !w.OtherLeads(n.ID()):
		return errNotLeading
	}
	ctx, cancel := context.WithTimeout(context.Background(), n.config.ProposeTimeout)
	defer cancel()
	answer, err := n.net.peers.Ask(ctx, w.Leader, w.LeaderChanged, op, nil, n.config.ProposeTimeout)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotLeading, err)
	}
	if answer.Status != transport.ReplyOK {
		return replyError(answer)
	}
	if len(answer.Body) != 8 {
		return errors.New("decode the leader's answer: too short")
	}
	return n.core.Wait(ctx, n.stopped, binary.BigEndian.Uint64(answer.Body))
}
