package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// lookInterval is between the Barriers that strangers can cause.
const lookInterval = time.Second

// looks are fresh views for people who have not shown yet that they are anybody:
// all of them together cause at most one Barrier in lookInterval, and wait for
// it.
type looks struct {
	mu   sync.Mutex
	next *round    // not begun yet
	last time.Time // when the one before it began
}

// look returns when a View shows everything that was acknowledged, by any node,
// before the call.
func (n *Node) look(ctx context.Context) error {
	l := &n.looks
	l.mu.Lock()
	r := l.next
	if r != nil {
		l.mu.Unlock()
		select {
		case <-r.done:
			return r.err
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
		}
	}
	r = &round{done: make(chan struct{})}
	l.next = r
	due := time.NewTimer(max(0, time.Until(l.last.Add(lookInterval))))
	l.mu.Unlock()
	defer due.Stop()
	defer close(r.done)
	select {
	case <-due.C:
	case <-n.closing:
	}
	l.mu.Lock()
	l.next, l.last = nil, time.Now()
	l.mu.Unlock()
	r.err = n.barrier(context.WithoutCancel(ctx)) // the others wait for it too
	return r.err
}
