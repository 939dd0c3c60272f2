package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/mintmark-auth/mintmark/cluster/machine"
)

// maxEntriesInFlight is how many entries may be on their way through the log. With
// one, the commands that arrive meanwhile share the next entry. A second one would be
// stored while the first is applied, but both would be half as large, and what an entry
// costs (goroutines of raft, fsync, a message to each follower) outweighs that: refreshes
// on 16 connections took a fifth more processor time.
const maxEntriesInFlight = 1

// pipeline puts commands into the log.
type pipeline struct {
	queue   chan *request
	entries chan struct{} // one element for each entry under way
	built   chan struct{} // closed when no entry will be built any more

	proposeTimeout, queueTimeout time.Duration
	stamp                        func() (int64, error)
	live                         *liveness
	apply                        func(entry []byte) raft.ApplyFuture
	closing, stopped             <-chan struct{}
}

// build puts the commands that wait together into one log entry: one
// write, one fsync and one transaction for all of them.
func (p *pipeline) build() {
	defer close(p.built)
	var next *request // left over from the entry before
	for {
		// First a place, then commands: they gather while the entries before are
		// stored, and what was not taken can be withdrawn.
		select {
		case p.entries <- struct{}{}:
		case <-p.stopped:
			return
		}
		first := p.takeFirst(next)
		if first == nil {
			<-p.entries
			return
		}
		var batch []*request
		batch, next = p.gather(first)
		p.propose(batch)
	}
}

// takeFirst waits for a command. It returns nil when the node closes and none
// waits any more.
func (p *pipeline) takeFirst(next *request) *request {
	if next != nil && next.take() {
		return next
	}
	for {
		select {
		case r := <-p.queue:
			if r.take() {
				return r
			}
			continue
		default:
		}
		select {
		case r := <-p.queue:
			if r.take() {
				return r
			}
		case <-p.closing:
			if len(p.queue) == 0 {
				return nil
			}
		}
	}
}

// gather returns first and what waits behind it, up to the size of an entry, and
// the one that did not fit.
func (p *pipeline) gather(first *request) (batch []*request, next *request) {
	batch = append(make([]*request, 0, min(1+len(p.queue), machine.MaxCommands)), first)
	size := entryOverhead + commandSize(first)
	for len(batch) < machine.MaxCommands {
		select {
		case r := <-p.queue:
			if size += commandSize(r); size > machine.MaxBatch {
				return batch, r
			}
			if r.take() {
				batch = append(batch, r)
			}
		default:
			return batch, nil
		}
	}
	return batch, nil
}

// The most bytes that an entry, and a command beside its body, take.
const (
	entryOverhead   = 1 + 3
	commandOverhead = 1 + 3 + 1 + 17 + 9 + 5
)

func commandSize(r *request) int { return commandOverhead + len(r.command.Body) }

// propose stamps the commands, gives them to raft as one entry, and has them
// answered when raft is done with it.
func (p *pipeline) propose(batch []*request) {
	size := entryOverhead
	for _, r := range batch {
		size += commandSize(r)
	}
	entry := machine.AppendBatch(make([]byte, 0, size), len(batch))
	at, err := p.stamp()
	if err != nil {
		for _, r := range batch {
			r.answer(nil, 0, err)
		}
		<-p.entries
		return
	}
	p.live.recordLive(at)
	for _, r := range batch {
		r.command.At = at
		entry = machine.AppendCommand(entry, &r.command)
	}
	future := p.apply(entry)
	go func() {
		// Not transport.Await: a proposer that waits for an answer also waits for p.stopped.
		p.answer(batch, future, future.Error())
		<-p.entries // last, because Close takes a free place for an answered entry
	}()
}

// answer sends every proposer the outcome of its command.
func (p *pipeline) answer(batch []*request, future raft.ApplyFuture, err error) {
	if err != nil {
		err = classifyApplyError(err)
		for _, r := range batch {
			r.answer(nil, 0, err)
		}
		return
	}
	outcomes, _ := future.Response().([]machine.Outcome)
	if len(outcomes) != len(batch) {
		panic(fmt.Sprintf("cluster: %d outcomes for %d commands", len(outcomes), len(batch)))
	}
	index := future.Index()
	for i, r := range batch {
		r.answer(outcomes[i].Value, index, nil)
	}
}

// classifyApplyError reports whether an entry that raft refused may be in the log. raft checks
// these before it appends; every other error may come after.
func classifyApplyError(err error) error {
	for _, elsewhere := range []error{raft.ErrNotLeader, raft.ErrLeadershipTransferInProgress} {
		if errors.Is(err, elsewhere) {
			return fmt.Errorf("%w: %w: %w", ErrUnavailable, errNotLeading, err)
		}
	}
	if errors.Is(err, raft.ErrEnqueueTimeout) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return fmt.Errorf("%w: %w", ErrUnknown, err)
}

// drain waits until what was queued has been answered, or ctx ends.
func (p *pipeline) drain(ctx context.Context) {
	select {
	case <-p.built:
	case <-ctx.Done():
		return
	}
	for range maxEntriesInFlight {
		select {
		case p.entries <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
}
