package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/cluster/machine"
)

// request is a command that is being proposed. Its proposer owns it. The goroutine that
// builds entries reads command after it has taken the request. The goroutine that answers
// writes the answer before it sends on done.
type request struct {
	command machine.Encoded
	buf     bytes.Buffer // holds command.Body, unless another node sent that
	state   atomic.Int32
	done    chan struct{} // gets one element with the answer
	timer   *time.Timer   // the proposer's

	value any
	index uint64
	err   error
}

// A request is taken by the builder of entries or withdrawn by its proposer,
// by the first of the two.
const (
	requestWaiting = iota
	requestTaken
	requestWithdrawn
)

func (r *request) take() bool     { return r.state.CompareAndSwap(requestWaiting, requestTaken) }
func (r *request) withdraw() bool { return r.state.CompareAndSwap(requestWaiting, requestWithdrawn) }

func (r *request) answer(value any, index uint64, err error) {
	r.value, r.index, r.err = value, index, err
	r.done <- struct{}{}
}

// requestPool keeps the buffers of requests that were answered. One that was
// given up is still in use and is left to the garbage collector.
var requestPool = sync.Pool{New: func() any {
	r := &request{done: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	r.timer.Stop()
	return r
}}

func newRequest() *request { return requestPool.Get().(*request) }

func (r *request) free() {
	r.state.Store(requestWaiting)
	r.command, r.value, r.err = machine.Encoded{}, nil, nil
	requestPool.Put(r)
}

// enqueue hands r to the builder of entries and waits for its answer. The error
// is ErrUnavailable when r was certainly not proposed, or ErrUnknown.
func (p *pipeline) enqueue(ctx context.Context, r *request, deadline time.Time) error {
	if isClosed(p.closing) {
		return fmt.Errorf("%w: %w", ErrUnavailable, command.ErrClosed)
	}
	select {
	case p.queue <- r:
	default:
		return fmt.Errorf("%w: the queue of commands is full", ErrUnavailable)
	}
	// First how long r may wait in the queue, then how long for its answer. What
	// has waited for a leader has little patience left: it is soon that a client
	// is to hear that nothing was proposed.
	waited := p.proposeTimeout - time.Until(deadline)
	r.timer.Reset(min(max(p.queueTimeout/2-waited, p.queueTimeout/8), time.Until(deadline)))
	defer r.timer.Stop()
	var cause error
	for cause == nil {
		select {
		case <-r.done:
			return r.err
		case <-r.timer.C:
			if left := time.Until(deadline); r.state.Load() == requestTaken && left > 0 {
				r.timer.Reset(left)
				continue
			}
			cause = errDeadline
		case <-ctx.Done():
			cause = ctx.Err()
		case <-p.stopped:
			cause = command.ErrClosed
		}
	}
	if r.withdraw() {
		return fmt.Errorf("%w: %w", ErrUnavailable, cause)
	}
	select {
	case <-r.done: // select has no order, and an answer is better than a cause
		return r.err
	default:
	}
	return fmt.Errorf("%w: %w", ErrUnknown, cause)
}

var errDeadline = errors.New("no answer from the log in time")
